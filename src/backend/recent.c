// The newest events of a group, and the last decision about it: what a person looks at before the next one.
#include "backend/reader.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/operations/operations.h"

enum { RECENT_TEXT = 300 };

// Their ids, newest first; none where they cannot be known at once.
static bool
newest_ids(struct reader *reader, const struct list_query *query, int64_t **ids, size_t *count,
           struct err *err)
{
    const struct backlog *rows = reader_rows_known(reader);
    *ids = NULL;
    *count = 0;
    bool has_filter = query->filter && *query->filter;
    if (has_filter || (reader->counts.has_rollup && !reader_rollup_readable(reader)))
        return true;
    if (reader->counts.has_rollup) {
        struct list_job job = {.query = *query};
        bool ok = reader_rollup_ids(reader, &job, RECENT_EVENTS, err);
        reader_rollup_forget(&job);
        *ids = job.candidates;
        *count = ok ? job.candidate_count : 0;
        return ok;
    }
    if (rows)
        backlog_ids(rows, query->pivot, query->has_value ? query->value : NULL, false, ids, count);
    *count = *count < RECENT_EVENTS ? *count : RECENT_EVENTS;
    return true;
}

static bool
add_events(struct reader *reader, const int64_t *ids, size_t count, struct reply *reply, struct err *err)
{
    const struct event_query query = {.takes_unreadable = true,
                                      .fields = EVENT_NARROW | EVENT_ERROR | EVENT_KNOWN,
                                      .ids = ids,
                                      .id_count = count,
                                      .cut = RECENT_TEXT};
    struct event_page page = {0};
    struct recent_reply *recent = &reply->recent;
    if (count == 0)
        return true;
    if (!store_events(reader->session.store, &query, &page, err))
        return false;
    recent->events = arena_array(&reply->arena, count, sizeof *recent->events);
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < page.count; row++)
            if (page.events[row].id == ids[i] && page.events[row].status == EVENT_PENDING)
                recent->events[recent->count++] = page.events[row];
    arena_adopt(&reply->arena, &page.arena);
    event_page_release(&page);
    return true;
}

static bool
add_decision(struct reader *reader, const struct list_query *query, const int64_t *ids, size_t count,
             struct reply *reply, struct err *err)
{
    int64_t no;
    const char *group = query->pivot == PIVOT_ERROR ? query->value : "";
    if (store_info(reader->session.store)->schema_version == 0)
        return true;
    if (!operation_last_of_group(reader->session.store, group, ids, count, &no, err))
        return false;
    if (no == 0)
        return true;
    struct operation *decision = arena_alloc(&reply->arena, sizeof *decision);
    reply->recent.decision = decision;
    return operation_get(reader->session.store, no, &reply->arena, decision, err);
}

void
reader_recent_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    int64_t *ids;
    size_t count;
    struct reply *reply = reply_create(REPLY_RECENT, request->number);
    bool ok = newest_ids(reader, &request->list, &ids, &count, &err) &&
              add_events(reader, ids, count, reply, &err) &&
              add_decision(reader, &request->list, ids, count, reply, &err);
    free(ids);
    if (!ok) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}
