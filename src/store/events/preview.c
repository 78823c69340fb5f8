// The expected effect of an action before it is requested. Nothing is written.
#include "store/operations/operations.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/selection.h"
#include "store/events/preview_rows.h"
#include "store/events/reader.h"
#include "store/pg.h"

// Every statement has the same parameters, whichever of them it uses: $1 what is chosen, $2 the status that
// the action acts on, $3 and $4 the lowest and the highest id, $5 the zone, $6 after how many returns an
// event is in quarantine.
//
// A selection is ids, and each is looked up; or, of many that are close together, a bit for each id from
// $3 on: then the table is read in one pass, by several processes where the server has some to spare, and
// there is nothing to join; or many, but a small part of the table: then each is looked up by the index,
// which the planner would not do, since it does not know that ids in ascending order are rows in the order of
// the table. As a list in FROM with its condition, e being the event:
#define BY_IDS "unnest($1) AS w (id) JOIN :\"events\" e ON e.id = w.id WHERE true"
#define BY_LOOKUP                                                                                            \
    "unnest($1) AS w (id) CROSS JOIN LATERAL (SELECT x.id, x.event_id, x.source_id, x.status, x.created_at," \
    " x.kafka_topic, x.kafka_partition, x.event_payload FROM :\"events\" x WHERE x.id = w.id OFFSET 0) AS e" \
    " WHERE true"
#define BY_BITS ":\"events\" e WHERE e.id BETWEEN $3 AND $4 AND " HAS_BIT("e.id")
// and as a condition on an id:
#define HAS_BIT(id)                                                                                          \
    "CASE WHEN " id " BETWEEN $3 AND $4 THEN get_bit($1, (" id " - $3)::int4) = 1 ELSE false END"
#define IS_OF_IDS(id) id " IN (SELECT unnest($1))"
#define IS_OF_ALL(id) id " IN (SELECT unnest($7))"

enum chosen { CHOSEN_BY_IDS, CHOSEN_BY_BITS, CHOSEN_BY_LOOKUP };

// Is anything in flight of an operation, was anything ever published, or seen to be back, was anything
// corrected, are received bytes kept, and records that were read again? Where not, nothing is looked for.
static const char look_sql[] =
    "SELECT EXISTS (SELECT FROM redrive.operation o WHERE o.queued + o.claimed + o.in_doubt > 0),"
    " redrive.has_sent() OR EXISTS (SELECT FROM redrive.returned),"
    " EXISTS (SELECT FROM redrive.revision), EXISTS (SELECT FROM redrive.record),"
    " EXISTS (SELECT FROM redrive.original)";
struct preview_beside {
    bool has_live, has_sent, has_revisions, has_records, has_originals;
};

// A row for each place that events came from; in each how many all of them are.
#define COUNTS(chosen)                                                                                       \
    "SELECT e.kafka_topic::text, coalesce(e.kafka_partition, -1), NULL, -1,"                                 \
    " count(*) FILTER (WHERE e.status = $2), sum(count(*) FILTER (WHERE e.status = $2)) OVER ()::int8"       \
    " FROM " chosen " GROUP BY 1, 2 ORDER BY 5 DESC LIMIT 2000"
static const char *const counts_sql[] = {[CHOSEN_BY_IDS] = COUNTS(BY_IDS),
                                         [CHOSEN_BY_BITS] = COUNTS(BY_BITS),
                                         [CHOSEN_BY_LOOKUP] = COUNTS(BY_LOOKUP)};

// One row. By ids: those that are in flight are few.
static const char busy_sql[] =
    "SELECT b.all_of_them, b.are_right, (SELECT format('%s''s operation %s',"
    " coalesce('policy ' || o.policy, o.requested_by::text), o.no)"
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
static const char *const kept_sql[] = {[CHOSEN_BY_IDS] = KEPT(IS_OF_IDS("r.dlq_id")),
                                       [CHOSEN_BY_BITS] = KEPT(HAS_BIT("r.dlq_id")),
                                       [CHOSEN_BY_LOOKUP] = KEPT(IS_OF_IDS("r.dlq_id"))};

// A row for each place, and the topic and partition that the newest revision names instead.
#define RETARGETED(is_chosen)                                                                                \
    "SELECT e.kafka_topic::text, coalesce(e.kafka_partition, -1), r.topic, coalesce(r.partition, -1),"       \
    " count(*) FROM redrive.revision r JOIN :\"events\" e ON e.id = r.dlq_id AND e.status = $2"              \
    " WHERE (r.topic IS NOT NULL OR r.partition IS NOT NULL) AND " is_chosen                                 \
    " AND NOT EXISTS (SELECT FROM redrive.revision n WHERE n.dlq_id = r.dlq_id AND n.no > r.no)"             \
    " GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 2000"
static const char *const retargeted_sql[] = {[CHOSEN_BY_IDS] = RETARGETED(IS_OF_IDS("r.dlq_id")),
                                             [CHOSEN_BY_BITS] = RETARGETED(HAS_BIT("r.dlq_id")),
                                             [CHOSEN_BY_LOOKUP] = RETARGETED(IS_OF_IDS("r.dlq_id"))};

#define NEWEST_TARGET                                                                                        \
    " LEFT JOIN LATERAL (SELECT r.topic, r.partition FROM redrive.revision r WHERE r.dlq_id = e.id"          \
    "   ORDER BY r.no DESC LIMIT 1) AS n ON true"

// The same of those in flight: they will be skipped.
static const char busy_sources_sql[] =
    "SELECT e.kafka_topic::text, coalesce(e.kafka_partition, -1), n.topic, coalesce(n.partition, -1), "
    "count(*)"
    " FROM redrive.items_live($1) l JOIN :\"events\" e ON e.id = l.dlq_id AND e.status = $2" NEWEST_TARGET
    " GROUP BY 1, 2, 3, 4";

// One row: ids in quarantine, eight bytes each.
#define QUARANTINED(chosen)                                                                                  \
    "WITH wanted AS MATERIALIZED ("                                                                          \
    "  SELECT e.id, e.event_id, e.created_at::timestamp AT TIME ZONE $5 AS created_at FROM " chosen          \
    "    AND e.status = $2)"                                                                                 \
    " SELECT string_agg(int8send(id), '' ORDER BY id) FROM (SELECT w.id FROM wanted w JOIN "                 \
    "redrive.items_sent((SELECT array_agg(event_id::text) FROM wanted WHERE redrive.has_sent())) i"          \
    "     ON i.event_id = w.event_id AND i.at < w.created_at AND " EVENT_IS_SAME(                            \
        "w.id", "i.dlq_id") "    GROUP BY w.id HAVING count(*) >= $6"                                        \
                            "    UNION SELECT w.id FROM wanted w JOIN redrive.returned c"                    \
                            "     ON c.dlq_id = w.id AND c.times >= $6) AS q"
static const char *const quarantined_sql[] = {[CHOSEN_BY_IDS] = QUARANTINED(BY_IDS),
                                              [CHOSEN_BY_BITS] = QUARANTINED(BY_BITS),
                                              [CHOSEN_BY_LOOKUP] = QUARANTINED(BY_LOOKUP)};

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

// Of so many keys that looking each up takes longer: what is chosen in one pass, and what there is besides of
// its keys in another. OFFSET 0: the processes that read compute the hashes, not the one that collects.
// clang-format off
#define OTHER_EVENT(is_chosen)                                                                               \
    "n.source_id IS NOT NULL AND n.status <> 'DISCARDED' AND NOT (n.status = $2 AND " is_chosen("n.id") ")"
#define OVERTAKEN_OF_MANY(from, is_chosen)                                                                   \
    "WITH chosen AS MATERIALIZED ("                                                                          \
    "  SELECT e.id, " KEY("e") ", " EVENT("e") ", e.created_at FROM " from                                   \
    "     AND e.status = $2 AND e.source_id IS NOT NULL OFFSET 0),"                                          \
    " keys AS MATERIALIZED (SELECT c.key, min(c.created_at) AS since FROM chosen c GROUP BY 1),"             \
    " other AS MATERIALIZED (SELECT n.key, n.event, " NEWEST("n") " FROM ("                                  \
    "  SELECT " KEY("n") ", " EVENT("n") ", n.created_at, n.status FROM :\"events\" n"                       \
    "   WHERE " OTHER_EVENT(is_chosen) " OFFSET 0) AS n"                                                     \
    "    JOIN keys k ON k.key = n.key AND n.created_at > k.since GROUP BY 1, 2),"                            \
    OVERTAKEN
static const char *const overtaken_of_many_sql[] = {
    [CHOSEN_BY_IDS] = OVERTAKEN_OF_MANY(BY_IDS, IS_OF_IDS),
    [CHOSEN_BY_BITS] = OVERTAKEN_OF_MANY(BY_BITS, HAS_BIT),
    [CHOSEN_BY_LOOKUP] = OVERTAKEN_OF_MANY(BY_LOOKUP, IS_OF_IDS)};

// Of keys that are looked up too, about in the order of their index (as keyed_rows_sql). $7: what is chosen in
// all; $1 may be a part of it.
static const char overtaken_by_lookup_sql[] =
    "WITH wanted AS MATERIALIZED ("
    "  SELECT e.id, e.source_id, e.kafka_topic, " KEY("e") ", " EVENT("e") ", e.created_at FROM " BY_LOOKUP
    "     AND e.status = $2 AND e.source_id IS NOT NULL),"
    " chosen AS (SELECT w.id, w.key, w.event, w.created_at FROM wanted w),"
    " keys AS MATERIALIZED (SELECT w.source_id, w.kafka_topic, min(w.created_at) AS since FROM wanted w"
    "    GROUP BY 1, 2 ORDER BY w.source_id::text COLLATE \"C\"),"
    " other AS MATERIALIZED (SELECT " KEY("n") ", " EVENT("n") ", " NEWEST("n")
    "    FROM keys k CROSS JOIN LATERAL (SELECT x.id, x.event_id, x.source_id, x.kafka_topic, x.created_at,"
    "      x.status FROM :\"events\" x WHERE x.source_id = k.source_id AND x.created_at > k.since OFFSET 0) AS n"
    "   WHERE n.kafka_topic IS NOT DISTINCT FROM k.kafka_topic AND " OTHER_EVENT(IS_OF_ALL) " GROUP BY 1, 2),"
    OVERTAKEN;

// The same where nearly all events are chosen: what is left over is little, and comes first.
#define OVERTAKEN_OF_MOST(from, is_chosen)                                                                   \
    "WITH other AS MATERIALIZED ("                                                                           \
    "  SELECT " KEY("n") ", " EVENT("n") ", " NEWEST("n") " FROM :\"events\" n"                              \
    "   WHERE " OTHER_EVENT(is_chosen) " GROUP BY 1, 2),"                                                    \
    " latest AS MATERIALIZED (SELECT o.key, max(o.at) AS at FROM other o GROUP BY 1),"                       \
    " chosen AS MATERIALIZED (SELECT c.* FROM latest l JOIN ("                                               \
    "  SELECT e.id, " KEY("e") ", " EVENT("e") ", e.created_at FROM " from                                   \
    "     AND e.status = $2 AND e.source_id IS NOT NULL OFFSET 0) AS c"                                      \
    "    ON c.key = l.key AND c.created_at < l.at),"                                                         \
    OVERTAKEN
// clang-format on
static const char *const overtaken_of_most_sql[] = {[CHOSEN_BY_IDS] = OVERTAKEN_OF_MOST(BY_IDS, IS_OF_IDS),
                                                    [CHOSEN_BY_BITS] = OVERTAKEN_OF_MOST(BY_BITS, HAS_BIT)};

// Of what would be sent, those that share their event id, by its hash: their ids, eight bytes each.
#define DOUBLED(chosen)                                                                                      \
    "SELECT string_agg(ids, '') FROM (SELECT"                                                                \
    "  string_agg(int8send(e.id), '') AS ids FROM " chosen                                                   \
    "  AND e.status = $2 GROUP BY hashtextextended(e.event_id::text, 0) HAVING count(*) > 1) AS twice"
static const char *const doubled_sql[] = {
    [CHOSEN_BY_IDS] = DOUBLED(BY_IDS), [CHOSEN_BY_BITS] = DOUBLED(BY_BITS)};

// Of rows that a consumer wrote twice for one record, all but the first: a freeze skips them
// (_freeze_reorder). Rows as those of the sources, with their ids, eight bytes each.
static const char repeated_sql[] =
    "SELECT e.kafka_topic::text, coalesce(e.kafka_partition, -1), n.topic, coalesce(n.partition, -1),"
    " count(*), string_agg(int8send(e.id), '' ORDER BY e.id) FROM (SELECT w.*, row_number() OVER ("
    "   PARTITION BY w.kafka_topic, w.kafka_partition, w.kafka_offset, w.event_id ORDER BY w.id) AS place"
    "  FROM (SELECT e.id, e.event_id, e.kafka_topic, e.kafka_partition, e.kafka_offset FROM " BY_IDS
    "   AND e.status = $2 AND e.kafka_topic IS NOT NULL AND e.kafka_partition IS NOT NULL"
    "   AND e.kafka_offset IS NOT NULL) AS w"
    "  WHERE w.id NOT IN (SELECT l.dlq_id FROM redrive.items_live($1) l)) AS e" NEWEST_TARGET
    " WHERE e.place > 1 GROUP BY 1, 2, 3, 4";

// What is stored with more than $7 bytes, or whose row names one of the topics $8, or none with $9:
// parameters of its own. The largest first; and how many those are. Of looked-up events that is known: ids
// and sizes are $8 and $9.
#define LARGE(sized, is_chosen)                                                                              \
    "WITH sized AS (" sized "  UNION ALL SELECT r.dlq_id, octet_length(r.payload) FROM redrive.revision r"   \
    "   WHERE octet_length(r.payload) > $7 AND " is_chosen                                                   \
    "  UNION ALL SELECT r.dlq_id, octet_length(r.value) FROM redrive.record r"                               \
    "   WHERE octet_length(r.value) > $7 AND " is_chosen                                                     \
    "  UNION ALL SELECT r.dlq_id, octet_length(r.value) FROM redrive.original r"                             \
    "   WHERE octet_length(r.value) > $7 AND " is_chosen "),"                                                \
    " large AS MATERIALIZED (SELECT s.id, max(s.size) AS size, count(*) OVER () AS of_them FROM sized s"     \
    "   GROUP BY s.id ORDER BY 2 DESC, 1 LIMIT 2000)"                                                        \
    " SELECT l.id, l.of_them FROM large l CROSS JOIN LATERAL (SELECT FROM :\"events\" x WHERE x.id = l.id"   \
    "   AND x.status = $2 LIMIT 1) AS open"                                                                  \
    "  WHERE l.id NOT IN (SELECT i.dlq_id FROM redrive.items_live(ARRAY(SELECT id FROM large)) i)"           \
    "  ORDER BY l.size DESC, l.id"
#define SIZED(chosen)                                                                                        \
    "SELECT e.id::bigint AS id, pg_column_size(e.event_payload)::bigint AS size"                             \
    "   FROM " chosen " AND e.status = $2 AND (coalesce(pg_column_size(e.event_payload), 0) > $7"            \
    "   OR e.kafka_topic::text = ANY ($8) OR $9 AND coalesce(e.kafka_topic, '') = '')"
static const char *const large_sql[] = {
    [CHOSEN_BY_IDS] = LARGE(SIZED(BY_IDS), IS_OF_IDS("r.dlq_id")),
    [CHOSEN_BY_BITS] = LARGE(SIZED(BY_BITS), HAS_BIT("r.dlq_id")),
    [CHOSEN_BY_LOOKUP] =
        LARGE("SELECT w.id, w.size FROM unnest($8, $9) AS w (id, size)", IS_OF_IDS("r.dlq_id"))};

static const char settings_of_many[] = SETTINGS_OF_MANY;
// As many groups as there are lines: sorting is shared out, a table of hashes is one process's.
static const char settings_of_sorting[] =
    SETTINGS_OF_MANY ", pg_catalog.set_config('enable_hashagg', 'off', true)";

enum {
    LARGE_MOST = 2000,
    SOURCES_MOST = 2000, // the limit of the statements that count them
};

static bool
is_same_text(const char *text, struct bytes other)
{
    return text ? bytes_present(other) && bytes_equal_text(other, text) : !bytes_present(other);
}

// Adds to the events that are sent alike, or takes away from them. Few enough for a walk.
static void
count_source(struct preview *preview, struct arena *arena, const struct preview_source *source,
             struct bytes topic, struct bytes corrected)
{
    for (size_t i = 0; i < preview->source_count; i++) {
        struct preview_source *known = &preview->sources[i];
        if (known->partition == source->partition && known->moved == source->moved &&
            is_same_text(known->topic, topic) && is_same_text(known->corrected, corrected)) {
            known->count += source->count;
            return;
        }
    }
    struct preview_source *added = &preview->sources[preview->source_count++];
    *added = *source;
    added->topic = arena_text(arena, topic);
    added->corrected = arena_text(arena, corrected);
}

// Rows of topic, partition, corrected topic and partition, count. is_moved: so many are corrected, and do not
// stay among those of their place.
static void
add_sources(struct preview *preview, struct arena *arena, const PGresult *r, int sign, bool is_moved)
{
    for (int i = 0; r && i < PQntuples(r); i++) {
        struct preview_source source = {.partition = value_int4(r, i, 1),
                                        .moved = value_int4(r, i, 3),
                                        .count = sign * value_int8(r, i, 4)};
        struct bytes topic = value_bytes(r, i, 0), corrected = value_bytes(r, i, 2);
        if (source.count == 0)
            continue;
        count_source(preview, arena, &source, topic, corrected);
        if (!is_moved)
            continue;
        source.moved = -1;
        source.count = -source.count;
        count_source(preview, arena, &source, topic, BYTES_ABSENT);
    }
}

static void
add_origins(struct preview *preview, struct arena *arena, const struct preview_rows *rows)
{
    for (size_t i = 0; i < preview_rows_origins(rows) && i < SOURCES_MOST; i++) {
        struct preview_origin origin = preview_rows_origin(rows, i);
        const struct preview_source source = {
            .partition = origin.partition, .moved = -1, .count = origin.count};
        count_source(preview, arena, &source, origin.topic, BYTES_ABSENT);
    }
}

static void
read_quarantined(struct bytes all, struct arena *arena, struct preview *preview)
{
    preview->quarantine.id_count = all.len / 8;
    preview->quarantine.events = (int64_t)preview->quarantine.id_count;
    preview->quarantine.ids =
        arena_array(arena, preview->quarantine.id_count + 1, sizeof *preview->quarantine.ids);
    for (size_t i = 0; i < preview->quarantine.id_count; i++)
        preview->quarantine.ids[i] = pg_read64(all.data + 8 * i);
}

// The counts that are needed: data that cannot exist is not looked for.
struct preview_counting {
    struct preview_beside beside;
    bool is_reprocess;
    const struct preview_rows *rows; // NULL: the counts are asked for
    PGresult *counts, *busy, *busy_sources, *quarantined, *kept, *retargeted;
};

// Where those that are acted on came from, without those that will be skipped.
static void
read_sources(const struct preview_counting *counting, struct arena *arena, struct preview *preview)
{
    const PGresult *all[] = {counting->counts, counting->retargeted, counting->busy_sources};
    size_t most = counting->rows ? SOURCES_MOST : 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        most += all[i] ? 2 * (size_t)PQntuples(all[i]) : 0;
    preview->sources = arena_array(arena, most, sizeof *preview->sources);
    if (counting->rows)
        add_origins(preview, arena, counting->rows);
    add_sources(preview, arena, counting->counts, 1, false);
    add_sources(preview, arena, counting->retargeted, 1, true);
    add_sources(preview, arena, counting->busy_sources, -1, false);
}

static enum chosen
chosen_of(const struct preview_query *query)
{
    if (query->count <= PREVIEW_MANY)
        return CHOSEN_BY_IDS;
    if (query->rows || preview_is_looked_up(query))
        return CHOSEN_BY_LOOKUP;
    uint64_t span = (uint64_t)query->ids[query->count - 1] - (uint64_t)query->ids[0];
    // A consumer may give ids from both ends of the type. No more bits than ids would take.
    return span < (uint64_t)query->count * 64 ? CHOSEN_BY_BITS : CHOSEN_BY_IDS;
}

// Are most events between the first and the last of them chosen?
static bool
is_most(const struct preview_query *query)
{
    uint64_t span = (uint64_t)query->ids[query->count - 1] - (uint64_t)query->ids[0];
    return (uint64_t)query->count * 2 > span;
}

static void
query_params(const struct store *store, const struct preview_query *query, enum chosen chosen,
             struct params *params)
{

    if (chosen == CHOSEN_BY_BITS)
        param_bits(params, query->ids, query->count);
    else
        param_ids(params, query->ids, query->count);
    param_text(params, query->action != ACTION_RESTORE ? "PENDING"
                       : query->restores_resolved      ? "RESOLVED"
                                                       : "DISCARDED");
    param_int8(params, query->count ? query->ids[0] : 0);
    param_int8(params, query->count ? query->ids[query->count - 1] : 0);
    param_text(params, store->zone);
    param_int8(params, store->max_replays);
}

static bool
look_before(struct store *store, const struct preview_query *query, struct preview_beside *beside,
            struct err *err)
{
    *beside = (struct preview_beside){true, true, true, true, true};
    if (query->count <= PREVIEW_MANY)
        return true;
    PGresult *r;
    if (!pg_ask(store, FOR_READING, look_sql, NULL, &r, err))
        return false;
    *beside = (struct preview_beside){.has_live = value_bool(r, 0, 0),
                                      .has_sent = value_bool(r, 0, 1),
                                      .has_revisions = value_bool(r, 0, 2),
                                      .has_records = value_bool(r, 0, 3),
                                      .has_originals = value_bool(r, 0, 4)};
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
    if (counting->beside.has_live)
        query_params(store, query, CHOSEN_BY_IDS, &ids);

    struct pg_step steps[7];
    size_t count = 0;
    if (query->count > PREVIEW_MANY)
        steps[count++] = (struct pg_step){.sql = settings_of_many};
    if (!counting->rows)
        steps[count++] =
            (struct pg_step){.sql = counts_sql[chosen], .params = &params, .whole = &counting->counts};
    if (counting->beside.has_live)
        steps[count++] = (struct pg_step){.sql = busy_sql, .params = &ids, .whole = &counting->busy};
    if (counting->beside.has_live && counting->is_reprocess)
        steps[count++] =
            (struct pg_step){.sql = busy_sources_sql, .params = &ids, .whole = &counting->busy_sources};
    if (counting->beside.has_sent && counting->is_reprocess)
        steps[count++] = (struct pg_step){
            .sql = quarantined_sql[chosen], .params = &params, .whole = &counting->quarantined};
    if (counting->is_reprocess && (counting->beside.has_revisions || counting->beside.has_records))
        steps[count++] =
            (struct pg_step){.sql = kept_sql[chosen], .params = &params, .whole = &counting->kept};
    if (counting->is_reprocess && counting->beside.has_revisions)
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
    int64_t right = counting->rows                    ? preview_rows_count(counting->rows)
                    : PQntuples(counting->counts) > 0 ? value_int8(counting->counts, 0, 5)
                                                      : 0;
    int64_t busy_right = 0;
    read_sources(counting, arena, preview);
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
    struct preview_counting counting = {.rows = query->rows,
                                        .is_reprocess = query->action == ACTION_REPROCESS};
    bool ok = look_before(store, query, &counting.beside, err) && ask_counts(store, query, &counting, err);
    if (ok)
        read_counts(&counting, query, arena, preview);
    PQclear(counting.counts);
    PQclear(counting.busy);
    PQclear(counting.busy_sources);
    PQclear(counting.quarantined);
    PQclear(counting.kept);
    PQclear(counting.retargeted);
    return ok;
}

// One statement, with settings or NULL.
static bool
ask_one(struct store *store, const struct preview_query *query, enum chosen chosen, const char *settings,
        const char *sql, PGresult **answer, struct err *err)
{
    struct params params = {0};
    query_params(store, query, chosen, &params);
    struct pg_step steps[] = {{.sql = settings}, {.sql = sql, .params = &params, .whole = answer}};
    bool ok = pg_run(store, FOR_SCANNING, steps + !settings, 1 + (size_t)(settings != NULL), err);
    params_release(&params);
    return ok;
}

static const char *
many_settings(const struct preview_query *query, const char *settings)
{
    return query->count > PREVIEW_MANY ? settings : NULL;
}

static void
add_overtaken(const PGresult *r, struct preview *preview)
{
    preview->overtaken.events += value_int8(r, 0, 0);
    preview->overtaken.resolved += value_int8(r, 0, 1);
}

// Of events whose keys many rows have. Each connection looks for half of them.
static bool
overtaken_of_rows(struct store *store, const struct preview_query *query, const int64_t *ids, size_t count,
                  struct preview *preview, struct err *err)
{
    enum { STEPS = 2, HALVES = 2 };
    PGresult *answers[HALVES] = {0};
    struct params params[HALVES] = {0};
    struct pg_step steps[HALVES][STEPS];
    size_t half = count / HALVES;
    for (size_t i = 0; i < HALVES; i++) {
        struct preview_query part = *query;
        part.ids = i == 0 ? ids : ids + half;
        part.count = i == 0 ? half : count - half;
        query_params(store, &part, CHOSEN_BY_LOOKUP, &params[i]);
        param_ids(&params[i], ids, count);
        steps[i][0] = (struct pg_step){.sql = settings_of_many};
        steps[i][1] =
            (struct pg_step){.sql = overtaken_by_lookup_sql, .params = &params[i], .whole = &answers[i]};
    }
    bool ok = preview_rows_ask(query->rows, store, steps[0], steps[1], STEPS, err);
    for (size_t i = 0; i < HALVES; i++) {
        if (ok)
            add_overtaken(answers[i], preview);
        PQclear(answers[i]);
        params_release(&params[i]);
    }
    return ok;
}

static bool
preview_overtaken(struct store *store, const struct preview_query *query, struct preview *preview,
                  struct err *err)
{
    const int64_t *crowded;
    size_t count;
    preview->overtaken.events = preview->overtaken.resolved = 0;
    if (query->rows && preview_rows_overtaken(query->rows, &preview->overtaken, &crowded, &count))
        return count == 0 || overtaken_of_rows(store, query, crowded, count, preview, err);
    enum chosen chosen = chosen_of(query);
    const char *sql = query->count <= PREVIEW_MANY                   ? overtaken_of_few_sql
                      : chosen != CHOSEN_BY_LOOKUP && is_most(query) ? overtaken_of_most_sql[chosen]
                                                                     : overtaken_of_many_sql[chosen];
    PGresult *r = NULL;
    if (!ask_one(store, query, chosen, many_settings(query, settings_of_many), sql, &r, err))
        return false;
    add_overtaken(r, preview);
    PQclear(r);
    return true;
}

// Of events that share their event id: those that are one record as well are skipped.
static bool
preview_repeated(struct store *store, const struct preview_query *query, struct arena *arena,
                 struct preview *preview, struct err *err)
{
    struct params params = {0};
    query_params(store, query, CHOSEN_BY_IDS, &params);
    PGresult *r = NULL;
    if (!pg_ask(store, FOR_SCANNING, repeated_sql, &params, &r, err))
        return false;
    size_t rows = (size_t)PQntuples(r), count = 0;
    struct preview_source *sources =
        arena_array(arena, preview->source_count + rows, sizeof *preview->sources);
    if (preview->source_count)
        memcpy(sources, preview->sources, preview->source_count * sizeof *sources);
    preview->sources = sources;
    add_sources(preview, arena, r, -1, false);
    for (size_t i = 0; i < rows; i++)
        count += value_bytes(r, (int)i, 5).len / 8;
    preview->repeated_ids = arena_array(arena, count + 1, sizeof *preview->repeated_ids);
    for (size_t i = 0; i < rows; i++) {
        struct bytes ids = value_bytes(r, (int)i, 5);
        for (size_t k = 0; k < ids.len / 8; k++)
            preview->repeated_ids[preview->repeated++] = pg_read64(ids.data + 8 * k);
    }
    (void)ids_normalise(preview->repeated_ids, count);
    preview->open -= preview->repeated;
    PQclear(r);
    return true;
}

// How many events share their event id with another of them, and which: heap.
static bool
find_doubled(struct store *store, const struct preview_query *query, int64_t **ids, size_t *count,
             struct err *err)
{
    enum chosen chosen = chosen_of(query);
    PGresult *r = NULL;
    assert(chosen != CHOSEN_BY_LOOKUP);
    if (!ask_one(store, query, chosen, many_settings(query, settings_of_sorting), doubled_sql[chosen], &r,
                 err))
        return false;
    struct bytes all = value_bytes(r, 0, 0);
    *count = all.len / 8;
    *ids = alloc_array(*count + 1, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = pg_read64(all.data + 8 * i);
    PQclear(r);
    *count = ids_normalise(*ids, *count);
    return true;
}

static bool
preview_doubled(struct store *store, const struct preview_query *query, struct arena *arena,
                struct preview *preview, struct err *err)
{
    struct preview_query doubled = *query;
    int64_t *found = NULL;
    doubled.rows = NULL;
    if (query->rows)
        preview_rows_doubled(query->rows, &doubled.ids, &doubled.count);
    else if (!find_doubled(store, query, &found, &doubled.count, err))
        return false;
    if (found)
        doubled.ids = found;
    preview->doubled = (int64_t)doubled.count;
    bool ok = doubled.count == 0 || preview_repeated(store, &doubled, arena, preview, err);
    free(found);
    return ok;
}

// The parameters from $7 on.
static void
large_params(const struct preview_query *query, const struct preview_large *large,
             const struct preview_sized *sized, size_t count, struct params *params)
{
    param_int8(params, large->larger);
    if (!query->rows) {
        param_texts(params, large->topics, large->topic_count);
        param_bool(params, large->has_none);
        return;
    }
    int64_t *ids = alloc_array(count + 1, sizeof *ids), *sizes = alloc_array(count + 1, sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        ids[i] = sized[i].id;
        sizes[i] = sized[i].size;
    }
    param_ids(params, ids, count);
    param_ids(params, sizes, count);
    free(ids);
    free(sizes);
}

static bool
ask_large(struct store *store, const struct preview_query *query, const struct preview_large *large,
          const struct preview_sized *sized, size_t sized_count, PGresult **r, struct err *err)
{
    enum chosen chosen = chosen_of(query);
    struct params params = {0};
    query_params(store, query, chosen, &params);
    large_params(query, large, sized, sized_count, &params);
    struct pg_step steps[] = {{.sql = settings_of_many},
                              {.sql = large_sql[chosen], .params = &params, .whole = r}};
    bool is_many = query->count > PREVIEW_MANY;
    bool ok = pg_run(store, FOR_SCANNING, steps + !is_many, 1 + (size_t)is_many, err);
    params_release(&params);
    return ok;
}

static int
by_size(const void *left, const void *right)
{
    const struct preview_sized *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

// Of rows that have nothing beside them, nothing has to be asked.
static bool
rows_stand_alone(struct store *store, const struct preview_query *query, bool *is_alone, struct err *err)
{
    struct preview_beside beside;
    *is_alone = false;
    if (!query->rows)
        return true;
    if (!look_before(store, query, &beside, err))
        return false;
    *is_alone = !beside.has_live && !beside.has_revisions && !beside.has_records && !beside.has_originals;
    return true;
}

// Cut at the most that are answered; *all: how many there are.
static void
take_sized(struct preview_sized *sized, size_t *all, struct arena *arena, int64_t **ids, size_t *count)
{
    if (*all)
        qsort(sized, *all, sizeof *sized, by_size);
    *count = *all < LARGE_MOST ? *all : LARGE_MOST;
    *ids = arena_array(arena, *count + 1, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = sized[i].id;
}

static void
take_large(const PGresult *r, size_t *all, struct arena *arena, int64_t **ids, size_t *count)
{
    *count = (size_t)PQntuples(r);
    *ids = arena_array(arena, *count + 1, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = value_int8(r, (int)i, 0);
    *all = *count ? (size_t)value_int8(r, 0, 1) : 0;
}

bool
operation_large(struct store *store, const struct preview_query *query, const struct preview_large *large,
                struct arena *arena, int64_t **ids, size_t *count, int64_t *more, struct err *err)
{
    PGresult *r = NULL;
    struct preview_sized *sized = NULL;
    size_t all = 0;
    bool is_alone;
    if (!pg_has_schema(store, err) || !rows_stand_alone(store, query, &is_alone, err))
        return false;
    if (query->rows)
        preview_rows_large(query->rows, large, &sized, &all);
    bool ok = is_alone || ask_large(store, query, large, sized, all, &r, err);
    if (ok && is_alone)
        take_sized(sized, &all, arena, ids, count);
    else if (ok)
        take_large(r, &all, arena, ids, count);
    *more = ok && all > LARGE_MOST ? (int64_t)(all - LARGE_MOST) : 0;
    free(sized);
    PQclear(r);
    return ok;
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
    if (!pg_has_schema(store, err))
        return false;
    bool ok = true;
    switch (part) {
    case PREVIEW_COUNTS:
        ok = preview_counts(store, query, arena, preview, err);
        break;
    case PREVIEW_OVERTAKEN:
        ok = preview_overtaken(store, query, preview, err);
        break;
    case PREVIEW_DOUBLED:
        ok = preview_doubled(store, query, arena, preview, err);
        break;
    case PREVIEW_REFUSED: // src/publish/forecast.h
    case PREVIEW_PARTS:
        break;
    }
    if (ok)
        preview->known |= 1u << part;
    return ok;
}

bool
operation_quarantined(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                      struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    const struct preview_query query = {.action = ACTION_REPROCESS, .ids = ids, .count = count};
    PGresult *r = NULL;
    if (!pg_has_schema(store, err) ||
        !ask_one(store, &query, chosen_of(&query), many_settings(&query, settings_of_many),
                 quarantined_sql[chosen_of(&query)], &r, err))
        return false;
    read_quarantined(value_bytes(r, 0, 0), arena, preview);
    PQclear(r);
    return true;
}
