// The expected effect of an action before it is requested. Nothing is written.
#include "store/operations/operations.h"

#include <stdlib.h>
#include "core/target.h"
#include "store/pg.h"

// Every statement has the same parameters, whichever of them it uses: $1 what is chosen, $2 the status that
// the action acts on, $3 and $4 the lowest and the highest id, $5 the zone, $6 after how many returns an
// event is in quarantine.
//
// A selection is ids, and each is looked up; or, of many that are close together, a bit for each id from
// $3 on: then the table is read in one pass, by several processes where the server has some to spare, and
// there is nothing to join. As a list in FROM with its condition, e being the event:
#define BY_IDS "unnest($1) AS w (id) JOIN :\"events\" e ON e.id = w.id WHERE true"
#define BY_BITS ":\"events\" e WHERE e.id BETWEEN $3 AND $4 AND " HAS_BIT("e.id")
// and as a condition on an id:
#define HAS_BIT(id)                                                                                          \
    "CASE WHEN " id " BETWEEN $3 AND $4 THEN get_bit($1, (" id " - $3)::int4) = 1 ELSE false END"
#define IS_OF_IDS(id) id " IN (SELECT unnest($1))"

enum chosen { CHOSEN_BY_IDS, CHOSEN_BY_BITS };

// Is anything in flight of an operation, and was anything ever published, or seen to be back? Where not,
// nothing is looked for.
static const char look_sql[] =
    "SELECT EXISTS (SELECT FROM redrive.operation o WHERE o.queued + o.claimed + o.in_doubt > 0),"
    " redrive.has_sent() OR EXISTS (SELECT FROM redrive.returned)";

// A row a topic; in each how many all of them are.
#define COUNTS(chosen)                                                                                       \
    "SELECT e.kafka_topic::text, count(*) FILTER (WHERE e.status = $2),"                                     \
    " sum(count(*) FILTER (WHERE e.status = $2)) OVER ()::int8 FROM " chosen                                 \
    " GROUP BY 1 ORDER BY 2 DESC LIMIT 200"
static const char *const counts_sql[] = {
    [CHOSEN_BY_IDS] = COUNTS(BY_IDS), [CHOSEN_BY_BITS] = COUNTS(BY_BITS)};

// One row. By ids: those that are in flight are few.
static const char busy_sql[] =
    "SELECT b.all_of_them, b.are_right, (SELECT format('%s''s operation %s', o.requested_by, o.no)"
    "  FROM redrive.operation o WHERE o.no = b.first)"
    " FROM (SELECT count(*) AS all_of_them, count(*) FILTER (WHERE e.status = $2) AS are_right,"
    "  min(l.operation_no) AS first"
    "  FROM redrive.items_live($1) l LEFT JOIN :\"events\" e ON e.id = l.dlq_id) AS b";

// One row: of how many a corrected payload would be sent, of how many others the bytes that were received.
// The newest revision counts: it holds all that is replaced.
#define KEPT(is_chosen)                                                                                      \
    "WITH corrected AS MATERIALIZED (SELECT dlq_id FROM (SELECT DISTINCT ON (r.dlq_id) r.dlq_id,"            \
    "    r.payload IS NOT NULL AS has_payload FROM redrive.revision r WHERE " is_chosen                      \
    "    ORDER BY r.dlq_id, r.no DESC) AS newest WHERE has_payload)"                                         \
    " SELECT (SELECT count(*) FROM corrected), (SELECT count(*) FROM redrive.record r WHERE " is_chosen      \
    "    AND NOT EXISTS (SELECT FROM corrected c WHERE c.dlq_id = r.dlq_id))"
static const char *const kept_sql[] = {
    [CHOSEN_BY_IDS] = KEPT(IS_OF_IDS("r.dlq_id")), [CHOSEN_BY_BITS] = KEPT(HAS_BIT("r.dlq_id"))};

// A row for each pair of an event's own topic and the one that its newest revision names instead.
#define RETARGETED(is_chosen)                                                                                \
    "SELECT e.kafka_topic::text, r.topic, count(*) FROM redrive.revision r"                                  \
    " JOIN :\"events\" e ON e.id = r.dlq_id AND e.status = $2"                                               \
    " WHERE r.topic IS NOT NULL AND " is_chosen                                                              \
    " AND NOT EXISTS (SELECT FROM redrive.revision n WHERE n.dlq_id = r.dlq_id AND n.no > r.no)"             \
    " GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 200"
static const char *const retargeted_sql[] = {
    [CHOSEN_BY_IDS] = RETARGETED(IS_OF_IDS("r.dlq_id")), [CHOSEN_BY_BITS] = RETARGETED(HAS_BIT("r.dlq_id"))};

// A row for each pair of an event's own topic and that of its newest revision, of those in flight: they will
// be skipped.
static const char busy_topics_sql[] =
    "SELECT e.kafka_topic::text, n.topic, count(*) FROM redrive.items_live($1) l"
    " JOIN :\"events\" e ON e.id = l.dlq_id AND e.status = $2"
    " LEFT JOIN LATERAL (SELECT r.topic FROM redrive.revision r WHERE r.dlq_id = e.id"
    "   ORDER BY r.no DESC LIMIT 1) AS n ON true GROUP BY 1, 2";

// One row: ids in quarantine, eight bytes each.
#define QUARANTINED(chosen)                                                                                  \
    "WITH wanted AS MATERIALIZED ("                                                                          \
    "  SELECT e.id, e.event_id, e.created_at::timestamp AT TIME ZONE $5 AS created_at FROM " chosen          \
    "    AND e.status = $2)"                                                                                 \
    " SELECT string_agg(int8send(id), '' ORDER BY id) FROM (SELECT w.id FROM wanted w JOIN "                 \
    "redrive.items_sent((SELECT array_agg(event_id::text) FROM wanted WHERE redrive.has_sent())) i"          \
    "     ON i.event_id = w.event_id AND i.at < w.created_at GROUP BY w.id HAVING count(*) >= $6"            \
    "    UNION SELECT w.id FROM wanted w JOIN redrive.returned c"                                            \
    "     ON c.dlq_id = w.id AND c.times >= $6) AS q"
static const char *const quarantined_sql[] = {
    [CHOSEN_BY_IDS] = QUARANTINED(BY_IDS), [CHOSEN_BY_BITS] = QUARANTINED(BY_BITS)};

// Of what would be sent, how many have newer events of the same source id and topic that are not among them,
// and how many of those one that was resolved. An event that returned is no newer event: it has the same
// event id. Of each key only what is newest counts, and what is newest of another event id: a key may have
// any number of events. Before it: the lists `other` (what there is besides, by key and event) and `chosen`.
#define OVERTAKEN                                                                                            \
    " newest AS MATERIALIZED (SELECT * FROM (SELECT o.*,"                                                    \
    "    row_number() OVER (PARTITION BY o.key ORDER BY o.at DESC) AS place,"                                \
    "    row_number() OVER (PARTITION BY o.key ORDER BY o.resolved_at DESC NULLS LAST) AS place_resolved"    \
    "      FROM other o WHERE o.key IN (SELECT c.key FROM chosen c)) AS placed"                              \
    "    WHERE place <= 2 OR place_resolved <= 2),"                                                          \
    " overtaken AS (SELECT c.id, bool_or(n.resolved_at > c.created_at) AS by_resolved FROM chosen c"         \
    "    JOIN newest n ON n.key = c.key AND n.at > c.created_at AND n.event <> c.event GROUP BY c.id)"       \
    " SELECT count(*), count(*) FILTER (WHERE by_resolved) FROM overtaken"
// Keys and event ids are compared by their hashes.
#define KEY(e)                                                                                               \
    "hashtextextended(" e ".source_id::text, coalesce(hashtextextended(" e                                   \
    ".kafka_topic::text, 0), 0)) AS key"
#define EVENT(e) "hashtextextended(" e ".event_id::text, 0) AS event"
#define NEWEST(n)                                                                                            \
    "max(" n ".created_at) AS at, max(" n ".created_at) FILTER (WHERE " n ".status = 'RESOLVED') AS "        \
    "resolved_at"

// Key by key, by the index on them if there is one.
// clang-format off
static const char overtaken_of_few_sql[] =
    "WITH wanted AS MATERIALIZED ("
    "  SELECT e.id, e.event_id, e.source_id, e.kafka_topic, e.created_at FROM " BY_IDS " AND e.status = $2),"
    " keys AS MATERIALIZED (SELECT source_id, kafka_topic, min(created_at) AS since FROM wanted"
    "    WHERE source_id IS NOT NULL GROUP BY 1, 2),"
    " other AS (SELECT " KEY("n") ", " EVENT("n") ", " NEWEST("n")
    "    FROM keys k JOIN :\"events\" n ON n.source_id = k.source_id"
    "     AND n.kafka_topic IS NOT DISTINCT FROM k.kafka_topic AND n.created_at > k.since"
    "   WHERE n.status <> 'DISCARDED' AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = n.id) GROUP BY 1, 2),"
    " chosen AS (SELECT w.id, " KEY("w") ", " EVENT("w") ", w.created_at FROM wanted w),"
    OVERTAKEN;
// clang-format on

// Of so many keys that looking each up takes longer: all others in one pass, and what they may have overtaken
// in another. OFFSET 0: the processes that read compute the hashes, not the
// one that collects.
// clang-format off
#define OVERTAKEN_OF_MANY(from, is_chosen)                                                                   \
    "WITH other AS MATERIALIZED ("                                                                           \
    "  SELECT " KEY("n") ", " EVENT("n") ", " NEWEST("n") " FROM :\"events\" n"                              \
    "   WHERE n.source_id IS NOT NULL AND n.status <> 'DISCARDED'"                                           \
    "     AND NOT (n.status = $2 AND " is_chosen("n.id") ") GROUP BY 1, 2),"                                 \
    " latest AS MATERIALIZED (SELECT o.key, max(o.at) AS at FROM other o GROUP BY 1),"                       \
    " chosen AS MATERIALIZED (SELECT c.* FROM latest l JOIN ("                                               \
    "  SELECT e.id, " KEY("e") ", " EVENT("e") ", e.created_at FROM " from                                   \
    "     AND e.status = $2 AND e.source_id IS NOT NULL OFFSET 0) AS c"                                      \
    "    ON c.key = l.key AND c.created_at < l.at),"                                                         \
    OVERTAKEN
// clang-format on
static const char *const overtaken_of_many_sql[] = {[CHOSEN_BY_IDS] = OVERTAKEN_OF_MANY(BY_IDS, IS_OF_IDS),
                                                    [CHOSEN_BY_BITS] = OVERTAKEN_OF_MANY(BY_BITS, HAS_BIT)};

// Of what would be sent, how many share their event id, by its hash.
#define DOUBLED(chosen)                                                                                      \
    "SELECT coalesce(sum(n), 0)::int8 FROM (SELECT count(*) AS n FROM " chosen                               \
    "  AND e.status = $2 GROUP BY hashtextextended(e.event_id::text, 0) HAVING count(*) > 1) AS twice"
static const char *const doubled_sql[] = {
    [CHOSEN_BY_IDS] = DOUBLED(BY_IDS), [CHOSEN_BY_BITS] = DOUBLED(BY_BITS)};

// The planner does not know how much it is, and would look in one list for each line of another, or think
// that lines are too many for other processes to hand them over.
#define SETTINGS_OF_MANY                                                                                     \
    "SELECT pg_catalog.set_config('work_mem', '32MB', true),"                                                \
    " pg_catalog.set_config('enable_nestloop', 'off', true),"                                                \
    " pg_catalog.set_config('enable_mergejoin', 'off', true),"                                               \
    " pg_catalog.set_config('parallel_tuple_cost', '0', true)"
static const char settings_of_many[] = SETTINGS_OF_MANY;
// As many groups as there are lines: sorting is shared out, a table of hashes is one process's.
static const char settings_of_sorting[] =
    SETTINGS_OF_MANY ", pg_catalog.set_config('enable_hashagg', 'off', true)";

enum { MANY = 20000, TOPICS_SHOWN = 20 };

// Few enough for a walk.
static void
count_topic(struct preview *preview, struct arena *arena, struct bytes topic, int64_t count)
{
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (bytes_equal(bytes_of(preview->topics[i].topic), topic)) {
            preview->topics[i].count += count;
            return;
        }
    }
    preview->topics[preview->topic_count++] = (struct preview_topic){
        .topic = arena_text(arena, topic), .count = count, .refusal = target_refusal(topic, arena)};
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

// The counts that are needed: data that cannot exist is not looked for.
struct preview_counting {
    bool has_live, has_sent, is_reprocess;
    PGresult *counts, *busy, *busy_topics, *quarantined, *kept, *retargeted;
};

// The topics that the events are sent to: `to`, their own, or what their newest revisions name; without those
// that will be skipped.
static void
read_topics(const struct preview_counting *counting, const char *to, struct arena *arena,
            struct preview *preview)
{
    const PGresult *r = counting->counts, *moved = counting->retargeted, *busy = counting->busy_topics;
    size_t most = (size_t)PQntuples(r) + 2 * (moved ? (size_t)PQntuples(moved) : 0) +
                  (busy ? (size_t)PQntuples(busy) : 0);
    preview->topics = arena_array(arena, most, sizeof *preview->topics);
    for (int i = 0; i < PQntuples(r) && value_int8(r, i, 1) > 0; i++)
        count_topic(preview, arena, target_of(value_bytes(r, i, 0), BYTES_ABSENT, to), value_int8(r, i, 1));
    for (int i = 0; moved && i < PQntuples(moved); i++) {
        struct bytes own = value_bytes(moved, i, 0);
        count_topic(preview, arena, target_of(own, BYTES_ABSENT, to), -value_int8(moved, i, 2));
        count_topic(preview, arena, target_of(own, value_bytes(moved, i, 1), to), value_int8(moved, i, 2));
    }
    for (int i = 0; busy && i < PQntuples(busy); i++)
        count_topic(preview, arena, target_of(value_bytes(busy, i, 0), value_bytes(busy, i, 1), to),
                    -value_int8(busy, i, 2));
    if (preview->topic_count)
        qsort(preview->topics, preview->topic_count, sizeof *preview->topics, by_count);
    for (size_t i = 0; i < preview->topic_count; i++)
        preview->refused += preview->topics[i].refusal ? preview->topics[i].count : 0;
    while (preview->topic_count > TOPICS_SHOWN ||
           (preview->topic_count && preview->topics[preview->topic_count - 1].count <= 0))
        preview->topic_count--;
}

// How much of the table is chosen by bits: no more of them than ids would take.
static enum chosen
chosen_of(const struct preview_query *query)
{
    const int64_t *ids = query->ids;
    // A consumer may give ids from both ends of the type.
    bool is_close = query->count > MANY &&
                    (uint64_t)ids[query->count - 1] - (uint64_t)ids[0] < (uint64_t)query->count * 64;
    return is_close ? CHOSEN_BY_BITS : CHOSEN_BY_IDS;
}

static void
query_params(const struct store *store, const struct preview_query *query, enum chosen chosen,
             struct params *params)
{
    if (chosen == CHOSEN_BY_BITS)
        param_bits(params, query->ids, query->count);
    else
        param_ids(params, query->ids, query->count);
    param_text(params, query->action == ACTION_RESTORE ? "DISCARDED" : "PENDING");
    param_int8(params, query->count ? query->ids[0] : 0);
    param_int8(params, query->count ? query->ids[query->count - 1] : 0);
    param_text(params, store->zone);
    param_int8(params, store->max_replays);
}

static bool
look_before(struct store *store, const struct preview_query *query, struct preview_counting *counting,
            struct err *err)
{
    counting->is_reprocess = query->action == ACTION_REPROCESS;
    counting->has_live = counting->has_sent = true;
    if (query->count <= MANY)
        return true;
    PGresult *r;
    if (!pg_ask(store, FOR_READING, look_sql, NULL, &r, err))
        return false;
    counting->has_live = value_bool(r, 0, 0);
    counting->has_sent = value_bool(r, 0, 1);
    PQclear(r);
    return true;
}

static bool
ask_counts(struct store *store, const struct preview_query *query, struct preview_counting *counting,
           struct err *err)
{
    enum chosen chosen = chosen_of(query);
    struct params params = {0};
    struct params ids = {0};
    query_params(store, query, chosen, &params);
    if (counting->has_live)
        query_params(store, query, CHOSEN_BY_IDS, &ids);

    struct pg_step steps[7];
    size_t count = 0;
    if (query->count > MANY)
        steps[count++] = (struct pg_step){.sql = settings_of_many};
    steps[count++] =
        (struct pg_step){.sql = counts_sql[chosen], .params = &params, .whole = &counting->counts};
    if (counting->has_live)
        steps[count++] = (struct pg_step){.sql = busy_sql, .params = &ids, .whole = &counting->busy};
    if (counting->has_live && counting->is_reprocess)
        steps[count++] =
            (struct pg_step){.sql = busy_topics_sql, .params = &ids, .whole = &counting->busy_topics};
    if (counting->has_sent && counting->is_reprocess)
        steps[count++] = (struct pg_step){
            .sql = quarantined_sql[chosen], .params = &params, .whole = &counting->quarantined};
    if (counting->is_reprocess)
        steps[count++] =
            (struct pg_step){.sql = kept_sql[chosen], .params = &params, .whole = &counting->kept};
    if (counting->is_reprocess)
        steps[count++] = (struct pg_step){
            .sql = retargeted_sql[chosen], .params = &params, .whole = &counting->retargeted};
    bool ok = pg_run(store, FOR_SCANNING, steps, count, err);
    params_release(&params);
    params_release(&ids);
    return ok;
}

static void
read_counts(const struct preview_counting *counting, const struct preview_query *query, struct arena *arena,
            struct preview *preview)
{
    bool has_some = PQntuples(counting->counts) > 0;
    int64_t right = has_some ? value_int8(counting->counts, 0, 2) : 0;
    int64_t busy_right = 0;
    read_topics(counting, query->to, arena, preview);
    if (counting->busy) {
        preview->busy = value_int8(counting->busy, 0, 0);
        busy_right = value_int8(counting->busy, 0, 1);
        preview->busy_with = value_text(counting->busy, 0, 2, arena);
    }
    preview->open = right - busy_right;
    preview->closed = (int64_t)query->count - right - (preview->busy - busy_right);
    if (counting->quarantined)
        read_quarantined(value_bytes(counting->quarantined, 0, 0), arena, preview);
    if (counting->kept) {
        preview->revised = value_int8(counting->kept, 0, 0);
        preview->raw = value_int8(counting->kept, 0, 1);
    }
}

static bool
preview_counts(struct store *store, const struct preview_query *query, struct arena *arena,
               struct preview *preview, struct err *err)
{
    struct preview_counting counting = {0};
    bool ok = look_before(store, query, &counting, err) && ask_counts(store, query, &counting, err);
    if (ok)
        read_counts(&counting, query, arena, preview);
    PQclear(counting.counts);
    PQclear(counting.busy);
    PQclear(counting.busy_topics);
    PQclear(counting.quarantined);
    PQclear(counting.kept);
    PQclear(counting.retargeted);
    return ok;
}

// One statement; the settings are for many ids alone.
static bool
ask_one(struct store *store, const struct preview_query *query, const char *settings, const char *sql,
        PGresult **answer, struct err *err)
{
    struct params params = {0};
    query_params(store, query, chosen_of(query), &params);
    bool is_many = query->count > MANY;
    struct pg_step steps[] = {{.sql = settings}, {.sql = sql, .params = &params, .whole = answer}};
    bool ok = pg_run(store, FOR_SCANNING, steps + !is_many, 1 + (size_t)is_many, err);
    params_release(&params);
    return ok;
}

static bool
preview_overtaken(struct store *store, const struct preview_query *query, struct preview *preview,
                  struct err *err)
{
    const char *sql = query->count > MANY ? overtaken_of_many_sql[chosen_of(query)] : overtaken_of_few_sql;
    PGresult *r = NULL;
    if (!ask_one(store, query, settings_of_many, sql, &r, err))
        return false;
    preview->overtaken = value_int8(r, 0, 0);
    preview->overtaken_resolved = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}

static bool
preview_doubled(struct store *store, const struct preview_query *query, struct preview *preview,
                struct err *err)
{
    PGresult *r = NULL;
    if (!ask_one(store, query, settings_of_sorting, doubled_sql[chosen_of(query)], &r, err))
        return false;
    preview->doubled = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

unsigned
preview_parts(enum operation_action action)
{
    return action == ACTION_REPROCESS ? (1u << PREVIEW_PARTS) - 1 : 1u << PREVIEW_COUNTS;
}

bool
operation_preview_part(struct store *store, const struct preview_query *query, enum preview_part part,
                       struct arena *arena, struct preview *preview, struct err *err)
{
    bool ok = pg_has_schema(store, err);
    if (ok && part == PREVIEW_COUNTS)
        ok = preview_counts(store, query, arena, preview, err);
    else if (ok && part == PREVIEW_OVERTAKEN)
        ok = preview_overtaken(store, query, preview, err);
    else if (ok)
        ok = preview_doubled(store, query, preview, err);
    if (ok)
        preview->known |= 1u << part;
    return ok;
}

bool
operation_preview(struct store *store, const struct preview_query *query, struct arena *arena,
                  struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    for (unsigned part = 0; part < PREVIEW_PARTS; part++) {
        if ((preview_parts(query->action) & 1u << part) &&
            !operation_preview_part(store, query, (enum preview_part)part, arena, preview, err))
            return false;
    }
    return true;
}

bool
operation_quarantined(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                      struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    const struct preview_query query = {.action = ACTION_REPROCESS, .ids = ids, .count = count};
    PGresult *r = NULL;
    if (!pg_has_schema(store, err) ||
        !ask_one(store, &query, settings_of_many, quarantined_sql[chosen_of(&query)], &r, err))
        return false;
    read_quarantined(value_bytes(r, 0, 0), arena, preview);
    PQclear(r);
    return true;
}
