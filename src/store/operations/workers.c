#include "store/operations/workers.h"

#include "base/log.h"
#include "store/events/history.h"
#include "store/pg.h"

bool
worker_look_for_returned(struct store *store, struct err *err)
{
    enum { ROWS_A_BEAT = 20000, GROUPED_AT_ONCE = 1000, GROUPED_A_BEAT = 20 };
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_int8(&params, ROWS_A_BEAT);
    if (!pg_do(store, FOR_WRITING, "SELECT redrive.returned_find($1)", &params, err))
        return false;
    size_t left = 1;
    for (int i = 0; left && i < GROUPED_A_BEAT; i++)
        if (!returned_group_some(store, GROUPED_AT_ONCE, &left, err))
            return false;
    return true;
}

bool
worker_looked_at(struct store *store, int64_t *at, struct err *err)
{
    PGresult *r;
    *at = TIME_ABSENT;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING, "SELECT looked_at FROM redrive.returned_position", NULL, &r, err))
        return false;
    *at = PQntuples(r) ? value_time(r, 0, 0) : TIME_ABSENT;
    PQclear(r);
    return true;
}

// It is news, not safety: a failure is logged only.
static void
note_returned(struct store *store)
{
    struct err err = {0};
    if (!worker_look_for_returned(store, &err))
        log_line(LOG_WARN, "returned events not counted", LOG_TEXT("why", err.text));
}

bool
worker_sign(struct store *store, const char *name, bool publishes, const char *note, double rate,
            struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, name);
    param_bool(&params, publishes);
    param_text(&params, note);
    param_double(&params, rate);
    return pg_do(store, FOR_WRITING, "SELECT redrive.worker_beat($1, $2, $3, $4)", &params, err);
}

bool
worker_beat(struct store *store, const char *name, bool publishes, const char *note, double rate,
            struct err *err)
{
    if (!worker_sign(store, name, publishes, note, rate, err))
        return false;
    if (publishes)
        note_returned(store);
    return true;
}

bool
worker_gone(struct store *store, const char *name, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, name);
    return pg_do(store, FOR_WRITING, "SELECT redrive.worker_gone($1)", &params, err);
}

bool
worker_index_keys(struct store *store, bool *is_all, struct err *err)
{
    enum { BATCHES_A_CALL = 8 };
    *is_all = true;
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int4(&params, BATCHES_A_CALL);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.work_index_keys($1)", &params, &r, err))
        return false;
    *is_all = !value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
worker_list(struct store *store, struct arena *arena, struct worker **workers, size_t *count, struct err *err)
{
    *workers = NULL;
    *count = 0;
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT name, note, publishes, seen_at, rate,"
                " (extract(epoch FROM clock_timestamp() - least(seen_at, clock_timestamp())) * "
                "1000000)::int8 FROM redrive.worker"
                " WHERE seen_at > clock_timestamp() - interval '15 s' ORDER BY started_at, name",
                NULL, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *workers = arena_array(arena, *count, sizeof **workers);
    for (int i = 0; i < PQntuples(r); i++) {
        (*workers)[i] = (struct worker){
            .name = value_text(r, i, 0, arena),
            .note = value_text(r, i, 1, arena),
            .publishes = value_bool(r, i, 2),
            .seen_at = value_time(r, i, 3),
            .rate = value_double(r, i, 4),
            .silent_for = value_int8(r, i, 5),
        };
    }
    PQclear(r);
    return true;
}
