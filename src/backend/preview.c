// What an action would meet, told part by part by the writer. The reader's thread, to which requests come
// first, ends a preview that nobody waits for any more: then the server stops at once, and the writer is free
// for what is asked next.
//
// Who interrupts says so before he looks which preview runs, and the writer looks at that after it has said
// that none does: so no interrupt ever meets another statement of the writer's, least of all a freeze.
#include "backend/session.h"

static const size_t TOLD_AT_ONCE = 20000; // ids: it takes no time that a person would notice
static const int64_t INTERRUPT_EVERY = US_PER_SECOND / 100;
static const int64_t LOOK_EVERY = US_PER_SECOND / 1000;

static void
session_preview_begin(struct session *session, uint64_t number)
{
    atomic_store(&session->preview, number);
}

static void
end(struct session *session)
{
    atomic_store(&session->preview, 0);
    while (atomic_load(&session->is_interrupting))
        clock_sleep(LOOK_EVERY);
}

static bool
is_wanted(const struct session *session, uint64_t number, struct err *err)
{
    return (number > atomic_load(&session->preview_unwanted) && !session->is_stopping) ||
           err_set(err, ERR_CANCELLED, "stopped; nothing was changed");
}

// Some of the parts, in one reply.
static bool
tell_parts(struct session *session, const struct request *request, unsigned parts, bool is_last,
           struct err *err)
{
    const struct preview_query query = {
        .action = request->action, .ids = request->ids, .count = request->id_count};
    struct reply *reply = reply_create(REPLY_PREVIEW, request->number);
    reply->is_last = is_last;
    bool ok = true;
    for (unsigned part = 0; ok && part < PREVIEW_PARTS; part++)
        if (parts & 1u << part)
            ok = is_wanted(session, request->number, err) &&
                 operation_preview_part(session->store, &query, (enum preview_part)part, &reply->arena,
                                        &reply->preview, err);
    if (ok)
        session_reply(session, reply);
    else
        reply_destroy(reply);
    return ok;
}

void
session_preview_request(struct session *session, const struct request *request)
{
    struct err err = {0};
    unsigned parts = preview_parts(request->action);
    session_preview_begin(session, request->number);
    bool ok = true;
    if (request->id_count <= TOLD_AT_ONCE) {
        ok = tell_parts(session, request, parts, true, &err);
    } else {
        for (unsigned part = 1; ok && parts; part <<= 1) {
            bool is_one = (parts & part) != 0;
            parts &= ~part;
            ok = !is_one || tell_parts(session, request, part, parts == 0, &err);
        }
    }
    end(session);
    if (!ok)
        session_failed(session, request->number, &err);
}

void
session_preview_end(struct session *writer, uint64_t last)
{
    if (last > atomic_load(&writer->preview_unwanted))
        atomic_store(&writer->preview_unwanted, last);
    // An interrupt that comes between two statements stops none of them: it is said again until it is heard.
    for (;;) {
        atomic_store(&writer->is_interrupting, true);
        uint64_t running = atomic_load(&writer->preview);
        bool is_over = running == 0 || running > last;
        if (!is_over)
            store_interrupt(writer->store);
        atomic_store(&writer->is_interrupting, false);
        if (is_over)
            return;
        clock_sleep(INTERRUPT_EVERY);
    }
}
