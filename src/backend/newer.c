// Asks the workers whether Kafka has newer records of keys, since the screen has no Kafka.
#include "backend/writer.h"

#include "store/operations/newer.h"

static const int64_t NEWER_WAIT = 3 * US_PER_SECOND / 10; // the writer's other requests wait so long
static const int64_t NEWER_EVERY = US_PER_SECOND / 20;

void
writer_newer_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct reply *reply = reply_create(REPLY_NEWER, request->number);
    struct newer_reply *newer = &reply->newer;
    struct err err = {0};
    bool ok = true;
    newer->question = request->id;
    if (!newer->question) {
        ok = newer_ask(session->store, request->ids, request->id_count, &newer->question, &newer->has_worker,
                       &err);
        if (ok && !newer->has_worker)
            writer_wake_worker(writer);
    }
    for (int64_t start = clock_mono(); ok; clock_sleep(NEWER_EVERY)) {
        ok = newer_look(session->store, newer->question, &reply->arena, &newer->found, &newer->has_worker,
                        &err);
        if (newer->found.is_over || session->is_stopping || clock_mono() - start > NEWER_WAIT)
            break;
    }
    reply->is_last = true;
    if (ok) {
        session_reply(session, reply);
        return;
    }
    reply_destroy(reply);
    session_failed(session, request->number, &err);
}
