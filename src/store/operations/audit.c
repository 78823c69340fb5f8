#include "store/operations/audit.h"

#include "store/pg.h"

bool
audit_list(struct store *store, const struct audit_query *query, struct arena *arena, struct audit_row **rows,
           size_t *count, struct err *err)
{
    *rows = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, query->before ? query->before : INT64_MAX);
    param_int8(&params, (int64_t)query->limit);
    param_int8(&params, query->operation);
    param_bool(&params, query->of_people);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT no, at, who::text, host, action, coalesce(operation_no, 0), events, reason, detail "
                "FROM redrive.audit"
                " WHERE no < $1 AND ($3 = 0 OR operation_no = $3) AND NOT ($4 AND action = ANY"
                " ('{finish,refuse,apply,step,takeover,probe,retire,done}')) ORDER BY no DESC LIMIT $2",
                &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *rows = arena_array(arena, *count, sizeof **rows);
    for (int i = 0; i < PQntuples(r); i++) {
        (*rows)[i] = (struct audit_row){
            .no = value_int8(r, i, 0),
            .at = value_time(r, i, 1),
            .who = value_text(r, i, 2, arena),
            .host = value_text(r, i, 3, arena),
            .action = value_text(r, i, 4, arena),
            .operation = value_int8(r, i, 5),
            .events = value_int8(r, i, 6),
            .reason = value_text(r, i, 7, arena),
            .detail = value_text(r, i, 8, arena),
        };
    }
    PQclear(r);
    return true;
}
