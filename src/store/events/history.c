#include "store/events/history.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/events/events.h"
#include "store/pg.h"

// The rows that were sent and returned as one another, in both directions; those that returned without
// having been noted are known by their event id.
static const char history_sql[] =
    "WITH RECURSIVE chain (id) AS ("
    "  SELECT $1::int8"
    "  UNION SELECT x.id FROM chain h CROSS JOIN LATERAL ("
    "    SELECT c.sent_id AS id FROM redrive.returned c WHERE c.dlq_id = h.id AND c.sent_id IS NOT NULL"
    "    UNION ALL SELECT c.dlq_id FROM redrive.returned c WHERE c.sent_id = h.id) x),"
    " sent AS (SELECT i.dlq_id AS id FROM :\"events\" e CROSS JOIN LATERAL "
    "redrive.items_sent(ARRAY[e.event_id::text]) i WHERE e.id = $1)"
    " SELECT id FROM (SELECT id FROM chain UNION SELECT id FROM sent) all_rows ORDER BY id DESC LIMIT 50";

static int64_t *
take_ids(const PGresult *r, int column, size_t *count)
{
    *count = (size_t)PQntuples(r);
    int64_t *ids = alloc_array(*count + 1, sizeof *ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = value_int8(r, (int)i, column);
    return ids;
}

bool
event_attempts(struct store *store, int64_t id, struct arena *arena, struct event **attempts, size_t *count,
               struct err *err)
{
    *attempts = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, id);
    PGresult *r;
    if (store->info.schema_version == 0)
        return true;
    if (!pg_ask(store, FOR_READING, history_sql, &params, &r, err))
        return false;
    size_t id_count;
    int64_t *ids = take_ids(r, 0, &id_count);
    PQclear(r);

    struct event_page page = {0};
    const struct event_query query = {
        .fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_GROUP, .ids = ids, .id_count = id_count};
    bool ok = store_events(store, &query, &page, err);
    if (ok) {
        arena_adopt(arena, &page.arena);
        *attempts = arena_array(arena, page.count + 1, sizeof **attempts);
        *count = page.count;
        for (size_t i = 0; i < page.count; i++) // the newest ids were asked for first
            (*attempts)[i] = page.events[page.count - 1 - i];
    }
    event_page_release(&page);
    free(ids);
    return ok;
}

static const struct event *
find_event(const struct event_page *page, int64_t id)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->events[i].id == id)
            return &page->events[i];
    return NULL;
}

static void
add_return(struct returned *returns, size_t *count, const struct event *event, const struct event *sent,
           struct arena *arena)
{
    bool is_same = sent && sent->group == event->group;
    for (size_t i = 0; i < *count; i++) {
        if (returns[i].group == event->group && returns[i].is_same == is_same) {
            returns[i].count++;
            return;
        }
    }
    returns[(*count)++] = (struct returned){.group = event->group,
                                            .is_same = is_same,
                                            .count = 1,
                                            .event = event->id,
                                            .error = arena_text(arena, event->error_message)};
}

static int
most_first(const void *left, const void *right)
{
    const struct returned *a = left;
    const struct returned *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->group > b->group) - (a->group < b->group);
}

bool
operation_returns(struct store *store, int64_t no, struct arena *arena, struct returned **returns,
                  size_t *count, struct err *err)
{
    *returns = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT dlq_id, coalesce(sent_id, dlq_id) FROM redrive.returned WHERE operation_no = $1"
                " ORDER BY dlq_id DESC LIMIT 200",
                &params, &r, err))
        return false;
    size_t rows;
    int64_t *back = take_ids(r, 0, &rows);
    int64_t *sent = take_ids(r, 1, &rows);
    PQclear(r);

    enum { CUT = 300 };
    struct event_page now = {0}, then = {0};
    struct event_query query = {
        .fields = EVENT_ERROR | EVENT_GROUP, .ids = back, .id_count = rows, .cut = CUT};
    bool ok = rows == 0 || store_events(store, &query, &now, err);
    query.ids = sent;
    ok = ok && (rows == 0 || store_events(store, &query, &then, err));
    *returns = arena_array(arena, rows + 1, sizeof **returns);
    for (size_t i = 0; ok && i < rows; i++) {
        const struct event *event = find_event(&now, back[i]);
        if (event)
            add_return(*returns, count, event, find_event(&then, sent[i]), arena);
    }
    if (*count)
        qsort(*returns, *count, sizeof **returns, most_first);
    event_page_release(&now);
    event_page_release(&then);
    free(back);
    free(sent);
    return ok;
}
