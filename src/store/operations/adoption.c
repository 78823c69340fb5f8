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

static bool
find_worker(struct store *store, bool *has_worker, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT EXISTS (SELECT FROM redrive.worker w WHERE w.publishes"
                " AND w.seen_at > pg_catalog.clock_timestamp() - interval '15 s')",
                NULL, &r, err))
        return false;
    *has_worker = value_bool(r, 0, 0);
    PQclear(r);
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
    return stop->denied[0] ||
           (history_counts(store, &stop->counts, err) && adopting_look(store, &stop->adopting, err) &&
            find_worker(store, &stop->has_worker, err));
}

bool
adopting_look(struct store *store, struct adopting *adopting, struct err *err)
{
    static const char *const names[] = {"", "asked", "counted", "confirmed", "done", "failed"};
    PGresult *r;
    *adopting = (struct adopting){.at = TIME_ABSENT};
    if (!pg_ask(store, FOR_READING,
                "SELECT no, state, at, coalesce(cardinality(sent), 0), coalesce(chunks, 0),"
                " coalesce(records, 0), why FROM redrive.adopting",
                NULL, &r, err))
        return false;
    if (PQntuples(r)) {
        for (size_t i = 1; i < sizeof names / sizeof *names; i++)
            if (bytes_equal_text(value_bytes(r, 0, 1), names[i]))
                adopting->state = (enum adopting_state)i;
        adopting->no = value_int8(r, 0, 0);
        adopting->at = value_time(r, 0, 2);
        adopting->sent = value_int4(r, 0, 3);
        adopting->chunks = value_int8(r, 0, 4);
        adopting->records = value_int8(r, 0, 5);
        value_copy(r, 0, 6, adopting->why, sizeof adopting->why);
    }
    PQclear(r);
    return true;
}

bool
adopting_ask(struct store *store, struct err *err)
{
    return adoption_may_change(store, err) &&
           pg_do(store, FOR_WRITING, "SELECT redrive.history_ask()", NULL, err);
}

bool
adopting_confirm(struct store *store, const struct adopting *seen, const char *reason, struct err *err)
{
    if (!adoption_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, seen->no);
    param_int8(&params, seen->sent);
    param_int8(&params, seen->chunks);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.history_confirm($1, $2, $3, $4)", &params, err);
}

bool
adopting_next(struct store *store, const char *worker, struct adopting *next, struct err *err)
{
    *next = (struct adopting){.at = TIME_ABSENT};
    if (!adoption_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, worker);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT no, state FROM redrive.work_history_next($1)", &params, &r, err))
        return false;
    if (PQntuples(r)) {
        struct bytes state = value_bytes(r, 0, 1);
        next->no = value_int8(r, 0, 0);
        next->state = bytes_equal_text(state, "asked")       ? ADOPTING_ASKED
                      : bytes_equal_text(state, "confirmed") ? ADOPTING_CONFIRMED
                                                             : ADOPTING_COUNTED;
    }
    PQclear(r);
    return true;
}

bool
adopting_answer(struct store *store, const char *worker, int64_t no, const char *cluster, int64_t chunks,
                int64_t records, const int64_t *sent, size_t sent_count, const char *why, struct err *err)
{
    if (!adoption_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, worker);
    param_text(&params, cluster);
    param_int8(&params, chunks);
    param_int8(&params, records);
    param_ids(&params, sent, sent_count);
    param_text(&params, why);
    return pg_do(store, FOR_WRITING, "SELECT redrive.work_history_counted($1, $2, $3, $4, $5, $6, $7)",
                 &params, err);
}

bool
adopting_carry_out(struct store *store, const char *worker, int64_t no, const struct adopting_proof *proof,
                   int64_t *closed, struct err *err)
{
    if (!adoption_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, worker);
    param_text(&params, proof->cluster);
    param_int8(&params, proof->kafka->no);
    param_uuid(&params, proof->kafka->id[0] ? proof->kafka->id : NULL);
    param_numbers(&params, proof->slots, proof->slot_count);
    param_int8(&params, proof->chunks);
    param_ids(&params, proof->sent, proof->sent_count);
    PGresult *r;
    if (!pg_ask(store, FOR_FREEZING, "SELECT redrive.work_history_adopt($1, $2, $3, $4, $5, $6, $7, $8)",
                &params, &r, err))
        return false;
    *closed = value_is_null(r, 0, 0) ? -1 : value_int8(r, 0, 0);
    PQclear(r);
    return store_learn(store, err);
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

bool
history_range(struct store *store, const char *cluster, const int32_t *slots, size_t slot_count,
              struct arena *arena, const char ***topics, size_t *topic_count, int64_t *since, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    if (!pg_ask_texts(store, FOR_SCANNING, "SELECT t FROM redrive.history_topics($1) t", &params, arena,
                      topics, topic_count, err))
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
    return pg_ask_texts(store, FOR_SCANNING,
                        "SELECT u::text FROM redrive.history_unknown($1::text[]::uuid[]) u", &params, arena,
                        unknown, unknown_count, err);
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
