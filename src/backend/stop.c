// A stopped database: what is known, and the decision that needs no Kafka, that it is a copy.
#include "backend/writer.h"

#include <inttypes.h>
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
    if (!history_as_copy_seen(writer->session.store, &request->stop, request->reason, &err)) {
        session_failed(&writer->session, request->number, &err);
        return;
    }
    int64_t cancelled = request->stop.counts.operations;
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->is_last = true;
    reply->news.sentence = arena_printf(
        &reply->arena, "this database is an installation of its own now; %" PRId64 " operation%s cancelled",
        cancelled, cancelled == 1 ? "" : "s");
    session_reply(&writer->session, reply);
}
