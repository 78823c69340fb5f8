// How many events arrived, left and were pending over time: some hundred rows that a maintainer of the rollup
// wrote.
#include "store/rollup/trend.h"

#include "backend/reader.h"

void
reader_trend_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_TREND, request->number);
    if (!trend_read(reader->session.store, request->span, &reply->arena, &reply->trend, &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}
