#include "store/rollup/stats.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "store/events/events.h"
#include "store/events/unreadable.h"
#include "store/pg.h"

// $1: the zone of the table. Statuses, hours and types are counted in indexes of the contract. The table
// itself is read for closed events and for messages.

// Memory for the hashes of the messages. Closed events are found by the index on the status as long as they
// are not most of the table; their pages are read in order, which the planner takes for four times as dear.
static const char room_sql[] = "SELECT pg_catalog.set_config('work_mem', '64MB', true),"
                               " pg_catalog.set_config('random_page_cost', '1.1', true)";

static const char pending_sql[] =
    "WITH by_status AS (SELECT e.status::text AS status, count(*) AS n FROM :\"events\" e GROUP BY 1)"
    " SELECT coalesce(sum(n) FILTER (WHERE status = 'PENDING'), 0)::int8,"
    " coalesce(sum(n) FILTER (WHERE status = 'RESOLVED'), 0)::int8,"
    " coalesce(sum(n) FILTER (WHERE status = 'DISCARDED'), 0)::int8,"
    " coalesce(sum(n) FILTER (WHERE status IS NULL OR status NOT IN ('PENDING', 'RESOLVED', 'DISCARDED')), "
    "0)::int8,"
    " (SELECT e.created_at FROM :\"events\" e WHERE e.status = 'PENDING' AND e.created_at IS NOT NULL"
    "  ORDER BY e.created_at LIMIT 1)::timestamp AT TIME ZONE $1,"
    " (SELECT e.created_at FROM :\"events\" e WHERE e.status = 'PENDING' AND e.created_at IS NOT NULL"
    "  ORDER BY e.created_at DESC LIMIT 1)::timestamp AT TIME ZONE $1 FROM by_status";

// $2: events whose message PostgreSQL cannot return; they count as events without one. Grouped by hash, so
// that PostgreSQL does not hold a million texts. left() counts characters, which a text of no more than 500
// bytes need not pay for.
static const char errors_sql[] =
    "SELECT left(s.error_message, 500), m.n, m.first::timestamp AT TIME ZONE $1, m.last::timestamp AT TIME "
    "ZONE $1 FROM"
    " (SELECT count(*) AS n, min(e.created_at) AS first, max(e.created_at) AS last, min(e.id) AS sample"
    "  FROM :\"events\" e WHERE e.status = 'PENDING' GROUP BY hashtextextended(CASE WHEN "
    "e.id = ANY ($2) THEN NULL WHEN octet_length(e.error_message) > 500"
    "   THEN left(e.error_message, 500) ELSE e.error_message END, 0)"
    "  ORDER BY 1 DESC LIMIT 20) m JOIN LATERAL (SELECT CASE WHEN x.id <> ALL ($2) THEN x.error_message END "
    "AS error_message FROM :\"events\" x WHERE x.id = m.sample LIMIT 1) s"
    " ON true ORDER BY 2 DESC, 1";

// Hours begin at whole hours of local time, up to $2, seconds since 1970. The column itself is compared, so
// that its index is used.
static const char hours_sql[] =
    "WITH bounds AS (SELECT date_trunc('hour', to_timestamp($2) AT TIME ZONE $1) AS now),"
    " counted AS (SELECT date_trunc('hour', e.created_at::timestamp) AS hour, "
    "count(*) AS n FROM :\"events\" e, bounds"
    "  WHERE e.created_at >= bounds.now - interval '167 hours' AND e.created_at < bounds.now + interval '1 "
    "hour' GROUP BY 1)"
    " SELECT h.hour AT TIME ZONE $1, coalesce(c.n, 0) FROM bounds,"
    " generate_series(bounds.now - interval '167 hours', bounds.now, interval '1 "
    "hour') AS h (hour) LEFT JOIN counted c ON c.hour = h.hour"
    " ORDER BY h.hour";

// Pending are the events that are not closed. Closed ones are read once, for types and times.
static const char types_sql[] =
    "WITH every AS (SELECT e.event_type::text AS type, count(*) AS n FROM :\"events\" e GROUP BY 1),"
    " closed AS (SELECT e.event_type::text AS type, count(*) AS n, count(*) FILTER (WHERE e.status = "
    "'RESOLVED') AS resolved, count(e.resolved_at - e.created_at) FILTER (WHERE e.status = 'RESOLVED') AS "
    "timed, avg(extract(epoch FROM e.resolved_at - e.created_at)) FILTER (WHERE e.status = 'RESOLVED') AS "
    "mean"
    "  FROM :\"events\" e WHERE e.status < 'PENDING' OR e.status > 'PENDING' OR e.status IS NULL GROUP BY 1)"
    " SELECT every.type, every.n, every.n - coalesce(closed.n, 0), coalesce(closed.resolved, 0), "
    "coalesce(closed.timed, 0), closed.mean::float8 FROM every"
    " LEFT JOIN closed ON closed.type = every.type ORDER BY 2 DESC, 1";

static void
read_pending(const PGresult *r, struct stats_pending *pending)
{
    *pending = (struct stats_pending){
        .pending = value_int8(r, 0, 0),
        .resolved = value_int8(r, 0, 1),
        .discarded = value_int8(r, 0, 2),
        .other = value_int8(r, 0, 3),
        .oldest_at = value_time(r, 0, 4),
        .newest_at = value_time(r, 0, 5),
    };
}

static void
read_errors(const PGresult *r, struct arena *arena, struct stats *stats)
{
    stats->error_count = (size_t)PQntuples(r);
    stats->errors = arena_array(arena, stats->error_count, sizeof *stats->errors);
    for (int i = 0; i < PQntuples(r); i++) {
        stats->errors[i] = (struct stats_error){
            .message = value_text(r, i, 0, arena),
            .count = value_int8(r, i, 1),
            .first_at = value_time(r, i, 2),
            .last_at = value_time(r, i, 3),
        };
    }
}

static void
read_hours(const PGresult *r, struct arena *arena, struct stats *stats)
{
    stats->hour_count = (size_t)PQntuples(r);
    stats->hours = arena_array(arena, stats->hour_count, sizeof *stats->hours);
    for (int i = 0; i < PQntuples(r); i++)
        stats->hours[i] = (struct stats_hour){.hour = value_time(r, i, 0), .count = value_int8(r, i, 1)};
}

static int
by_resolved(const void *a, const void *b)
{
    const struct stats_resolution *x = a;
    const struct stats_resolution *y = b;
    if (x->resolved != y->resolved)
        return x->resolved < y->resolved ? 1 : -1;
    return strcmp(x->event_type, y->event_type);
}

static void
read_types(const PGresult *r, struct arena *arena, struct stats *stats)
{
    stats->type_count = (size_t)PQntuples(r);
    stats->types = arena_array(arena, stats->type_count, sizeof *stats->types);
    stats->resolutions = arena_array(arena, stats->type_count, sizeof *stats->resolutions);
    for (int i = 0; i < PQntuples(r); i++) {
        const char *event_type = value_text(r, i, 0, arena);
        stats->types[i] = (struct stats_type){
            .event_type = event_type,
            .total = value_int8(r, i, 1),
            .pending = value_int8(r, i, 2),
            .resolved = value_int8(r, i, 3),
        };
        int64_t timed = value_int8(r, i, 4);
        if (timed > 0)
            stats->resolutions[stats->resolution_count++] = (struct stats_resolution){
                .event_type = event_type, .resolved = timed, .mean_seconds = value_double(r, i, 5)};
    }
    if (stats->resolution_count)
        qsort(stats->resolutions, stats->resolution_count, sizeof *stats->resolutions, by_resolved);
}

enum { ROOM, PENDING, ERRORS, HOURS, TYPES, QUERIES };

static bool
ask(struct store *store, bool has_errors, PGresult *results[QUERIES], struct err *err)
{
    static const char *const sql[QUERIES] = {
        [ROOM] = room_sql,   [PENDING] = pending_sql, [ERRORS] = errors_sql,
        [HOURS] = hours_sql, [TYPES] = types_sql,
    };
    struct params zone = {0}, errors = {0}, hours = {0};
    param_text(&zone, store->zone);
    param_text(&hours, store->zone);
    int64_t second = clock_now() / US_PER_SECOND;
    param_double(&hours, (double)second);
    param_text(&errors, store->zone);
    unreadable_param(store, LONG_ERROR, &errors);
    struct params *params[QUERIES] = {
        [PENDING] = &zone, [ERRORS] = &errors, [HOURS] = &hours, [TYPES] = &zone};
    struct pg_step steps[QUERIES];
    size_t count = 0;
    for (size_t i = 0; i < QUERIES; i++)
        if (i != ERRORS || !has_errors)
            steps[count++] = (struct pg_step){.sql = sql[i], .params = params[i], .whole = &results[i]};
    bool ok = pg_run(store, FOR_SCANNING, steps, count, err);
    params_release(&zone);
    params_release(&errors);
    params_release(&hours);
    return ok;
}

struct pending_ids {
    int64_t *ids;
    size_t count, capacity;
};

static bool
add_ids(void *context, const int64_t *ids, size_t count)
{
    struct pending_ids *pending = context;
    for (size_t i = 0; i < count; i++) {
        pending->ids = alloc_grow(pending->ids, pending->count, &pending->capacity, sizeof *pending->ids);
        pending->ids[pending->count++] = ids[i];
    }
    return true;
}

// Looks for messages that PostgreSQL cannot return. True: some were found, so that asking again may work.
static bool
find_unreadable_messages(struct store *store)
{
    struct pending_ids pending = {0};
    struct err ignored = {0};
    bool is_found = store_pending_ids(store, add_ids, &pending, &ignored) &&
                    unreadable_find(store, 1u << LONG_ERROR, pending.ids, pending.count);
    free(pending.ids);
    return is_found;
}

bool
stats_read(struct store *store, bool has_errors, struct arena *arena, struct stats *stats, struct err *err)
{
    *stats = (struct stats){0};
    PGresult *results[QUERIES] = {0};
    struct err failure = {0};
    bool ok = ask(store, has_errors, results, &failure);
    if (!ok && !has_errors && unreadable_is_cause(&failure) && find_unreadable_messages(store)) {
        err_clear(&failure);
        ok = ask(store, has_errors, results, &failure);
    }
    if (!ok) {
        if (err && !err_is_set(err))
            *err = failure;
        return false;
    }

    read_pending(results[PENDING], &stats->pending);
    if (!has_errors)
        read_errors(results[ERRORS], arena, stats);
    read_hours(results[HOURS], arena, stats);
    read_types(results[TYPES], arena, stats);
    for (size_t i = 0; i < QUERIES; i++)
        PQclear(results[i]);
    return true;
}
