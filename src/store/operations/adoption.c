#include "store/operations/adoption.h"

#include <stdio.h>
#include "base/clock.h"
#include "store/pg.h"

static bool
adoption_may_change(const struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

// Somebody may have decided since this session learned it.
static bool
is_still_copy(struct store *store, bool *is_copy, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, "SELECT redrive.is_copy()", NULL, &r, err))
        return false;
    *is_copy = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
stop_find(struct store *store, struct stop *stop, struct err *err)
{
    char cluster[64];
    struct turn turn;
    bool is_copy = store_info(store)->is_copy;
    *stop = (struct stop){.since = TIME_ABSENT};
    if (!turn_stopped(store, cluster, &turn, err) || (is_copy && !is_still_copy(store, &is_copy, err)))
        return false;
    if (is_copy)
        snprintf(stop->detail, sizeof stop->detail,
                 "this is another database than the one that redrive was installed in");
    else if (turn.stop != STOP_NONE)
        snprintf(stop->detail, sizeof stop->detail, "%s", turn.stop_detail);
    if (turn.stop != STOP_NONE)
        stop->since = turn.stopped_at;
    return true;
}

bool
stop_look(struct store *store, struct stop *stop, struct err *err)
{
    static const char denied_sql[] =
        "SELECT 'this is for administrators: GRANT redrive_admin TO ' || pg_catalog.quote_ident(session_user)"
        " WHERE NOT pg_catalog.has_function_privilege('redrive.history_as_copy(text)', 'EXECUTE')";
    PGresult *r;
    if (!stop_find(store, stop, err) || !pg_ask(store, FOR_READING, denied_sql, NULL, &r, err))
        return false;
    if (PQntuples(r))
        value_copy(r, 0, 0, stop->denied, sizeof stop->denied);
    PQclear(r);
    return stop->denied[0] || history_counts(store, &stop->counts, err);
}

bool
history_counts(struct store *store, struct history_counts *counts, struct err *err)
{
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_SCANNING,
                "SELECT operations, queued, chunks, in_flight FROM redrive.history_counts()", NULL, &r, err))
        return false;
    *counts = (struct history_counts){value_int8(r, 0, 0), value_int8(r, 0, 1), value_int8(r, 0, 2),
                                      value_int8(r, 0, 3)};
    PQclear(r);
    return true;
}

// One column of texts; releases params.
static bool
ask_texts(struct store *store, const char *sql, struct params *params, struct arena *arena,
          const char ***texts, size_t *count, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, sql, params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *texts = arena_array(arena, *count + 1, sizeof **texts);
    for (size_t i = 0; i < *count; i++)
        (*texts)[i] = value_text(r, (int)i, 0, arena);
    PQclear(r);
    return true;
}

bool
history_range(struct store *store, const char *cluster, const int32_t *slots, size_t slot_count,
              struct arena *arena, const char ***topics, size_t *topic_count, int64_t *since, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    if (!ask_texts(store, "SELECT t FROM redrive.history_topics($1) t", &params, arena, topics, topic_count,
                   err))
        return false;
    params = (struct params){0};
    param_text(&params, cluster);
    param_numbers(&params, slots, slot_count);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, "SELECT redrive.history_since($1, $2)", &params, &r, err))
        return false;
    *since = value_time(r, 0, 0);
    PQclear(r);
    return true;
}

bool
history_unknown(struct store *store, const char *const *ids, size_t count, struct arena *arena,
                const char ***unknown, size_t *unknown_count, struct err *err)
{
    struct params params = {0};
    param_texts(&params, ids, count);
    return ask_texts(store, "SELECT u::text FROM redrive.history_unknown($1::text[]::uuid[]) u", &params,
                     arena, unknown, unknown_count, err);
}

bool
history_sent(struct store *store, const int64_t *events, const char *const *sources, size_t count,
             struct arena *arena, int64_t **sent, size_t *sent_count, struct err *err)
{
    struct params params = {0};
    param_ids(&params, events, count);
    param_texts(&params, sources, count);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, "SELECT s FROM redrive.history_sent($1, $2) s", &params, &r, err))
        return false;
    *sent_count = (size_t)PQntuples(r);
    *sent = arena_array(arena, *sent_count + 1, sizeof **sent);
    for (size_t i = 0; i < *sent_count; i++)
        (*sent)[i] = value_int8(r, (int)i, 0);
    PQclear(r);
    return true;
}

bool
history_adopt(struct store *store, const char *cluster, const struct turn_mark *kafka, const int32_t *slots,
              size_t slot_count, const int64_t *sent, size_t sent_count, const char *reason, int64_t *closed,
              struct err *err)
{
    if (!adoption_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_int8(&params, kafka->no);
    param_uuid(&params, kafka->id[0] ? kafka->id : NULL);
    param_numbers(&params, slots, slot_count);
    param_ids(&params, sent, sent_count);
    param_text(&params, reason);
    PGresult *r;
    if (!pg_ask(store, FOR_FREEZING, "SELECT redrive.history_adopt($1, $2, $3, $4, $5, $6)", &params, &r,
                err))
        return false;
    *closed = value_int8(r, 0, 0);
    PQclear(r);
    return store_learn(store, err);
}

bool
history_as_copy(struct store *store, const char *reason, struct err *err)
{
    struct params params = {0};
    param_text(&params, reason);
    return adoption_may_change(store, err) &&
           pg_do(store, FOR_FREEZING, "SELECT redrive.history_as_copy($1)", &params, err) &&
           store_learn(store, err);
}

bool
history_as_copy_seen(struct store *store, const struct stop_seen *seen, const char *reason, struct err *err)
{
    struct stop now;
    if (!stop_look(store, &now, err))
        return false;
    if (now.denied[0])
        return err_set(err, ERR_DENIED, "%s", now.denied);
    const struct history_counts *counts = &now.counts, *then = &seen->counts;
    bool is_same = now.detail[0] && now.since == seen->since && counts->operations == then->operations &&
                   counts->queued == then->queued && counts->chunks == then->chunks &&
                   counts->in_flight == then->in_flight;
    return is_same
               ? history_as_copy(store, reason, err)
               : err_set(err, ERR_CONFLICT,
                         "nothing was decided: what is stopped is not what was shown any more; look again");
}
