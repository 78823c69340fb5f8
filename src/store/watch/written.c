#include "store/watch/written.h"

#include "base/clock.h"
#include "store/pg.h"

#define MINUTES(n) ((n)*60 * US_PER_SECOND)

bool
written_wanted(struct store *store, const char *cluster, struct arena *arena, int64_t *turn,
               const char ***topics, size_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *count = 0;
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_text(&params, cluster);
    if (!pg_ask(store, FOR_WRITING,
                "SELECT w.turn, t.topic FROM redrive.work_written_wanted($1) w"
                " CROSS JOIN LATERAL unnest(w.topics) WITH ORDINALITY AS t (topic, no) ORDER BY t.no",
                &params, &r, err))
        return false;
    *topics = arena_array(arena, (size_t)PQntuples(r), sizeof **topics);
    for (int i = 0; i < PQntuples(r); i++) {
        *turn = value_int8(r, i, 0);
        (*topics)[(*count)++] = value_text(r, i, 1, arena);
    }
    PQclear(r);
    return true;
}

bool
written_keep(struct store *store, const char *cluster, int64_t turn, const struct written_ends *topics,
             size_t count, struct err *err)
{
    struct arena arena = {0};
    struct params params = {0};
    size_t partitions = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        partitions += topics[i].count;
    const char **names = arena_array(&arena, count, sizeof *names);
    const char **notes = arena_array(&arena, count, sizeof *notes);
    int32_t *of = arena_array(&arena, partitions, sizeof *of);
    int64_t *ends = arena_array(&arena, partitions, sizeof *ends);
    for (size_t i = 0; i < count; i++) {
        names[i] = topics[i].topic;
        notes[i] = topics[i].note ? topics[i].note : "";
        for (size_t p = 0; p < topics[i].count; p++) {
            of[at] = (int32_t)i + 1;
            ends[at++] = topics[i].ends[p];
        }
    }
    param_text(&params, cluster);
    param_int8(&params, turn);
    param_texts(&params, names, count);
    param_texts(&params, notes, count);
    param_numbers(&params, of, partitions);
    param_ids(&params, ends, partitions);
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.work_written($1, $2, $3, $4, $5, $6)", &params, err);
    arena_release(&arena);
    return ok;
}

// $1: the step; $2: the window, in seconds. Topics that Kafka does not tell of have no seconds. Those beyond
// the first 49 are together, also with one of that name.
static const char shares_sql[] =
    "WITH t AS (SELECT floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer AS now,"
    "   (SELECT s.counted_to FROM redrive.written_state s) AS counted_to,"
    "   (SELECT n.length FROM (VALUES ('minute', 60), ('hour', 3600), ('day', 86400)) AS n (step, length)"
    "     WHERE n.step = $1) AS length),"
    " w AS (SELECT x.topic, sum(least(x.covered, t.length))::int8 AS covered, sum(x.written)::int8 AS "
    "written,"
    "   sum(x.arrived)::int8 AS arrived FROM redrive.written x, t"
    "  WHERE x.step = $1 AND x.at >= (t.now - $2) / t.length * t.length AND x.covered >= 60 AND x.at < "
    "t.counted_to GROUP BY x.topic),"
    " e AS (SELECT x.topic, max(x.at) AS at, max(x.note) AS note FROM redrive.written_end x GROUP BY "
    "x.topic),"
    " r AS (SELECT coalesce(w.topic, e.topic) AS topic, w.written, w.arrived, w.covered, e.note, e.at,"
    "   row_number() OVER (ORDER BY w.covered IS NULL, w.arrived DESC, w.written DESC,"
    "    coalesce(w.topic, e.topic) COLLATE \"C\") AS no FROM w FULL JOIN e ON e.topic = w.topic)"
    " SELECT g.topic, coalesce(sum(g.written), 0)::int8, coalesce(sum(g.arrived), 0)::int8,"
    "  coalesce(max(g.covered), 0), max(g.note), max(max(g.at)) OVER ()"
    " FROM (SELECT CASE WHEN r.no < 50 THEN r.topic ELSE 'other' END AS topic, r.written, r.arrived, "
    "r.covered,"
    "  r.note, r.at, r.no FROM r) g GROUP BY g.topic ORDER BY min(g.no)";

static const char *
step_of(int64_t window)
{
    return window <= MINUTES(120) ? "minute" : window <= MINUTES(7 * 1440) ? "hour" : "day";
}

bool
written_read(struct store *store, int64_t window, struct arena *arena, struct topic_shares *shares,
             struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *shares = (struct topic_shares){.window = window, .read_at = TIME_ABSENT};
    if (!pg_has_schema(store, err))
        return false;
    param_text(&params, step_of(window));
    param_int4(&params, (int32_t)(window / US_PER_SECOND));
    if (!pg_ask(store, FOR_READING, shares_sql, &params, &r, err))
        return false;
    shares->topics = arena_array(arena, (size_t)PQntuples(r), sizeof *shares->topics);
    for (int i = 0; i < PQntuples(r); i++)
        shares->topics[shares->count++] = (struct topic_share){.topic = value_text(r, i, 0, arena),
                                                               .written = value_int8(r, i, 1),
                                                               .arrived = value_int8(r, i, 2),
                                                               .covered = value_int8(r, i, 3),
                                                               .note = value_text(r, i, 4, arena)};
    if (shares->count && !value_is_null(r, 0, 5))
        shares->read_at = ((int64_t)value_int4(r, 0, 5) + 946684800) * US_PER_SECOND;
    PQclear(r);
    return true;
}
