#include "store/operations/newer.h"

#include "base/clock.h"
#include "store/pg.h"

static bool
newer_may_change(struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

bool
newer_ask(struct store *store, const int64_t *ids, size_t count, int64_t *no, bool *has_worker,
          struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *has_worker = false;
    param_ids(&params, ids, count);
    if (!newer_may_change(store, err) ||
        !pg_ask(store, FOR_WRITING, "SELECT no, has_worker FROM redrive.newer_ask($1)", &params, &r, err))
        return false;
    *no = value_int8(r, 0, 0);
    *has_worker = value_bool(r, 0, 1);
    PQclear(r);
    return true;
}

// --- the answer

static bool
read_counts(struct store *store, int64_t no, struct arena *arena, struct newer *newer, struct err *err)
{
    static const char sql[] =
        "SELECT ended_at IS NOT NULL, records, record_sum, cardinality(dlq_ids) + left_out, left_out, why,"
        " coalesce(key_count, 0), coalesce(resent, 0) FROM redrive.newer_question WHERE no = $1";
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    if (!pg_ask(store, FOR_READING, sql, &params, &r, err))
        return false;
    bool is_there = PQntuples(r) > 0;
    if (is_there) {
        *newer = (struct newer){.is_over = value_bool(r, 0, 0),
                                .records = value_int8(r, 0, 1),
                                .of = value_int8(r, 0, 2),
                                .events = value_int8(r, 0, 3),
                                .why = value_text(r, 0, 5, arena),
                                .key_count = value_int8(r, 0, 6),
                                .resent = value_int8(r, 0, 7)};
        newer->untold[UNTOLD_CUT] = value_int8(r, 0, 4);
    }
    PQclear(r);
    return is_there || err_set(err, ERR_NOT_FOUND, "the question about newer records was forgotten");
}

static bool
read_untold(struct store *store, int64_t no, struct newer *newer, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    if (!pg_ask(store, FOR_READING,
                "SELECT u.n - 1, u.events FROM redrive.newer_question, unnest(untold) WITH ORDINALITY AS u "
                "(events, n)"
                " WHERE no = $1",
                &params, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        int64_t why = value_int8(r, i, 0);
        if (why > UNTOLD_NOT && why < UNTOLD_COUNT)
            newer->untold[why] += value_int8(r, i, 1);
    }
    PQclear(r);
    return true;
}

static bool
read_stale(struct store *store, int64_t no, struct arena *arena, struct newer *newer, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    if (!pg_ask(store, FOR_READING,
                "SELECT u.id, u.at FROM redrive.newer_question, unnest(stale, stale_at) AS u (id, at)"
                " WHERE no = $1 AND u.id IS NOT NULL ORDER BY 1",
                &params, &r, err))
        return false;
    newer->stale_count = (size_t)PQntuples(r);
    newer->stale = arena_array(arena, newer->stale_count + 1, sizeof *newer->stale);
    newer->stale_at = arena_array(arena, newer->stale_count + 1, sizeof *newer->stale_at);
    for (size_t i = 0; i < newer->stale_count; i++) {
        newer->stale[i] = value_int8(r, (int)i, 0);
        newer->stale_at[i] = value_time(r, (int)i, 1);
    }
    PQclear(r);
    return true;
}

static bool
read_keys(struct store *store, int64_t no, struct arena *arena, struct newer *newer, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    if (!pg_ask(store, FOR_READING,
                "SELECT u.key, u.at, u.deleted = 1 FROM redrive.newer_question,"
                " unnest(keys, keys_at, keys_deleted) WITH ORDINALITY AS u (key, at, deleted, n)"
                " WHERE no = $1 AND u.key IS NOT NULL ORDER BY u.n LIMIT 20",
                &params, &r, err))
        return false;
    newer->shown = (size_t)PQntuples(r);
    newer->keys = arena_array(arena, newer->shown + 1, sizeof *newer->keys);
    for (size_t i = 0; i < newer->shown; i++)
        newer->keys[i] = (struct newer_key){.key = arena_copy(arena, value_bytes(r, (int)i, 0)),
                                            .at = value_time(r, (int)i, 1),
                                            .is_deleted = value_bool(r, (int)i, 2)};
    PQclear(r);
    return true;
}

bool
newer_look(struct store *store, int64_t no, struct arena *arena, struct newer *newer, bool *has_worker,
           struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    if (!newer_may_change(store, err) ||
        !pg_ask(store, FOR_WRITING, "SELECT coalesce(redrive.newer_wait($1), false)", &params, &r, err))
        return false;
    *has_worker = value_bool(r, 0, 0);
    PQclear(r);
    return read_counts(store, no, arena, newer, err) &&
           (!newer->is_over ||
            (read_untold(store, no, newer, err) && read_stale(store, no, arena, newer, err) &&
             read_keys(store, no, arena, newer, err)));
}

// --- for workers

bool
newer_take(struct store *store, const char *worker, struct arena *arena, int64_t *no, int64_t **ids,
           size_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *no = 0;
    *count = 0;
    param_text(&params, worker);
    if (!newer_may_change(store, err) ||
        !pg_ask(store, FOR_WRITING,
                "SELECT t.no, u.id FROM redrive.work_newer_take($1) t"
                " LEFT JOIN LATERAL unnest(t.dlq_ids) AS u (id) ON true ORDER BY 2",
                &params, &r, err))
        return false;
    *ids = arena_array(arena, (size_t)PQntuples(r) + 1, sizeof **ids);
    for (int i = 0; i < PQntuples(r); i++) {
        *no = value_int8(r, i, 0);
        if (!value_is_null(r, i, 1))
            (*ids)[(*count)++] = value_int8(r, i, 1);
    }
    PQclear(r);
    return true;
}

bool
newer_sign(struct store *store, const char *worker, int64_t no, const struct newer *so_far, bool *is_wanted,
           struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, no);
    param_text(&params, worker);
    param_int8(&params, so_far->records);
    param_int8(&params, so_far->of);
    if (!newer_may_change(store, err) ||
        !pg_ask(store, FOR_WRITING, "SELECT redrive.work_newer_sign($1, $2, $3, $4)", &params, &r, err))
        return false;
    *is_wanted = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
newer_answer(struct store *store, const char *worker, int64_t no, const struct newer *newer, struct err *err)
{
    if (!newer_may_change(store, err))
        return false;
    struct arena arena = {0};
    struct bytes *keys = arena_array(&arena, newer->shown + 1, sizeof *keys);
    int64_t *keys_at = arena_array(&arena, newer->shown + 1, sizeof *keys_at);
    int32_t *keys_deleted = arena_array(&arena, newer->shown + 1, sizeof *keys_deleted);
    for (size_t i = 0; i < newer->shown; i++) {
        keys[i] = newer->keys[i].key;
        keys_at[i] = newer->keys[i].at;
        keys_deleted[i] = newer->keys[i].is_deleted;
    }
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, worker);
    param_int8(&params, newer->records);
    param_int8(&params, newer->of);
    param_text(&params, newer->why);
    param_ids(&params, newer->stale, newer->stale_count);
    param_ids(&params, newer->stale_at, newer->stale_count);
    param_int8(&params, newer->key_count);
    param_blobs(&params, keys, newer->shown);
    param_ids(&params, keys_at, newer->shown);
    param_numbers(&params, keys_deleted, newer->shown);
    param_int8(&params, newer->resent);
    param_ids(&params, newer->untold, UNTOLD_COUNT);
    bool ok =
        pg_do(store, FOR_WRITING,
              "SELECT redrive.work_newer_answer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
              &params, err);
    arena_release(&arena);
    return ok;
}
