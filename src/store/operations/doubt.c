#include "store/operations/doubt.h"

#include "store/pg.h"

static const char list_sql[] =
    "SELECT c.id::text, c.cluster, c.slot, c.operation_no, c.events, c.dlq_ids[1],"
    " c.dlq_ids[cardinality(c.dlq_ids)], c.created_at, c.evidence, NOT c.needs_person,"
    " pg_catalog.has_function_privilege('redrive.chunk_decide(bigint,text,text,text)', 'EXECUTE'),"
    " pg_catalog.quote_ident(session_user)"
    " FROM redrive.chunk c WHERE c.state = 'in doubt' AND ($1 = 0 OR c.operation_no = $1)"
    " UNION ALL SELECT NULL, s.cluster, s.no, 0, 0, 0, 0, NULL, s.note, false,"
    " pg_catalog.has_function_privilege('redrive.slot_renew(text,integer,text)', 'EXECUTE'),"
    " pg_catalog.quote_ident(session_user)"
    " FROM redrive.slot s WHERE $1 = 0 AND s.is_suspended AND NOT EXISTS (SELECT FROM redrive.chunk c"
    "  WHERE c.cluster = s.cluster AND c.slot = s.no AND c.state IN ('claimed', 'in doubt'))"
    " ORDER BY 8 NULLS LAST, 1, 2, 3";

bool
doubt_list(struct store *store, int64_t operation, struct arena *arena, struct doubt **doubts, size_t *count,
           struct err *err)
{
    PGresult *r;
    struct params params = {0};
    param_int8(&params, operation);
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING, list_sql, &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *doubts = arena_array(arena, *count + 1, sizeof **doubts);
    for (int i = 0; i < PQntuples(r); i++)
        (*doubts)[i] = (struct doubt){
            .chunk = value_text(r, i, 0, arena),
            .cluster = value_text(r, i, 1, arena),
            .slot = value_int4(r, i, 2),
            .operation = value_int8(r, i, 3),
            .events = value_int4(r, i, 4),
            .first_event = value_int8(r, i, 5),
            .last_event = value_int8(r, i, 6),
            .created_at = value_time(r, i, 7),
            .evidence = value_text(r, i, 8, arena),
            .is_searched = value_bool(r, i, 9),
            .denied = value_bool(r, i, 10)
                          ? NULL
                          : arena_printf(arena, "this is for administrators: GRANT redrive_admin TO %s",
                                         value_text(r, i, 11, arena)),
        };
    PQclear(r);
    return true;
}

bool
doubt_decide(struct store *store, int64_t operation, const char *chunk, bool is_published, const char *reason,
             int64_t *events, struct err *err)
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

bool
doubt_renew(struct store *store, const char *cluster, int32_t slot, const char *reason, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_text(&params, cluster);
    param_int4(&params, slot);
    param_text(&params, reason);
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.slot_renew($1, $2, $3)", &params, &r, err))
        return false;
    PQclear(r);
    return true;
}
