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

// $2: as above. IS NULL has a branch of its own, so that the index on the status finds each of the three.
static const char closed_sql[] =
    "SELECT c.type, c.hour AT TIME ZONE $1, c.status, c.n, c.timed,"
    " coalesce(extract(epoch FROM c.taken), 0)::float8 FROM (SELECT e.event_type::text AS type,"
    "  e.status::text AS status,"
    "  CASE WHEN e.created_at >= b.since THEN date_trunc('hour', e.created_at::timestamp) END AS hour,"
    "  count(*) AS n, count(e.resolved_at - e.created_at) AS timed, sum(e.resolved_at - e.created_at) AS "
    "taken"
    " FROM (SELECT date_trunc('hour', to_timestamp($2) AT TIME ZONE $1) - interval '167 hours' AS since) AS "
    "b,"
    "  :\"events\" e WHERE e.status < 'PENDING' OR e.status > 'PENDING' OR e.status IS NULL GROUP BY 1, 2, 3)"
    " AS c";

static struct stats_closed_row
read_row(const PGresult *r, int row, struct arena *arena)
{
    struct bytes status = value_bytes(r, row, 2);
    bool is_resolved = bytes_equal_text(status, "RESOLVED");
    bool is_discarded = bytes_equal_text(status, "DISCARDED");
    int64_t count = value_int8(r, row, 3);
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
    closed->count = (size_t)PQntuples(r);
    closed->rows = arena_array(arena, closed->count + 1, sizeof *closed->rows);
    for (int i = 0; i < PQntuples(r); i++)
        closed->rows[i] = read_row(r, i, arena);
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

bool
stats_closed_read(struct store *store, struct arena *arena, struct stats_closed *closed, struct err *err)
{
    enum { SETTINGS, HOURS, CLOSED, QUERIES };
    PGresult *results[QUERIES] = {0};
    struct params week = {0};
    *closed = (struct stats_closed){0};
    param_text(&week, store->zone);
    int64_t second = clock_now() / US_PER_SECOND;
    param_double(&week, (double)second);
    struct pg_step steps[QUERIES] = {
        [SETTINGS] = {.sql = settings_sql, .whole = &results[SETTINGS]},
        [HOURS] = {.sql = hours_sql, .params = &week, .whole = &results[HOURS]},
        [CLOSED] = {.sql = closed_sql, .params = &week, .whole = &results[CLOSED]},
    };
    bool ok = pg_run(store, FOR_SCANNING, steps, QUERIES, err);
    params_release(&week);
    if (ok) {
        read_hours(results[HOURS], arena, closed);
        read_rows(results[CLOSED], arena, closed);
    }
    for (size_t i = 0; i < QUERIES; i++)
        PQclear(results[i]);
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
