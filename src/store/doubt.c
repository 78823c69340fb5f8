#include "store/doubt.h"

#include "store/pg.h"

bool
doubtful_chunks(struct store *store, int64_t operation, struct arena *arena, struct doubtful **chunks,
                size_t *count, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    param_int8(&params, operation);
    if (!pg_has_schema(store, err) ||
        !pg_ask(
            store, FOR_READING,
            "SELECT id::text, events, event_ids[1], event_ids[cardinality(event_ids)], created_at, evidence"
            " FROM redrive.chunk WHERE operation_no = $1 AND state = 'in doubt' ORDER BY created_at, id",
            &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *chunks = arena_array(arena, *count + 1, sizeof **chunks);
    for (int i = 0; i < PQntuples(r); i++)
        (*chunks)[i] = (struct doubtful){
            .chunk = value_text(r, i, 0, arena),
            .operation = operation,
            .events = value_int4(r, i, 1),
            .first_event = value_int8(r, i, 2),
            .last_event = value_int8(r, i, 3),
            .created_at = value_time(r, i, 4),
            .evidence = value_text(r, i, 5, arena),
        };
    PQclear(r);
    return true;
}

bool
doubtful_decide(struct store *store, int64_t operation, const char *chunk, bool is_published,
                const char *reason, int64_t *events, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_int8(&params, operation);
    param_text(&params, chunk);
    param_text(&params, is_published ? "published" : "again");
    param_text(&params, reason);
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.chunk_decide($1, $2, $3, $4)", &params, &r, err))
        return false;
    *events = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}
