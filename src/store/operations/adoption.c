#include "store/operations/adoption.h"

#include "store/pg.h"

static bool
adoption_may_change(const struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
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
