#include "store/watch/sums.h"

#include "base/clock.h"
#include "store/pg.h"
#include "store/rollup/categories.h"
#include "store/rollup/rollup.h"
#include "store/watch/written.h"

#define EPOCH_2000 946684800LL

static const int64_t COUNT_EVERY = 60 * US_PER_SECOND;
static const int64_t SHARES_OF = 3600 * US_PER_SECOND;

// $1: µs. The count of all rows waits longer where it takes long.
static const char look_sql[] = "SELECT redrive.watch_look($1 * interval '1 microsecond')";
static const char count_sql[] = "SELECT redrive.watch_count($1 * interval '1 microsecond')";

static const char state_sql[] =
    "SELECT clock_timestamp(), s.arrived, s.pending, s.resolved, s.discarded, s.other, s.counted_at,"
    " (SELECT count(*) FROM redrive.worker WHERE seen_at > clock_timestamp() - interval '15 s'),"
    " (SELECT count(*) FROM redrive.worker WHERE seen_at > clock_timestamp() - interval '15 s' AND "
    "publishes),"
    " (SELECT coalesce(sum(in_doubt), 0)::int8 FROM redrive.operation) FROM redrive.watch_state s";

static const char buckets_sql[] =
    "SELECT histogram = 'resolution', bound, n, total FROM redrive.watch_bucket ORDER BY histogram, bound";

static const char arrivals_sql[] = "SELECT error_class, event_type, n FROM redrive.watch_arrival"
                                   " ORDER BY n DESC, error_class, event_type LIMIT 51";

static const char operations_sql[] = "SELECT action, sum(done)::int8, sum(refused)::int8, sum(skipped)::int8,"
                                     " sum(returned)::int8, sum(refused_by_check)::int8 FROM "
                                     "redrive.operation GROUP BY action ORDER BY action";
static const char states_sql[] =
    "SELECT state, count(*), count(*) FILTER (WHERE coalesce(begins_at <= clock_timestamp(), true))"
    " FROM redrive.operation GROUP BY state ORDER BY state";

// The largest 500, and the sum of all in each row.
static const char groups_sql[] =
    "WITH g AS (SELECT c.group_key, sum(t.n)::int8 AS n FROM redrive.rollup_total t"
    "  JOIN redrive.rollup_series c ON c.no = t.series GROUP BY c.group_key HAVING sum(t.n) > 0)"
    " SELECT w.group_key, w.n, d.error_class, d.pattern, w.pending FROM"
    " (SELECT g.group_key, g.n, (sum(g.n) OVER ())::int8 AS pending FROM g ORDER BY g.n DESC, g.group_key "
    "LIMIT 500) w"
    " LEFT JOIN redrive.rollup_group d ON d.key = w.group_key ORDER BY w.n DESC, w.group_key";

static const char types_sql[] = "SELECT left(c.event_type, 100), sum(t.n)::int8 FROM redrive.rollup_total t"
                                " JOIN redrive.rollup_series c ON c.no = t.series GROUP BY 1 HAVING sum(t.n) "
                                "> 0 ORDER BY 2 DESC, 1 LIMIT 50";

// Of topics that two clusters have, both together. An ingester that was away for 15 s has lost its partitions
// (sql/ingest.sql).
static const char letters_sql[] =
    "SELECT left(w.topic, 249), w.is_read, w.behind, (coalesce(sum(w.behind) OVER (), 0))::int8 FROM"
    " (SELECT q.topic, bool_or(EXISTS (SELECT FROM redrive.ingester i WHERE i.cluster = q.cluster"
    "    AND q.topic = ANY (i.topics) AND i.seen_at > clock_timestamp() - interval '15 s')) AS is_read,"
    "   CASE WHEN bool_and(q.end_offset IS NOT NULL)"
    "    THEN sum(greatest(q.end_offset - coalesce(q.next_offset, 0), 0))::int8 END AS behind"
    "  FROM redrive.ingest_position q GROUP BY q.topic) w"
    " ORDER BY w.behind DESC NULLS LAST, w.topic COLLATE \"C\" LIMIT 50";

// From series to series along the index of counted events.
static const char oldest_sql[] =
    "SELECT min(f.created) FROM redrive.rollup_series c, LATERAL (SELECT b.created FROM redrive.rollup_event "
    "b"
    "  WHERE b.series = c.no AND b.created > 0 ORDER BY b.created, b.dlq_id LIMIT 1) f";

static bool
call(struct store *store, enum purpose purpose, const char *sql, int64_t every, struct err *err)
{
    struct params params = {0};
    param_int8(&params, every);
    return pg_do(store, purpose, sql, &params, err);
}

bool
watch_sums_look(struct store *store, int64_t every, struct err *err)
{
    // All rows of a large table may take minutes to count; only freezing has that much time, too.
    return pg_may_write(store, err) && pg_has_schema(store, err) &&
           call(store, FOR_WRITING, look_sql, every, err) &&
           call(store, FOR_FREEZING, count_sql, COUNT_EVERY, err);
}

// --- reading: one function a statement ---

static void
read_state(const PGresult *r, struct watch_sums *sums)
{
    sums->as_of = value_time(r, 0, 0);
    sums->arrived = value_int8(r, 0, 1);
    sums->statuses = (struct watch_statuses){
        .pending = value_int8(r, 0, 2),
        .resolved = value_int8(r, 0, 3),
        .discarded = value_int8(r, 0, 4),
        .other = value_int8(r, 0, 5),
        .counted_at = value_time(r, 0, 6),
    };
    sums->workers = value_int8(r, 0, 7);
    sums->publishing_workers = value_int8(r, 0, 8);
    sums->in_doubt = value_int8(r, 0, 9);
}

static void
read_buckets(const PGresult *r, struct watch_sums *sums)
{
    for (int i = 0; i < PQntuples(r); i++) {
        struct watch_histogram *histogram = value_bool(r, i, 0) ? &sums->resolution : &sums->retries;
        if (histogram->count == WATCH_BUCKETS)
            continue;
        histogram->bounds[histogram->count] = value_double(r, i, 1);
        histogram->counts[histogram->count++] = value_int8(r, i, 2);
        histogram->sum += value_double(r, i, 3);
    }
}

static void
read_arrivals(const PGresult *r, struct arena *arena, struct watch_sums *sums)
{
    sums->arrival_count = (size_t)PQntuples(r);
    sums->arrivals = arena_array(arena, sums->arrival_count, sizeof *sums->arrivals);
    for (int i = 0; i < PQntuples(r); i++)
        sums->arrivals[i] = (struct watch_arrivals){.error_class = value_text(r, i, 0, arena),
                                                    .event_type = value_text(r, i, 1, arena),
                                                    .count = value_int8(r, i, 2)};
}

static void
read_operations(const PGresult *r, struct arena *arena, struct watch_sums *sums)
{
    sums->operation_count = (size_t)PQntuples(r);
    sums->operations = arena_array(arena, sums->operation_count, sizeof *sums->operations);
    for (int i = 0; i < PQntuples(r); i++)
        sums->operations[i] = (struct watch_operations){.action = value_text(r, i, 0, arena),
                                                        .done = value_int8(r, i, 1),
                                                        .refused = value_int8(r, i, 2),
                                                        .skipped = value_int8(r, i, 3),
                                                        .returned = value_int8(r, i, 4),
                                                        .refused_by_check = value_int8(r, i, 5)};
}

static void
read_states(const PGresult *r, struct arena *arena, struct watch_sums *sums)
{
    sums->state_count = (size_t)PQntuples(r);
    sums->states = arena_array(arena, sums->state_count, sizeof *sums->states);
    for (int i = 0; i < PQntuples(r); i++)
        sums->states[i] = (struct watch_state_count){
            .state = value_text(r, i, 0, arena), .count = value_int8(r, i, 1), .due = value_int8(r, i, 2)};
}

static void
read_groups(const struct store *store, const PGresult *r, struct arena *arena, struct watch_pending *pending)
{
    int rows = PQntuples(r);
    pending->count = rows ? value_int8(r, 0, 4) : 0;
    pending->in_other_groups = pending->in_other_categories = pending->count;
    pending->group_count = (size_t)(rows < WATCH_GROUPS ? rows : WATCH_GROUPS);
    pending->groups = arena_array(arena, pending->group_count, sizeof *pending->groups);
    for (int i = 0; i < rows; i++) {
        uint64_t key = (uint64_t)value_int8(r, i, 0);
        int64_t count = value_int8(r, i, 1);
        enum category category = store_category(store, key, value_bytes(r, i, 2), value_bytes(r, i, 3), NULL);
        pending->by_category[category] += count;
        pending->in_other_categories -= count;
        if ((size_t)i >= pending->group_count)
            continue;
        pending->in_other_groups -= count;
        pending->groups[i] = (struct watch_group){
            .key = key, .error_class = value_text(r, i, 2, arena), .category = category, .pending = count};
    }
}

static void
read_types(const PGresult *r, struct arena *arena, struct watch_pending *pending)
{
    pending->type_count = (size_t)PQntuples(r);
    pending->types = arena_array(arena, pending->type_count, sizeof *pending->types);
    pending->in_other_types = pending->count;
    for (int i = 0; i < PQntuples(r); i++) {
        pending->types[i] =
            (struct watch_type){.event_type = value_text(r, i, 0, arena), .pending = value_int8(r, i, 1)};
        pending->in_other_types -= pending->types[i].pending;
        if (pending->in_other_types < 0) // it was counted a statement later
            pending->in_other_types = 0;
    }
}

static void
read_letters(const PGresult *r, struct arena *arena, struct watch_sums *sums)
{
    sums->letters_count = (size_t)PQntuples(r);
    sums->letters = arena_array(arena, sums->letters_count, sizeof *sums->letters);
    sums->in_other_letters = sums->letters_count ? value_int8(r, 0, 3) : 0;
    for (int i = 0; i < PQntuples(r); i++) {
        struct watch_letters *letters = &sums->letters[i];
        *letters = (struct watch_letters){.topic = value_text(r, i, 0, arena),
                                          .is_read = value_bool(r, i, 1),
                                          .is_known = !value_is_null(r, i, 2)};
        if (letters->is_known)
            letters->behind = value_int8(r, i, 2);
        sums->in_other_letters -= letters->behind;
    }
}

static void
read_oldest(const PGresult *r, struct watch_pending *pending)
{
    int32_t created = value_int4(r, 0, 0);
    pending->oldest_at = created == 0 ? TIME_ABSENT : (created + EPOCH_2000) * US_PER_SECOND;
}

enum { STATE, BUCKETS, ARRIVALS, OPERATIONS, STATES, GROUPS, TYPES, LETTERS, OLDEST, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    [STATE] = state_sql,           [BUCKETS] = buckets_sql, [ARRIVALS] = arrivals_sql,
    [OPERATIONS] = operations_sql, [STATES] = states_sql,   [GROUPS] = groups_sql,
    [TYPES] = types_sql,           [LETTERS] = letters_sql, [OLDEST] = oldest_sql,
};

static bool
read_rollup(struct store *store, struct watch_rollup *rollup, struct err *err)
{
    struct rollup_state state;
    bool has_changed;
    if (!store_categories_look(store, &has_changed, err) || !rollup_state(store, &state, err))
        return false;
    *rollup = (struct watch_rollup){
        .is_counted = state.exists && state.is_ours && !state.is_counting,
        .is_kept = state.is_kept,
        .behind = state.behind,
        .exact_at = state.exact_at,
    };
    return true;
}

bool
watch_sums_read(struct store *store, struct arena *arena, struct watch_sums *sums, struct err *err)
{
    *sums = (struct watch_sums){.as_of = TIME_ABSENT};
    if (!pg_has_schema(store, err) || !read_rollup(store, &sums->rollup, err) ||
        !written_read(store, SHARES_OF, arena, &sums->shares, err))
        return false;
    PGresult *results[STATEMENTS] = {NULL};
    struct pg_step steps[STATEMENTS];
    for (size_t i = 0; i < STATEMENTS; i++)
        steps[i] = (struct pg_step){.sql = statements[i], .whole = &results[i]};
    bool ok = pg_run(store, FOR_SCANNING, steps, STATEMENTS, err);
    if (ok && PQntuples(results[STATE]) != 1)
        ok = err_set(err, ERR_NOT_FOUND, "the schema redrive has no sums for metrics: run redrive migrate");
    if (ok) {
        read_state(results[STATE], sums);
        read_buckets(results[BUCKETS], sums);
        read_arrivals(results[ARRIVALS], arena, sums);
        read_operations(results[OPERATIONS], arena, sums);
        read_states(results[STATES], arena, sums);
        read_groups(store, results[GROUPS], arena, &sums->pending);
        read_types(results[TYPES], arena, &sums->pending);
        read_letters(results[LETTERS], arena, sums);
        read_oldest(results[OLDEST], &sums->pending);
    }
    for (size_t i = 0; i < STATEMENTS; i++)
        PQclear(results[i]);
    return ok;
}
