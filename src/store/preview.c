// What an action would meet, before it is asked for. Nothing is written.
#include "store/operations.h"

#include <stdlib.h>
#include "store/pg.h"

// $1 ids, $2 the status the action acts on. One row.
static const char counts_sql[] =
    "WITH wanted AS MATERIALIZED ("
    "  SELECT w.id, coalesce(e.status = $2, false) AS is_right, e.event_id, e.created_at::timestamp AT TIME "
    "ZONE $3 AS created_at,"
    "         live.operation_no"
    "    FROM unnest($1) AS w (id) LEFT JOIN :\"events\" e ON e.id = w.id"
    "    LEFT JOIN redrive.operation_item live ON live.event_id = w.id AND live.is_live)"
    " SELECT count(*) FILTER (WHERE is_right AND operation_no IS NULL), count(*) FILTER (WHERE NOT is_right "
    "AND operation_no IS NULL),"
    "  count(operation_no),"
    "  (SELECT format('operation %s of %s', o.no, o.requested_by) FROM redrive.operation o"
    "    WHERE o.no = (SELECT min(operation_no) FROM wanted)),"
    "  (SELECT count(*) FROM (SELECT FROM wanted w JOIN redrive.operation_item i"
    "     ON i.event_key = w.event_id AND NOT i.is_live AND i.event_key IS NOT NULL AND i.state = 'done' AND "
    "i.at < "
    "w.created_at"
    "    GROUP BY w.id HAVING count(*) >= 3) AS q),"
    "  (SELECT count(DISTINCT r.event_id) FROM redrive.revision r JOIN wanted w ON w.id = r.event_id),"
    "  (SELECT count(*) FROM redrive.record r JOIN wanted w ON w.id = r.event_id)"
    " FROM wanted";

static const char topics_sql[] =
    "SELECT e.kafka_topic::text, count(*) FROM unnest($1) AS w (id) JOIN :\"events\" e ON e.id = w.id"
    " WHERE e.status = $2 GROUP BY 1 ORDER BY 2 DESC LIMIT 200";

enum { TOPICS_SHOWN = 20 };

// Topics of a dead letter queue and its original count as one. Few enough for a walk.
static void
add_topic(struct preview *preview, struct arena *arena, struct bytes topic, int64_t count)
{
    struct bytes original = topic.data ? topic_original(topic) : topic;
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (bytes_equal(bytes_of(preview->topics[i].topic), original)) {
            preview->topics[i].count += count;
            return;
        }
    }
    preview->topics[preview->topic_count++] =
        (struct preview_topic){.topic = arena_text(arena, original), .count = count};
}

static int
by_count(const void *a, const void *b)
{
    const struct preview_topic *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void
read_topics(const PGresult *r, struct arena *arena, struct preview *preview)
{
    preview->topics = arena_array(arena, (size_t)PQntuples(r), sizeof *preview->topics);
    for (int i = 0; i < PQntuples(r); i++)
        add_topic(preview, arena, value_bytes(r, i, 0), value_int8(r, i, 1));
    if (preview->topic_count)
        qsort(preview->topics, preview->topic_count, sizeof *preview->topics, by_count);
    if (preview->topic_count > TOPICS_SHOWN)
        preview->topic_count = TOPICS_SHOWN;
}

bool
operation_preview(struct store *store, enum operation_action action, const int64_t *ids, size_t count,
                  struct arena *arena, struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    if (!pg_has_schema(store, err))
        return false;
    const char *status = action == ACTION_RESTORE ? "DISCARDED" : "PENDING";
    struct params params = {0};
    param_ids(&params, ids, count);
    param_text(&params, status);
    param_text(&params, store->zone);
    struct params topic_params = {0};
    param_ids(&topic_params, ids, count);
    param_text(&topic_params, status);

    PGresult *counts = NULL, *topics = NULL;
    struct pg_step steps[] = {
        {.sql = counts_sql, .params = &params, .whole = &counts},
        {.sql = topics_sql, .params = &topic_params, .whole = &topics},
    };
    bool ok = pg_run(store, FOR_SCANNING, steps, 2, err);
    params_release(&params);
    params_release(&topic_params);
    if (!ok)
        return false;
    preview->open = value_int8(counts, 0, 0);
    preview->closed = value_int8(counts, 0, 1);
    preview->busy = value_int8(counts, 0, 2);
    preview->busy_with = value_text(counts, 0, 3, arena);
    preview->quarantined = value_int8(counts, 0, 4);
    preview->revised = value_int8(counts, 0, 5);
    preview->raw = value_int8(counts, 0, 6);
    read_topics(topics, arena, preview);
    PQclear(counts);
    PQclear(topics);
    return true;
}
