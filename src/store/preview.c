// What an action would meet, before it is asked for. Nothing is written.
#include "store/operations.h"

#include <stdlib.h>
#include "store/pg.h"

// Ids in quarantine out of `wanted` (id, event_id, created_at), eight bytes each. $4 after how many returns.
#define QUARANTINED                                                                                          \
    "(SELECT string_agg(int8send(id), '' ORDER BY id) FROM (SELECT w.id FROM wanted w JOIN "                 \
    "redrive.items_sent((SELECT array_agg(event_id::text) FROM wanted WHERE redrive.has_sent())) i"          \
    "     ON i.event_key = w.event_id AND i.at < w.created_at GROUP BY w.id HAVING count(*) >= $4"           \
    "    UNION SELECT w.id FROM wanted w JOIN redrive.comeback c"                                            \
    "     ON c.event_id = w.id AND c.times >= $4) AS q)"

// $1 ids, $2 the status the action acts on, $3 the zone, $4 after how many returns an event is in quarantine.
// One row.
static const char counts_sql[] =
    "WITH wanted AS MATERIALIZED ("
    "  SELECT w.id, coalesce(e.status = $2, false) AS is_right, e.event_id, e.created_at::timestamp AT TIME "
    "ZONE $3 AS created_at,"
    "         live.operation_no"
    "    FROM unnest($1) AS w (id) LEFT JOIN :\"events\" e ON e.id = w.id"
    "    LEFT JOIN redrive.items_live($1) live ON live.event_id = w.id)"
    " SELECT count(*) FILTER (WHERE is_right AND operation_no IS NULL), count(*) FILTER (WHERE NOT is_right "
    "AND operation_no IS NULL),"
    "  count(operation_no),"
    "  (SELECT format('operation %s of %s', o.no, o.requested_by) FROM redrive.operation o"
    "    WHERE o.no = (SELECT min(operation_no) FROM wanted)),"
    "  " QUARANTINED ","
    "  (SELECT count(DISTINCT r.event_id) FROM redrive.revision r JOIN wanted w ON w.id = r.event_id),"
    "  (SELECT count(*) FROM redrive.record r JOIN wanted w ON w.id = r.event_id)"
    " FROM wanted";

// $1 ids, $2 status, $3 the zone, $4 as above. One row.
static const char quarantined_sql[] =
    "WITH wanted AS MATERIALIZED ("
    "  SELECT w.id, e.event_id, e.created_at::timestamp AT TIME ZONE $3 AS created_at"
    "    FROM unnest($1) AS w (id) JOIN :\"events\" e ON e.id = w.id WHERE e.status = $2 AND "
    "redrive.has_sent())"
    " SELECT " QUARANTINED;

static const char topics_sql[] =
    "SELECT e.kafka_topic::text, count(*) FROM unnest($1) AS w (id) JOIN :\"events\" e ON e.id = w.id"
    " WHERE e.status = $2 GROUP BY 1 ORDER BY 2 DESC LIMIT 200";

// Of what would be sent: newer events of the same source id and topic that are not among them; and event ids
// (by their hash) that are there twice. An event that came back is no newer event: it has the same event id.
// Of each key only what is newest counts, and what is newest of another event id: a key may have any number
// of events. What they are compared with is the list `other`.
#define RISKS(other)                                                                                         \
    "WITH wanted AS MATERIALIZED ("                                                                          \
    "  SELECT e.id, e.event_id, e.source_id, e.kafka_topic, e.created_at FROM unnest($1) AS w (id)"          \
    "    JOIN :\"events\" e ON e.id = w.id WHERE e.status = $2)," other ", newest AS MATERIALIZED ("         \
    "  SELECT * FROM (SELECT o.*,"                                                                           \
    "    row_number() OVER (PARTITION BY o.source_id, o.kafka_topic ORDER BY o.at DESC) AS place,"           \
    "    row_number() OVER (PARTITION BY o.source_id, o.kafka_topic ORDER BY o.resolved_at DESC NULLS LAST)" \
    "      AS place_resolved FROM other o) AS placed WHERE place <= 2 OR place_resolved <= 2),"              \
    " overtaken AS (SELECT w.id, bool_or(n.resolved_at > w.created_at) AS by_resolved FROM wanted w JOIN "   \
    "newest n"                                                                                               \
    "    ON n.source_id = w.source_id AND n.kafka_topic IS NOT DISTINCT FROM w.kafka_topic AND n.at > "      \
    "w.created_at"                                                                                           \
    "    AND n.event_id <> w.event_id GROUP BY w.id)"                                                        \
    " SELECT (SELECT count(*) FROM overtaken), (SELECT count(*) FROM overtaken WHERE by_resolved),"          \
    "  (SELECT coalesce(sum(n), 0)::int8 FROM (SELECT count(*) AS n FROM wanted"                             \
    "    GROUP BY hashtextextended(event_id::text, 0) HAVING count(*) > 1) AS twice)"
#define NEWEST_OF_EACH                                                                                       \
    " n.source_id, n.kafka_topic, n.event_id, max(n.created_at) AS at,"                                      \
    " max(n.created_at) FILTER (WHERE n.status = 'RESOLVED') AS resolved_at"
#define NOT_AMONG_THEM                                                                                       \
    " n.status <> 'DISCARDED' AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = n.id) GROUP BY 1, 2, 3)"

// Key by key, by the index on them if there is one.
static const char risks_sql[] =
    RISKS(" keys AS MATERIALIZED (SELECT source_id, kafka_topic, min(created_at) AS since FROM wanted"
          "    WHERE source_id IS NOT NULL GROUP BY 1, 2),"
          " other AS (SELECT" NEWEST_OF_EACH " FROM keys k JOIN :\"events\" n ON n.source_id = k.source_id"
          "    AND n.kafka_topic IS NOT DISTINCT FROM k.kafka_topic AND n.created_at > k.since "
          "WHERE" NOT_AMONG_THEM);
// All others in one pass: of so many keys that looking each up takes longer.
static const char risks_of_many_sql[] =
    RISKS(" other AS (SELECT" NEWEST_OF_EACH
          " FROM :\"events\" n WHERE n.source_id IS NOT NULL AND" NOT_AMONG_THEM);
// The planner does not know how much it is, and would look in one list for each line of another.
static const char settings_of_many[] = "SELECT pg_catalog.set_config('work_mem', '32MB', true),"
                                       " pg_catalog.set_config('enable_nestloop', 'off', true),"
                                       " pg_catalog.set_config('enable_mergejoin', 'off', true)";

enum { MANY = 20000, TOPICS_SHOWN = 20 };

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

static void
read_quarantined(struct bytes all, struct arena *arena, struct preview *preview)
{
    preview->quarantined_count = all.len / 8;
    preview->quarantined = (int64_t)preview->quarantined_count;
    preview->quarantined_ids =
        arena_array(arena, preview->quarantined_count + 1, sizeof *preview->quarantined_ids);
    for (size_t i = 0; i < preview->quarantined_count; i++)
        preview->quarantined_ids[i] = pg_read64(all.data + 8 * i);
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

static void
counts_params(const struct store *store, const int64_t *ids, size_t count, const char *status,
              struct params *params)
{
    param_ids(params, ids, count);
    param_text(params, status);
    param_text(params, store->zone);
    param_int8(params, store->max_replays);
}

bool
operation_quarantined(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                      struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    struct params params = {0};
    counts_params(store, ids, count, "PENDING", &params);
    PGresult *r;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_SCANNING, quarantined_sql, &params, &r, err))
        return false;
    read_quarantined(value_bytes(r, 0, 0), arena, preview);
    PQclear(r);
    return true;
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
    counts_params(store, ids, count, status, &params);
    struct params topic_params = {0};
    param_ids(&topic_params, ids, count);
    param_text(&topic_params, status);
    struct params risk_params = {0};
    param_ids(&risk_params, ids, count);
    param_text(&risk_params, status);

    PGresult *counts = NULL, *topics = NULL, *risks = NULL;
    bool are_many = count > MANY;
    struct pg_step steps[] = {
        {.sql = settings_of_many},
        {.sql = counts_sql, .params = &params, .whole = &counts},
        {.sql = topics_sql, .params = &topic_params, .whole = &topics},
        {.sql = are_many ? risks_of_many_sql : risks_sql, .params = &risk_params, .whole = &risks},
    };
    size_t first = are_many ? 0 : 1, end = action == ACTION_REPROCESS ? 4 : 3;
    bool ok = pg_run(store, FOR_SCANNING, steps + first, end - first, err);
    params_release(&params);
    params_release(&topic_params);
    params_release(&risk_params);
    if (!ok)
        return false;
    if (risks) {
        preview->overtaken = value_int8(risks, 0, 0);
        preview->overtaken_resolved = value_int8(risks, 0, 1);
        preview->doubled = value_int8(risks, 0, 2);
        PQclear(risks);
    }
    preview->open = value_int8(counts, 0, 0);
    preview->closed = value_int8(counts, 0, 1);
    preview->busy = value_int8(counts, 0, 2);
    preview->busy_with = value_text(counts, 0, 3, arena);
    read_quarantined(value_bytes(counts, 0, 4), arena, preview);
    preview->revised = value_int8(counts, 0, 5);
    preview->raw = value_int8(counts, 0, 6);
    read_topics(topics, arena, preview);
    PQclear(counts);
    PQclear(topics);
    return true;
}
