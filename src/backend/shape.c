// Learns the shape of an event's type from a sample of its payloads, for the editor.
#include "backend/reader.h"

#include "correct/shapes.h"
#include "store/events/events.h"

// Those of the event's own group are left out: where many have the same fault, it is no departure any more.
static bool
is_of_group(const void *context, const struct event *event)
{
    const uint64_t *group = context;
    return event->status == EVENT_PENDING && event->group == *group;
}

static bool
sample_shape(struct reader *reader, int64_t id, struct reply *reply, struct err *err)
{
    struct store *store = reader->session.store;
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP, .ids = &id, .id_count = 1};
    struct event_page own = {0};
    bool ok = store_events(store, &query, &own, err);
    if (ok && own.count == 1)
        ok = shape_learn(store, own.events[0].event_type, is_of_group, &own.events[0].group, &reply->shape,
                         err);
    else if (ok)
        reply->shape = shape_create();
    event_page_release(&own);
    return ok;
}

void
reader_shape_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_SHAPE, request->number);
    if (!sample_shape(reader, request->id, reply, &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}
