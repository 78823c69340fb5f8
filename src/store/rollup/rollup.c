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
    " (SELECT count(*) FROM redrive.rollup_due)"
    " + (SELECT coalesce(sum(o.returned), 0)::int8 FROM redrive.operation o WHERE o.no > (SELECT max(no) "
    "FROM "
    "redrive.operation) - 50),"
    " (SELECT coalesce(sum(n), 0)::int8 FROM "
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

// Memory for two hundred thousand series. Their rows are counted sooner than workers for them are started.
static const char room_sql[] = "SELECT pg_catalog.set_config('work_mem', '64MB', true),"
                               " pg_catalog.set_config('max_parallel_workers_per_gather', '0', true)";

static const char retries_sql[] = WITH_CLOSED
    ", counts AS (SELECT series, retries, sum(n)::int8 AS n FROM (SELECT * FROM redrive.rollup_total"
    "  UNION ALL SELECT series, retries, -1::int8 FROM closed) s GROUP BY series, retries)"
    " SELECT c.no, c.group_key, c.event_type, c.source_table, c.topic, s.retries::int4, s.n"
    " FROM counts s JOIN redrive.rollup_series c ON c.no = s.series WHERE s.n > 0 ORDER BY c.no";

// The first and last time of each series, from the index of counted events and from the batches that are not
// in that index yet.
static const char bounds_sql[] =
    "SELECT c.no, first.created, last.created, last.dlq_id FROM redrive.rollup_series c"
    " LEFT JOIN LATERAL (SELECT b.created FROM redrive.rollup_event b WHERE b.series = c.no AND b.created > 0"
    "  ORDER BY b.created, b.dlq_id LIMIT 1) first ON true"
    " JOIN LATERAL (SELECT b.created, b.dlq_id FROM redrive.rollup_event b WHERE b.series = c.no"
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
static const char seen_sql[] = "SELECT s.group_key, s.first_at FROM redrive.rollup_seen s"
                               " WHERE s.group_key IN (SELECT c.group_key FROM redrive.rollup_series c)";
static const char returned_sql[] =
    "SELECT b.series, count(*) FROM redrive.returned k JOIN redrive.rollup_event b ON b.dlq_id = k.dlq_id"
    " GROUP BY b.series";

// A rollup that is being read, row by row: whole results of two hundred thousand series would take three
// times the memory of what is made of them.
struct reading {
    struct backlog_rollup rollup;
    int32_t *numbers; // of the series in the database, ascending
    size_t series_capacity, number_capacity, retry_capacity, hour_capacity, bucket_capacity;
    struct intern types, sources, topics; // the texts of the series
    struct backlog *backlog;
    bool is_handed_over; // to the backlog
};

static void
reading_release(struct reading *reading)
{
    free(reading->rollup.series);
    free(reading->rollup.retries);
    free(reading->rollup.hours);
    free(reading->rollup.buckets);
    free(reading->numbers);
    intern_release(&reading->types);
    intern_release(&reading->sources);
    intern_release(&reading->topics);
}

// The index of a series by its number in the database.
static int64_t
series_index(const struct reading *reading, int32_t number)
{
    size_t low = 0;
    size_t high = reading->rollup.series_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->numbers[middle] == number)
            return (int64_t)middle;
        if (reading->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static struct bytes
known_text(struct intern *texts, struct bytes text)
{
    return text.len ? bytes_of(intern_text(texts, intern_number(texts, text))) : BYTES_ABSENT;
}

static void
add_series(struct reading *reading, int32_t number, const PGresult *row)
{
    struct backlog_rollup *rollup = &reading->rollup;
    size_t i = rollup->series_count++;
    rollup->series = alloc_grow(rollup->series, i, &reading->series_capacity, sizeof *rollup->series);
    reading->numbers = alloc_grow(reading->numbers, i, &reading->number_capacity, sizeof *reading->numbers);
    reading->numbers[i] = number;
    rollup->series[i] = (struct backlog_series){
        .group = (uint64_t)value_int8(row, 0, 1),
        .event_type = known_text(&reading->types, value_bytes(row, 0, 2)),
        .source_table = known_text(&reading->sources, value_bytes(row, 0, 3)),
        .topic = known_text(&reading->topics, value_bytes(row, 0, 4)),
        .first_at = TIME_ABSENT,
        .last_at = TIME_ABSENT,
    };
}

static bool
read_retries(void *context, const PGresult *row)
{
    struct reading *reading = context;
    struct backlog_rollup *rollup = &reading->rollup;
    int32_t number = value_int4(row, 0, 0);
    if (rollup->series_count == 0 || reading->numbers[rollup->series_count - 1] != number)
        add_series(reading, number, row);
    rollup->retries =
        alloc_grow(rollup->retries, rollup->retry_count, &reading->retry_capacity, sizeof *rollup->retries);
    rollup->retries[rollup->retry_count++] =
        (struct rollup_count){.series = (uint32_t)rollup->series_count - 1,
                              .at = value_int4(row, 0, 5),
                              .count = value_int8(row, 0, 6)};
    return true;
}

static int64_t
instant_seconds(const PGresult *row, int column)
{
    int32_t created = value_int4(row, 0, column);
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

static bool
read_bounds(void *context, const PGresult *row)
{
    struct reading *reading = context;
    int64_t at = series_index(reading, value_int4(row, 0, 0));
    if (at >= 0)
        take_bounds(&reading->rollup.series[at], instant_seconds(row, 1), instant_seconds(row, 2),
                    value_int8(row, 0, 3));
    return true;
}

static bool
read_returned(void *context, const PGresult *row)
{
    struct reading *reading = context;
    int64_t at = series_index(reading, value_int4(row, 0, 0));
    if (at >= 0)
        reading->rollup.series[at].returned = value_int8(row, 0, 1);
    return true;
}

// A count by a time. The offset turns it into a time since 1970; 0 stays absent.
static bool
read_time(const struct reading *reading, const PGresult *row, int64_t offset, struct rollup_count *count)
{
    int64_t series = series_index(reading, value_int4(row, 0, 0));
    int32_t at = value_int4(row, 0, 1);
    if (series < 0)
        return false;
    *count = (struct rollup_count){
        .series = (uint32_t)series, .at = at ? (int32_t)(at + offset) : 0, .count = value_int8(row, 0, 2)};
    return true;
}

static bool
read_hours(void *context, const PGresult *row)
{
    struct reading *reading = context;
    struct backlog_rollup *rollup = &reading->rollup;
    rollup->hours =
        alloc_grow(rollup->hours, rollup->hour_count, &reading->hour_capacity, sizeof *rollup->hours);
    rollup->hour_count += read_time(reading, row, EPOCH_2000 / 3600, &rollup->hours[rollup->hour_count]);
    return true;
}

static bool
read_buckets(void *context, const PGresult *row)
{
    struct reading *reading = context;
    struct backlog_rollup *rollup = &reading->rollup;
    rollup->buckets =
        alloc_grow(rollup->buckets, rollup->bucket_count, &reading->bucket_capacity, sizeof *rollup->buckets);
    rollup->bucket_count +=
        read_time(reading, row, EPOCH_2000 / BUCKET_SECONDS, &rollup->buckets[rollup->bucket_count]);
    return true;
}

static bool
read_highest(void *context, const PGresult *row)
{
    struct reading *reading = context;
    reading->rollup.highest_id = value_int8(row, 0, 0);
    return true;
}

// The counts were read: from here on the backlog knows the groups.
static void
hand_over(struct reading *reading)
{
    if (!reading->is_handed_over)
        backlog_adopt_rollup(reading->backlog, &reading->rollup);
    reading->is_handed_over = true;
}

static bool
read_emptied(void *context, const PGresult *row)
{
    struct reading *reading = context;
    uint64_t low, high;
    hand_over(reading);
    if (group_parse(value_bytes(row, 0, 0), &low, &high) && low == high)
        backlog_emptied(reading->backlog, low, value_time(row, 0, 1));
    return true;
}

static bool
read_outcomes(void *context, const PGresult *row)
{
    struct reading *reading = context;
    hand_over(reading);
    backlog_outcomes(reading->backlog, (uint64_t)value_int8(row, 0, 0),
                     &(struct group_outcomes){.resolved = value_int8(row, 0, 1),
                                              .discarded = value_int8(row, 0, 2),
                                              .reprocessed = value_int8(row, 0, 3),
                                              .since = value_time(row, 0, 4)});
    return true;
}

static bool
read_seen(void *context, const PGresult *row)
{
    struct reading *reading = context;
    hand_over(reading);
    backlog_seen(reading->backlog, (uint64_t)value_int8(row, 0, 0), instant_seconds(row, 1));
    return true;
}

struct describing {
    const struct store *store;
    struct backlog *backlog;
    struct arena arena; // of one row
};

static bool
read_text(void *context, const PGresult *row)
{
    struct describing *describing = context;
    struct arena *arena = &describing->arena;
    struct group_text text = {
        .error_class = value_text(row, 0, 1, arena),
        .pattern = value_text(row, 0, 2, arena),
        .sample = value_text(row, 0, 3, arena),
        .frame = value_text(row, 0, 4, arena),
        .has_category = true,
    };
    uint64_t key = (uint64_t)value_int8(row, 0, 0);
    text.category = store_category(describing->store, key, value_bytes(row, 0, 1), value_bytes(row, 0, 2),
                                   &text.is_overridden);
    backlog_describe(describing->backlog, key, &text);
    arena_reset(arena);
    return true;
}

bool
rollup_describe(struct store *store, struct backlog *backlog, const uint64_t *keys, size_t count,
                struct err *err)
{
    struct describing describing = {.store = store, .backlog = backlog};
    struct params params = {0};
    param_ids(&params, (const int64_t *)keys, count);
    bool ok = pg_stream(
        store, FOR_READING,
        "SELECT key, error_class, pattern, sample, frame FROM redrive.rollup_group WHERE key = ANY ($1)",
        &params, read_text, &describing, err);
    arena_release(&describing.arena);
    return ok;
}

// Describes the groups that are new to the backlog.
static bool
describe_new(struct store *store, struct backlog *backlog, struct err *err)
{
    enum { AT_ONCE = 5000 };
    uint64_t *keys = alloc_array(AT_ONCE, sizeof *keys);
    size_t cursor = 0;
    size_t count = AT_ONCE;
    bool ok = true;
    while (ok && count == AT_ONCE) {
        int64_t sample;
        for (count = 0; count < AT_ONCE && backlog_undescribed(backlog, &cursor, &keys[count], &sample);)
            count++;
        ok = count == 0 || rollup_describe(store, backlog, keys, count, err);
    }
    free(keys);
    return ok;
}

bool
rollup_read(struct store *store, struct backlog *backlog, bool all_hours, struct err *err)
{
    struct reading reading = {.backlog = backlog};
    struct params hours = {0}, buckets = {0};
    // Series first, because the others name them; what belongs to groups last.
    struct pg_step steps[] = {{.sql = room_sql},
                              {.sql = retries_sql, .each = read_retries},
                              {.sql = bounds_sql, .each = read_bounds},
                              {.sql = returned_sql, .each = read_returned},
                              {.sql = hours_sql, .params = &hours, .each = read_hours},
                              {.sql = buckets_sql, .params = &buckets, .each = read_buckets},
                              {.sql = highest_sql, .each = read_highest},
                              {.sql = emptied_sql, .each = read_emptied},
                              {.sql = outcomes_sql, .each = read_outcomes},
                              {.sql = seen_sql, .each = read_seen}};
    size_t count = sizeof steps / sizeof *steps;
    for (size_t i = 0; i < count; i++)
        steps[i].context = &reading;
    int64_t now = clock_now() / US_PER_SECOND - EPOCH_2000;
    param_int4(&hours, all_hours ? 0 : (int32_t)(now / 3600 - GROUP_HEAT));
    param_int4(&buckets, (int32_t)((now - 3600) / BUCKET_SECONDS));
    bool ok = pg_has_schema(store, err) && pg_run(store, FOR_READING, steps, count, err);
    params_release(&hours);
    params_release(&buckets);
    if (ok)
        hand_over(&reading);
    reading_release(&reading);
    return ok && describe_new(store, backlog, err);
}
