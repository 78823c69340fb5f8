// Learns the shape of an event's type from a sample of its payloads, for the editor.
#include "backend/reader.h"

#include <stdlib.h>
#include "core/shape/shape.h"
#include "store/events/events.h"

enum { SAMPLE = 1000, SAMPLE_BYTES = 8 << 20 };

// Those of the event's own group are left out: where many have the same fault, it is no departure any more.
static struct shape *
learn(const struct event_page *page, uint64_t own_group)
{
    struct shape *shape = shape_create();
    for (size_t i = 0; i < page->count; i++)
        if (page->events[i].status != EVENT_PENDING || page->events[i].group != own_group)
            (void)shape_add(shape, page->events[i].payload);
    return shape;
}

static bool
sample_shape(struct reader *reader, int64_t id, struct reply *reply, struct err *err)
{
    struct store *store = reader->session.store;
    struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP, .ids = &id, .id_count = 1};
    struct event_page own = {0}, page = {0};
    int64_t *ids = NULL;
    size_t count = 0;
    bool ok = store_events(store, &query, &own, err);
    if (ok && own.count == 1)
        ok = store_ids_of_type(store, own.events[0].event_type, SAMPLE, &ids, &count, err);
    query = (struct event_query){.fields = EVENT_NARROW | EVENT_GROUP | EVENT_PAYLOAD,
                                 .ids = ids,
                                 .id_count = count,
                                 .limit = count,
                                 .most_bytes = SAMPLE_BYTES};
    if (ok && count > 0)
        ok = store_events(store, &query, &page, err);
    if (ok)
        reply->shape = learn(&page, own.count ? own.events[0].group : 0);
    event_page_release(&own);
    event_page_release(&page);
    free(ids);
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
