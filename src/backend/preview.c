// The writer sends what an action would meet, part by part. The reader's thread gets requests first. It ends
// a preview that nobody waits for any more: the server stops at once, and the writer is free for the next
// request.
//
// An interrupt must never meet another statement of the writer, least of all a freeze. So the reader sets
// is_interrupting before it reads which preview runs. The writer clears `running` first and then waits until
// is_interrupting is false.
#include "backend/writer.h"

static const size_t SENT_AT_ONCE = 20000; // ids: it takes no time that a person would notice
static const int64_t INTERRUPT_EVERY = US_PER_SECOND / 100;
static const int64_t LOOK_EVERY = US_PER_SECOND / 1000;

static void
preview_begin(struct writer *writer, uint64_t number)
{
    atomic_store(&writer->preview.running, number);
}

static void
preview_end(struct writer *writer)
{
    atomic_store(&writer->preview.running, 0);
    while (atomic_load(&writer->preview.is_interrupting))
        clock_sleep(LOOK_EVERY);
}

static bool
is_wanted(const struct writer *writer, uint64_t number, struct err *err)
{
    return (number > atomic_load(&writer->preview.unwanted) && !writer->session.is_stopping) ||
           err_set(err, ERR_CANCELLED, "stopped; nothing changed");
}

// Some of the parts, in one reply.
static bool
send_parts(struct writer *writer, const struct request *request, unsigned parts, bool is_last,
           struct err *err)
{
    const struct preview_query query = {
        .action = request->action, .ids = request->ids, .count = request->id_count};
    struct reply *reply = reply_create(REPLY_PREVIEW, request->number);
    reply->is_last = is_last;
    bool ok = true;
    for (unsigned part = 0; ok && part < PREVIEW_PARTS; part++)
        if (parts & 1u << part)
            ok = is_wanted(writer, request->number, err) &&
                 operation_preview_part(writer->session.store, &query, (enum preview_part)part, &reply->arena,
                                        &reply->preview, err);
    if (ok)
        session_reply(&writer->session, reply);
    else
        reply_destroy(reply);
    return ok;
}

void
writer_preview_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    unsigned parts = preview_parts(request->action);
    preview_begin(writer, request->number);
    bool ok = true;
    if (request->id_count <= SENT_AT_ONCE) {
        ok = send_parts(writer, request, parts, true, &err);
    } else {
        for (unsigned part = 1; ok && parts; part <<= 1) {
            bool is_one = (parts & part) != 0;
            parts &= ~part;
            ok = !is_one || send_parts(writer, request, part, parts == 0, &err);
        }
    }
    preview_end(writer);
    if (!ok)
        session_failed(&writer->session, request->number, &err);
}

void
writer_preview_end(struct writer *writer, uint64_t last)
{
    if (last > atomic_load(&writer->preview.unwanted))
        atomic_store(&writer->preview.unwanted, last);
    // An interrupt that comes between two statements stops none of them: it is said again until it is heard.
    for (;;) {
        atomic_store(&writer->preview.is_interrupting, true);
        uint64_t running = atomic_load(&writer->preview.running);
        bool is_over = running == 0 || running > last;
        if (!is_over)
            store_interrupt(writer->session.store);
        atomic_store(&writer->preview.is_interrupting, false);
        if (is_over)
            return;
        clock_sleep(INTERRUPT_EVERY);
    }
}
