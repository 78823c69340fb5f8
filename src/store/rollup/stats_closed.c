#include "store/rollup/stats_closed.h"

#include "base/clock.h"
#include "store/pg.h"

// As in stats.c: pages are read in order, which the planner takes for four times as dear. It also takes each
// event for a group of its own, which no other process of the server would be worth asking for.
static const char settings_sql[] = "SELECT pg_catalog.set_config('work_mem', '64MB', true),"
                                   " pg_catalog.set_config('random_page_cost', '1.1', true),"
                                   " pg_catalog.set_config('parallel_tuple_cost', '0', true)";

// $1: the zone of the table; $2: the end, seconds since 1970.
static const char hours_sql[] =
    "SELECT h.hour AT TIME ZONE $1"
    " FROM (SELECT date_trunc('hour', to_timestamp($2) AT TIME ZONE $1) AS now) AS bounds,"
    " generate_series(bounds.now - interval '167 hours', bounds.now, interval '1 hour') AS h (hour)"
    " ORDER BY h.hour";

// $2, $3: the bounds, seconds since 1970, without which closed events would be passed over one by one.
static const char bounds_sql[] =
    "SELECT (SELECT e.created_at FROM :\"events\" e WHERE e.status = 'PENDING'"
    "  AND e.created_at >= to_timestamp($2::int8) AT TIME ZONE $1 ORDER BY e.created_at LIMIT 1)"
    " ::timestamp AT TIME ZONE $1,"
    " (SELECT e.created_at FROM :\"events\" e WHERE e.status = 'PENDING'"
    "  AND e.created_at < to_timestamp($3::int8) AT TIME ZONE $1 + interval '1 second'"
    "  ORDER BY e.created_at DESC LIMIT 1)::timestamp AT TIME ZONE $1";

// From where on hours are counted. $2: as above.
#define SINCE "date_trunc('hour', to_timestamp($2) AT TIME ZONE $1) - interval '167 hours'"
// In order, so that times are added up to the same number however rows were found.
#define SUMS(from)                                                                                           \
    "SELECT c.type, c.hour AT TIME ZONE $1, c.status, c.n, c.timed,"                                         \
    " coalesce(extract(epoch FROM c.taken), 0)::float8, " from " ORDER BY c.type, c.status, c.hour"

// IS NULL has a branch of its own, so that the index on the status finds each of the three.
static const char closed_sql[] = SUMS(
    "true, false FROM (SELECT e.event_type::text AS type, e.status::text AS status,"
    "  CASE WHEN e.created_at >= b.since THEN date_trunc('hour', e.created_at::timestamp) END AS hour,"
    "  count(*) AS n, count(e.resolved_at - e.created_at) AS timed, sum(e.resolved_at - e.created_at) AS "
    "taken"
    " FROM (SELECT " SINCE " AS since) AS b,"
    "  :\"events\" e WHERE e.status < 'PENDING' OR e.status > 'PENDING' OR e.status IS NULL GROUP BY 1, 2, 3)"
    " AS c");

// The same out of sums that are kept, or that the statement makes. One row without a count: there are none.
#define SUMS_OF(answer, is_known, may_sum)                                                                   \
    SUMS(                                                                                                    \
        is_known                                                                                             \
        ", " may_sum " FROM (SELECT k.is_known, k.may_sum, w.type, w.status,"                                \
        "  CASE WHEN w.hour >= k.since THEN w.hour END AS hour, sum(w.n)::int8 AS n, sum(w.timed)::int8 AS " \
        "timed, sum(w.taken) AS taken FROM " answer " AS k LEFT JOIN LATERAL unnest(k.types, k.hours,"       \
        "   k.statuses, k.counts, k.timed, k.taken) AS w (type, hour, status, n, timed, taken) ON true"      \
        "  GROUP BY 1, 2, 3, 4, 5) AS c")
static const char kept_sql[] =
    SUMS_OF("(SELECT b.since, s.* FROM (SELECT " SINCE " AS since) AS b, redrive.closed_sums(b.since) AS s)",
            "c.is_known", "c.may_sum");
static const char sum_sql[] =
    SUMS_OF("(SELECT b.since, true AS is_known, false AS may_sum, s.* FROM (SELECT " SINCE " AS since) AS b,"
            " redrive.rollup_sum_closed(b.since) AS s)",
            "true", "false");

enum { COUNT = 3, IS_KNOWN = 6, MAY_SUM = 7 }; // columns that are not only read in their order

static struct stats_closed_row
read_row(const PGresult *r, int row, struct arena *arena)
{
    struct bytes status = value_bytes(r, row, 2);
    bool is_resolved = bytes_equal_text(status, "RESOLVED");
    bool is_discarded = bytes_equal_text(status, "DISCARDED");
    int64_t count = value_int8(r, row, COUNT);
    return (struct stats_closed_row){.event_type = value_text(r, row, 0, arena),
                                     .hour = value_time(r, row, 1),
                                     .resolved = is_resolved ? count : 0,
                                     .discarded = is_discarded ? count : 0,
                                     .other = !is_resolved && !is_discarded ? count : 0,
                                     .timed = is_resolved ? value_int8(r, row, 4) : 0,
                                     .seconds = is_resolved ? value_double(r, row, 5) : 0};
}

static void
read_rows(const PGresult *r, struct arena *arena, struct stats_closed *closed)
{
    closed->rows = arena_array(arena, (size_t)PQntuples(r) + 1, sizeof *closed->rows);
    for (int i = 0; i < PQntuples(r); i++)
        if (!value_is_null(r, i, COUNT))
            closed->rows[closed->count++] = read_row(r, i, arena);
}

static void
read_hours(const PGresult *r, struct arena *arena, struct stats_closed *closed)
{
    closed->hour_count = (size_t)PQntuples(r);
    closed->hours = arena_array(arena, closed->hour_count + 1, sizeof *closed->hours);
    for (int i = 0; i < PQntuples(r); i++)
        closed->hours[i] = value_time(r, i, 0);
}

static void
param_second(struct params *params, int64_t instant)
{
    if (instant == TIME_ABSENT)
        param_null(params);
    else
        param_int8(params, instant / US_PER_SECOND);
}

struct question {
    enum purpose purpose;
    const char *sql;
};

static bool
ask(struct store *store, struct question question, struct params *week, PGresult **answer, struct err *err)
{
    struct pg_step steps[] = {{.sql = settings_sql}, {.sql = question.sql, .params = week, .whole = answer}};
    return pg_run(store, question.purpose, steps, sizeof steps / sizeof *steps, err);
}

// Sums that somebody left, or such as the next one may take; *answer NULL: neither. What fails here is told
// by the statement that reads the events, but for a reader who wants no more.
static bool
ask_sums(struct store *store, struct params *week, PGresult **answer, struct err *err)
{
    static const struct question kept = {FOR_SCANNING, kept_sql};
    static const struct question made = {FOR_LOOKING, sum_sql};
    struct err failure = {0};
    *answer = NULL;
    if (store_info(store)->schema_version == 0)
        return true;
    if (ask(store, kept, week, answer, &failure) && !value_bool(*answer, 0, IS_KNOWN)) {
        bool may_sum = value_bool(*answer, 0, MAY_SUM) && !store->is_read_only;
        PQclear(*answer);
        *answer = NULL;
        if (may_sum)
            (void)!ask(store, made, week, answer, &failure);
    }
    bool is_cancelled = failure.kind == ERR_CANCELLED;
    if (is_cancelled && err)
        *err = failure;
    return !is_cancelled;
}

bool
stats_closed_read(struct store *store, struct arena *arena, struct stats_closed *closed, struct err *err)
{
    static const struct question counted = {FOR_SCANNING, closed_sql}, week_hours = {FOR_SCANNING, hours_sql};
    PGresult *hours = NULL, *rows = NULL;
    struct params week = {0};
    *closed = (struct stats_closed){0};
    param_text(&week, store->zone);
    int64_t second = clock_now() / US_PER_SECOND;
    param_double(&week, (double)second);
    bool ok = ask(store, week_hours, &week, &hours, err) && ask_sums(store, &week, &rows, err) &&
              (rows || ask(store, counted, &week, &rows, err));
    params_release(&week);
    if (ok) {
        read_hours(hours, arena, closed);
        read_rows(rows, arena, closed);
    }
    PQclear(hours);
    PQclear(rows);
    return ok;
}

bool
stats_bounds_read(struct store *store, int64_t first_at, int64_t last_at, int64_t *oldest_at,
                  int64_t *newest_at, struct err *err)
{
    struct params params = {0};
    param_text(&params, store->zone);
    param_second(&params, first_at);
    param_second(&params, last_at);
    PGresult *r = NULL;
    struct pg_step steps[] = {{.sql = settings_sql}, {.sql = bounds_sql, .params = &params, .whole = &r}};
    bool ok = pg_run(store, FOR_SCANNING, steps, sizeof steps / sizeof *steps, err);
    params_release(&params);
    *oldest_at = ok ? value_time(r, 0, 0) : TIME_ABSENT;
    *newest_at = ok ? value_time(r, 0, 1) : TIME_ABSENT;
    PQclear(r);
    return ok;
}
