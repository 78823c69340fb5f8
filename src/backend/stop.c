// A stopped database: what is known, and the two decisions. That it is a copy needs no Kafka; that it is the
// true one is carried out by a worker, after an administrator has confirmed what the worker counted.
#include "backend/writer.h"

#include <inttypes.h>
#include "base/clock.h"
#include "store/operations/adoption.h"

void
writer_stop_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_STOP, request->number);
    reply->stop = arena_alloc(&reply->arena, sizeof *reply->stop);
    reply->is_last = true;
    if (stop_look(writer->session.store, reply->stop, &err)) {
        session_reply(&writer->session, reply);
        return;
    }
    reply_destroy(reply);
    session_failed(&writer->session, request->number, &err);
}

void
writer_copy_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    if (!history_as_copy_seen(writer->session.store, &request->steering.stop, request->reason, &err)) {
        session_failed(&writer->session, request->number, &err);
        return;
    }
    int64_t cancelled = request->steering.stop.counts.operations;
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->is_last = true;
    reply->news.sentence = arena_printf(
        &reply->arena, "this database is an installation of its own now; %" PRId64 " operation%s cancelled",
        cancelled, cancelled == 1 ? "" : "s");
    session_reply(&writer->session, reply);
}

static const int64_t COUNTED_WITHIN = 8 * US_PER_SECOND;
static const int64_t COUNTED_EVERY = US_PER_SECOND / 5;

// Most topics are searched in a moment. What takes longer is there when somebody asks again.
static bool
await_counts(struct writer *writer, struct err *err)
{
    struct adopting adopting = {.state = ADOPTING_ASKED};
    bool ok = true;
    for (int64_t start = clock_mono(); ok && adopting.state == ADOPTING_ASKED &&
                                       clock_mono() - start < COUNTED_WITHIN &&
                                       !writer->session.is_stopping;) {
        clock_sleep(COUNTED_EVERY);
        ok = adopting_look(writer->session.store, &adopting, err);
    }
    return ok;
}

void
writer_adopt_count_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    bool ok = adopting_ask(writer->session.store, &err);
    if (ok)
        writer_wake_worker(writer);
    if (ok && await_counts(writer, &err))
        writer_stop_request(writer, request);
    else
        session_failed(&writer->session, request->number, &err);
}

void
writer_adopt_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    if (!adopting_confirm(writer->session.store, &request->steering.stop.adopting, request->reason, &err)) {
        session_failed(&writer->session, request->number, &err);
        return;
    }
    writer_wake_worker(writer);
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->is_last = true;
    reply->news.sentence = "confirmed: a worker takes the history over; see the audit";
    session_reply(&writer->session, reply);
}
