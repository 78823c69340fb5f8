// The calls of readers (rollup.h), except lists, which are in list.c.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/fingerprint/rules.h"
#include "base/intern.h"
#include "store/rollup/categories.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL

static const char state_sql[] =
    "SELECT s.version, s.zone, s.low > -9223372036854775808, s.lease_until > pg_catalog.clock_timestamp(), "
    "s.behind, "
    "s.exact_at, s.changed,"
    " (SELECT count(*) FROM redrive.rollup_due), (SELECT coalesce(sum(n), 0)::int8 FROM "
    "redrive.rollup_total),"
    " pg_catalog.clock_timestamp(), one.may, s.high, EXISTS (SELECT FROM redrive.rollup_batch)"
    " FROM (SELECT pg_catalog.has_function_privilege('redrive.rollup_acquire(text,integer,text,integer)', "
    "'EXECUTE') "
    "AS may) one"
    " LEFT JOIN redrive.rollup_state s ON true";

bool
rollup_state(struct store *store, struct rollup_state *state, struct err *err)
{
    *state = (struct rollup_state){.exact_at = TIME_ABSENT, .as_of = TIME_ABSENT};
    PGresult *r;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING, state_sql, NULL, &r, err))
        return false;
    struct bytes zone = value_bytes(r, 0, 1);
    *state = (struct rollup_state){
        .exists = !value_is_null(r, 0, 0),
        .highest = value_int8(r, 0, 11),
        .is_ours = value_int4(r, 0, 0) == group_rules_number(store->group_rules) &&
                   bytes_equal_text(zone, store->zone),
        .is_counting = value_bool(r, 0, 2),
        .is_listing = value_bool(r, 0, 12) && !value_bool(r, 0, 2),
        .is_kept = value_bool(r, 0, 3),
        .behind = value_int8(r, 0, 4),
        .exact_at = value_time(r, 0, 5),
        .token =
            (uint64_t)value_int8(r, 0, 6) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)value_int8(r, 0, 7) + 1,
        .counted = value_int8(r, 0, 8),
        .as_of = value_time(r, 0, 9),
        .may_keep = value_bool(r, 0, 10) && !store->is_read_only,
    };
    PQclear(r);
    return true;
}

// Events that redrive closed itself, and that the maintainer has not looked at yet, are subtracted here.
#define WITH_CLOSED                                                                                          \
    "WITH due AS (SELECT DISTINCT w.id FROM redrive.rollup_due, unnest(dlq_ids) AS w (id)),"                 \
    " closed AS (SELECT b.series, b.retries, b.created FROM due JOIN redrive.rollup_event b ON b.dlq_id = "  \
    "due.id"                                                                                                 \
    "  LEFT JOIN LATERAL (SELECT x.status FROM :\"events\" x WHERE x.id = due.id LIMIT 1) e ON true"         \
    "  WHERE e.status IS DISTINCT FROM 'PENDING')"

static const char retries_sql[] = WITH_CLOSED
    ", counts AS (SELECT series, retries, sum(n)::int8 AS n FROM (SELECT * FROM redrive.rollup_total"
    "  UNION ALL SELECT series, retries, -1::int8 FROM closed) s GROUP BY series, retries)"
    " SELECT c.no, c.group_key, c.event_type, c.source_table, c.topic, s.retries::int4, s.n"
    " FROM counts s JOIN redrive.rollup_series c ON c.no = s.series WHERE s.n > 0 ORDER BY c.no";

// The first and last time of each series, from the index of counted events and from the batches that are not
// in that index yet.
static const char bounds_sql[] =
    "SELECT c.series, first.created, last.created, last.dlq_id FROM (SELECT DISTINCT series FROM "
    "redrive.rollup_total) c"
    " LEFT JOIN LATERAL (SELECT b.created FROM redrive.rollup_event b WHERE b.series = c.series AND "
    "b.created > "
    "0"
    "  ORDER BY b.created, b.dlq_id LIMIT 1) first ON true"
    " JOIN LATERAL (SELECT b.created, b.dlq_id FROM redrive.rollup_event b WHERE b.series = c.series"
    "  ORDER BY b.created DESC, b.dlq_id DESC LIMIT 1) last ON true"
    " UNION ALL SELECT b.* FROM redrive.rollup_batch s, unnest(s.bounded, s.first, s.last, s.newest) AS b";

static const char hours_sql[] = WITH_CLOSED
    " SELECT series, hour, sum(n)::int8 FROM (SELECT * FROM redrive.rollup_hour WHERE hour >= $1"
    "  UNION ALL SELECT series, created / 3600, -1::int8 FROM closed WHERE created / 3600 >= $1) s"
    " GROUP BY series, hour HAVING sum(n) > 0";
static const char highest_sql[] = "SELECT high FROM redrive.rollup_state";
static const char buckets_sql[] = WITH_CLOSED
    " SELECT series, bucket, sum(n)::int8 FROM (SELECT * FROM redrive.rollup_bucket WHERE bucket >= $1"
    "  UNION ALL SELECT series, created / 10, -1::int8 FROM closed WHERE created / 10 >= $1) s"
    " GROUP BY series, bucket HAVING sum(n) > 0";
static const char emptied_sql[] =
    "SELECT group_key, max(finished_at) FROM redrive.operation WHERE state = 'done' AND group_key IS NOT NULL"
    " AND action IN ('reprocess', 'resolve', 'discard') GROUP BY group_key";

// Outcomes since the rollup knows the group.
static const char outcomes_sql[] =
    "SELECT o.group_key, coalesce(sum(o.n) FILTER (WHERE o.outcome = 'resolved'), 0)::int8,"
    " coalesce(sum(o.n) FILTER (WHERE o.outcome = 'discarded'), 0)::int8,"
    " coalesce(sum(o.n) FILTER (WHERE o.outcome = 'reprocessed'), 0)::int8,"
    " least(min(g.known_at), min(o.since))"
    " FROM redrive.rollup_outcome o JOIN redrive.rollup_group g ON g.key = o.group_key"
    " GROUP BY o.group_key";
static const char returned_sql[] =
    "SELECT b.series, count(*) FROM redrive.returned k JOIN redrive.rollup_event b ON b.dlq_id = k.dlq_id"
    " GROUP BY b.series";

enum { RETRIES, BOUNDS, HOURS, BUCKETS, EMPTIED, HIGHEST, OUTCOMES, RETURNED, QUERIES };

// The index of a series by its number in the database; the numbers ascend.
static int64_t
series_index(const struct backlog_rollup *rollup, const int32_t *numbers, int32_t number)
{
    size_t low = 0;
    size_t high = rollup->series_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] == number)
            return (int64_t)middle;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int32_t *
read_series(const PGresult *r, struct backlog_rollup *rollup)
{
    size_t rows = (size_t)PQntuples(r);
    int32_t *numbers = alloc_array(rows, sizeof *numbers);
    rollup->series = alloc_array(rows, sizeof *rollup->series);
    rollup->retries = alloc_array(rows, sizeof *rollup->retries);
    for (int i = 0; i < (int)rows; i++) {
        int32_t number = value_int4(r, i, 0);
        if (rollup->series_count == 0 || numbers[rollup->series_count - 1] != number) {
            numbers[rollup->series_count] = number;
            rollup->series[rollup->series_count++] = (struct backlog_series){
                .group = (uint64_t)value_int8(r, i, 1),
                .event_type = value_bytes(r, i, 2),
                .source_table = value_bytes(r, i, 3),
                .topic = value_bytes(r, i, 4),
                .first_at = TIME_ABSENT,
                .last_at = TIME_ABSENT,
            };
        }
        rollup->retries[rollup->retry_count++] =
            (struct rollup_count){.series = (uint32_t)rollup->series_count - 1,
                                  .at = value_int4(r, i, 5),
                                  .count = value_int8(r, i, 6)};
    }
    return numbers;
}

static int64_t
instant_seconds(const PGresult *r, int row, int column)
{
    int32_t created = value_int4(r, row, column);
    return created == 0 ? TIME_ABSENT : created + EPOCH_2000;
}

static void
take_bounds(struct backlog_series *series, int64_t first_at, int64_t last_at, int64_t newest_id)
{
    if (first_at != TIME_ABSENT && (series->first_at == TIME_ABSENT || first_at < series->first_at))
        series->first_at = first_at;
    bool is_later = series->last_at == TIME_ABSENT || last_at > series->last_at ||
                    (last_at == series->last_at && newest_id > series->newest_id);
    if (series->newest_id && (last_at == TIME_ABSENT || !is_later))
        return;
    series->last_at = last_at;
    series->newest_id = newest_id;
}

static void
read_bounds(const PGresult *r, const int32_t *numbers, struct backlog_rollup *rollup)
{
    for (int i = 0; i < PQntuples(r); i++) {
        int64_t at = series_index(rollup, numbers, value_int4(r, i, 0));
        if (at >= 0)
            take_bounds(&rollup->series[at], instant_seconds(r, i, 1), instant_seconds(r, i, 2),
                        value_int8(r, i, 3));
    }
}

static void
read_returned(const PGresult *r, const int32_t *numbers, struct backlog_rollup *rollup)
{
    for (int i = 0; i < PQntuples(r); i++) {
        int64_t at = series_index(rollup, numbers, value_int4(r, i, 0));
        if (at >= 0)
            rollup->series[at].returned = value_int8(r, i, 1);
    }
}

// Counts by a time. The offset turns it into a time since 1970; 0 stays absent.
static struct rollup_count *
read_times(const PGresult *r, const int32_t *numbers, const struct backlog_rollup *rollup, int64_t offset,
           size_t *count)
{
    struct rollup_count *list = alloc_array((size_t)PQntuples(r), sizeof *list);
    *count = 0;
    for (int i = 0; i < PQntuples(r); i++) {
        int64_t series = series_index(rollup, numbers, value_int4(r, i, 0));
        int32_t at = value_int4(r, i, 1);
        if (series >= 0)
            list[(*count)++] = (struct rollup_count){.series = (uint32_t)series,
                                                     .at = at ? (int32_t)(at + offset) : 0,
                                                     .count = value_int8(r, i, 2)};
    }
    return list;
}

static void
read_emptied(const PGresult *r, struct backlog *backlog)
{
    for (int i = 0; i < PQntuples(r); i++) {
        uint64_t low, high;
        if (group_parse(value_bytes(r, i, 0), &low, &high) && low == high)
            backlog_emptied(backlog, low, value_time(r, i, 1));
    }
}

static void
read_outcomes(const PGresult *r, struct backlog *backlog)
{
    for (int i = 0; i < PQntuples(r); i++)
        backlog_outcomes(backlog, (uint64_t)value_int8(r, i, 0),
                         &(struct group_outcomes){.resolved = value_int8(r, i, 1),
                                                  .discarded = value_int8(r, i, 2),
                                                  .reprocessed = value_int8(r, i, 3),
                                                  .since = value_time(r, i, 4)});
}

static void
rollup_read_text(const struct store *store, const PGresult *r, int row, struct arena *arena,
                 struct backlog *backlog)
{
    struct group_text text = {
        .error_class = value_text(r, row, 1, arena),
        .pattern = value_text(r, row, 2, arena),
        .sample = value_text(r, row, 3, arena),
        .frame = value_text(r, row, 4, arena),
    };
    uint64_t key = (uint64_t)value_int8(r, row, 0);
    text.category =
        store_category(store, key, value_bytes(r, row, 1), value_bytes(r, row, 2), &text.is_overridden);
    text.has_category = true;
    backlog_describe(backlog, key, &text);
}

// Reads the descriptions of groups that the backlog does not have.
static bool
rollup_describe(struct store *store, struct backlog *backlog, struct err *err)
{
    enum { AT_ONCE = 5000 };
    int64_t *keys = alloc_array(AT_ONCE, sizeof *keys);
    size_t cursor = 0;
    size_t count = AT_ONCE;
    bool ok = true;
    while (ok && count == AT_ONCE) {
        uint64_t key;
        int64_t sample;
        for (count = 0; count < AT_ONCE && backlog_undescribed(backlog, &cursor, &key, &sample); count++)
            keys[count] = (int64_t)key;
        if (count == 0)
            break;
        struct params params = {0};
        param_ids(&params, keys, count);
        PGresult *r;
        ok = pg_ask(
            store, FOR_READING,
            "SELECT key, error_class, pattern, sample, frame FROM redrive.rollup_group WHERE key = ANY ($1)",
            &params, &r, err);
        struct arena arena = {0};
        for (int i = 0; ok && i < PQntuples(r); i++)
            rollup_read_text(store, r, i, &arena, backlog);
        arena_release(&arena);
        PQclear(r);
    }
    free(keys);
    return ok;
}

bool
rollup_read(struct store *store, struct backlog *backlog, bool all_hours, struct err *err)
{
    static const char *const sql[QUERIES] = {
        [RETRIES] = retries_sql,   [BOUNDS] = bounds_sql,    [HOURS] = hours_sql,
        [BUCKETS] = buckets_sql,   [EMPTIED] = emptied_sql,  [HIGHEST] = highest_sql,
        [OUTCOMES] = outcomes_sql, [RETURNED] = returned_sql};
    int64_t now = clock_now() / US_PER_SECOND - EPOCH_2000;
    struct params since[QUERIES] = {0};
    param_int4(&since[HOURS], all_hours ? 0 : (int32_t)(now / 3600 - GROUP_HEAT));
    param_int4(&since[BUCKETS], (int32_t)((now - 3600) / BUCKET_SECONDS));
    PGresult *results[QUERIES] = {0};
    struct pg_step steps[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        steps[i] = (struct pg_step){.sql = sql[i], .params = &since[i], .whole = &results[i]};
    bool ok = pg_has_schema(store, err) && pg_run(store, FOR_READING, steps, QUERIES, err);
    for (int i = 0; i < QUERIES; i++)
        params_release(&since[i]);
    if (!ok)
        return false;

    struct backlog_rollup rollup = {0};
    int32_t *numbers = read_series(results[RETRIES], &rollup);
    read_bounds(results[BOUNDS], numbers, &rollup);
    read_returned(results[RETURNED], numbers, &rollup);
    rollup.hours = read_times(results[HOURS], numbers, &rollup, EPOCH_2000 / 3600, &rollup.hour_count);
    rollup.buckets =
        read_times(results[BUCKETS], numbers, &rollup, EPOCH_2000 / BUCKET_SECONDS, &rollup.bucket_count);
    rollup.highest_id = PQntuples(results[HIGHEST]) ? value_int8(results[HIGHEST], 0, 0) : 0;
    backlog_adopt_rollup(backlog, &rollup);
    read_emptied(results[EMPTIED], backlog);
    read_outcomes(results[OUTCOMES], backlog);
    for (int i = 0; i < QUERIES; i++)
        PQclear(results[i]);
    free(numbers);
    return rollup_describe(store, backlog, err);
}
