#include "store/events/history.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/events/events.h"
#include "store/events/reader.h"
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
    "redrive.items_sent(ARRAY[e.event_id::text]) i WHERE e.id = $1 AND " EVENT_IS_SAME(
        "e.id", "i.dlq_id") ")"
                            " SELECT id FROM (SELECT id FROM chain UNION SELECT id FROM sent) all_rows ORDER "
                            "BY id DESC LIMIT 50";

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
    PGresult *r;
    if (!pg_ask_of_event(store, history_sql, id, &r, err))
        return false;
    if (!r)
        return true;
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

bool
event_letters(struct store *store, int64_t id, struct arena *arena, struct letter_attempt **letters,
              size_t *count, struct err *err)
{
    *letters = NULL;
    *count = 0;
    PGresult *r;
    if (!pg_ask_of_event(
            store,
            "SELECT a.topic, a.partition, a.\"offset\", coalesce(a.failed_at, a.\"timestamp\"), a.format,"
            " a.consumer, a.error_message, a.stack_trace FROM redrive.attempt a WHERE a.dlq_id = $1"
            " ORDER BY 4, 1, 2, 3 LIMIT 50",
            id, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *letters = arena_array(arena, *count + 1, sizeof **letters);
    for (int i = 0; i < PQntuples(r); i++)
        (*letters)[i] = (struct letter_attempt){
            .topic = value_text(r, i, 0, arena),
            .partition = value_int4(r, i, 1),
            .offset = value_int8(r, i, 2),
            .at = value_time(r, i, 3),
            .format = value_text(r, i, 4, arena),
            .consumer = value_text(r, i, 5, arena),
            .error_message = arena_copy(arena, value_bytes(r, i, 6)),
            .stack_trace = arena_copy(arena, value_bytes(r, i, 7)),
        };
    PQclear(r);
    return true;
}

bool
operation_returns(struct store *store, int64_t no, struct arena *arena, struct returned **returns,
                  size_t *count, struct err *err)
{
    enum { GROUPS = 200 };
    *returns = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, GROUPS);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(
            store, FOR_READING,
            "SELECT b.group_key, b.same, b.n, b.first,"
            " (SELECT left(e.error_message, 300) FROM :\"events\" e WHERE e.id = b.first)"
            " FROM (SELECT group_key, count(*) FILTER (WHERE group_key = sent_group) AS same, count(*) AS n,"
            "   min(dlq_id) AS first"
            "  FROM redrive.returned WHERE operation_no = $1 GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT $2) b"
            " ORDER BY b.n DESC, b.group_key",
            &params, &r, err))
        return false;
    *returns = arena_array(arena, (size_t)PQntuples(r) + 1, sizeof **returns);
    *count = (size_t)PQntuples(r);
    for (int i = 0; i < PQntuples(r); i++)
        (*returns)[i] = (struct returned){.group = (uint64_t)value_int8(r, i, 0),
                                          .is_grouped = !value_is_null(r, i, 0),
                                          .same = value_int8(r, i, 1),
                                          .count = value_int8(r, i, 2),
                                          .event = value_int8(r, i, 3),
                                          .error = value_text(r, i, 4, arena)};
    PQclear(r);
    return true;
}

// The groups of these events, 0 of one that is no longer there.
static bool
groups_of(struct store *store, const int64_t *ids, size_t count, int64_t *groups, struct err *err)
{
    const struct event_query query = {.fields = EVENT_GROUP, .ids = ids, .id_count = count};
    struct event_page page = {0};
    if (!store_events(store, &query, &page, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        groups[i] = 0;
        for (size_t at = 0; at < page.count && groups[i] == 0; at++)
            if (page.events[at].id == ids[i])
                groups[i] = (int64_t)page.events[at].group;
    }
    event_page_release(&page);
    return true;
}

bool
returned_group_some(struct store *store, size_t limit, size_t *left, struct err *err)
{
    struct params params = {0};
    param_int8(&params, (int64_t)limit);
    PGresult *r;
    *left = 0;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT dlq_id, coalesce(sent_id, dlq_id) FROM redrive.returned WHERE group_key IS NULL"
                " ORDER BY dlq_id LIMIT $1",
                &params, &r, err))
        return false;
    size_t count;
    int64_t *returned = take_ids(r, 0, &count);
    int64_t *sent = take_ids(r, 1, &count);
    int64_t *groups = alloc_array(count + 1, sizeof *groups);
    int64_t *sent_groups = alloc_array(count + 1, sizeof *sent_groups);
    PQclear(r);
    bool ok = count == 0 || (groups_of(store, returned, count, groups, err) &&
                             groups_of(store, sent, count, sent_groups, err));
    if (ok && count > 0) {
        params = (struct params){0};
        param_ids(&params, returned, count);
        param_ids(&params, groups, count);
        param_ids(&params, sent_groups, count);
        ok = pg_do(store, FOR_WRITING, "SELECT redrive.returned_group($1, $2, $3)", &params, err);
    }
    *left = count == limit ? limit : 0;
    free(returned);
    free(sent);
    free(groups);
    free(sent_groups);
    return ok;
}
