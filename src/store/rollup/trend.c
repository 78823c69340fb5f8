#include "store/rollup/trend.h"

#include "base/clock.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL

bool
rollup_take_trend(struct store *store, const char *maintainer, int64_t pending, bool *is_done,
                  struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    if (pending == TREND_UNKNOWN)
        param_null(&params);
    else
        param_int8(&params, pending);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.trend_take($1, $2)", &params, &r, err))
        return false;
    *is_done = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

// $1: the step; $2: the length of a point in seconds; $3: the beginning of the first. The last number of
// pending events of a point counts.
static const char points_sql[] =
    "SELECT t.at / $2 * $2, sum(t.arrived)::int8, sum(t.resolved)::int8, sum(t.discarded)::int8,"
    " sum(t.reprocessed)::int8, sum(t.gone)::int8, sum(t.restored)::int8,"
    " coalesce((array_agg(t.pending ORDER BY t.at DESC) FILTER (WHERE t.pending IS NOT NULL))[1], -1)"
    " FROM redrive.trend t WHERE t.step = $1"
    " AND t.at >= $3"
    " GROUP BY 1 ORDER BY 1";

// $1: seconds since 1970.
static const char marks_sql[] =
    "SELECT m.at, 0::int8, m.text FROM redrive.mark m WHERE m.at >= to_timestamp($1)"
    " UNION ALL SELECT coalesce(o.started_at, o.created_at), o.no, o.action || ' ' ||"
    " to_char(o.total, 'FM999,999,999,999,999')"
    " FROM redrive.operation o WHERE o.state <> 'freezing'"
    " AND coalesce(o.started_at, o.created_at) >= to_timestamp($1) ORDER BY 1, 2";

static void
read_points(const PGresult *r, struct arena *arena, struct trend *trend)
{
    size_t count = (size_t)PQntuples(r);
    struct trend_point *read = arena_array(arena, count, sizeof *read);
    for (int i = 0; i < PQntuples(r); i++)
        read[i] = (struct trend_point){
            .at = (value_int4(r, i, 0) + EPOCH_2000) * US_PER_SECOND,
            .arrived = value_int8(r, i, 1),
            .resolved = value_int8(r, i, 2),
            .discarded = value_int8(r, i, 3),
            .reprocessed = value_int8(r, i, 4),
            .gone = value_int8(r, i, 5),
            .restored = value_int8(r, i, 6),
            .pending = value_int8(r, i, 7),
        };
    trend_lay(trend, read, count);
}

static void
read_marks(const PGresult *r, struct arena *arena, struct trend *trend)
{
    trend->mark_count = (size_t)PQntuples(r);
    trend->marks = arena_array(arena, trend->mark_count, sizeof *trend->marks);
    for (int i = 0; i < PQntuples(r); i++)
        trend->marks[i] = (struct trend_mark){
            .at = value_time(r, i, 0), .operation = value_int8(r, i, 1), .text = value_text(r, i, 2, arena)};
}

bool
trend_read(struct store *store, enum trend_span span, struct arena *arena, struct trend *trend,
           struct err *err)
{
    *trend = (struct trend){.span = span};
    if (!pg_has_schema(store, err))
        return false;
    int64_t point = trend_span_point(span);
    trend->count = (size_t)(trend_span_length(span) / point);
    trend->points = arena_array(arena, trend->count, sizeof *trend->points);
    trend->as_of = clock_now();
    int64_t first = trend_first(trend) / US_PER_SECOND;
    struct params points = {0}, marks = {0};
    param_text(&points, span == TREND_7_DAYS ? "hour" : "minute");
    param_int4(&points, (int32_t)(point / US_PER_SECOND));
    param_int4(&points, (int32_t)(first - EPOCH_2000));
    param_double(&marks, (double)first);
    PGresult *of_points = NULL, *of_marks = NULL;
    struct pg_step steps[] = {{.sql = points_sql, .params = &points, .whole = &of_points},
                              {.sql = marks_sql, .params = &marks, .whole = &of_marks}};
    bool ok = pg_run(store, FOR_READING, steps, sizeof steps / sizeof *steps, err);
    params_release(&points);
    params_release(&marks);
    if (!ok)
        return false;
    read_points(of_points, arena, trend);
    read_marks(of_marks, arena, trend);
    PQclear(of_points);
    PQclear(of_marks);
    return true;
}

bool
trend_set_mark(struct store *store, const char *text, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, text);
    return pg_do(store, FOR_WRITING, "SELECT redrive.mark_set($1)", &params, err);
}
