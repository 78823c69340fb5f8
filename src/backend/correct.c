// Writes what somebody corrected as a revision of the event.
#include "backend/writer.h"

#include "store/events/records.h"
#include "store/events/revisions.h"

void
writer_correct_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    int32_t no;
    if (!event_correct(session->store, request->id, request->correct.parent, &request->correct.parts,
                       request->reason, &no, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CORRECTED, request->number);
    reply->news.revision = no;
    reply->is_last = true;
    session_reply(session, reply);
}

void
writer_record_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    struct record_answer answer;
    struct reply *reply = reply_create(REPLY_RECORD, request->number);
    if (!record_want(session->store, request->id, &reply->arena, &answer, &err)) {
        reply_destroy(reply);
        session_failed(session, request->number, &err);
        return;
    }
    reply->news.is_kept = answer.is_kept;
    reply->news.has_worker = answer.has_worker;
    reply->news.sentence = answer.why;
    reply->is_last = true;
    session_reply(session, reply);
}
