#include "store/event_texts.h"

#include <string.h>
#include "store/pg.h"

#define ROWS_DOWN                                                                                            \
    " FROM (SELECT * FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id > $1 AND e.id < $2"              \
    " ORDER BY e.id DESC LIMIT $3) e"
#define ROWS_UP                                                                                              \
    " FROM (SELECT * FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id > $1 AND e.id < $2"              \
    " ORDER BY e.id LIMIT $3) e"
#define KEPT_PAYLOAD                                                                                         \
    "SELECT e.id::int8, coalesce((SELECT r.payload FROM redrive.revision r WHERE r.event_id = e.id"          \
    " ORDER BY r.no DESC LIMIT 1), CASE WHEN raw.event_id IS NOT NULL THEN raw.value ELSE"                   \
    " convert_to(e.event_payload::text, 'UTF8') END)"
#define KEPT " LEFT JOIN redrive.record raw ON raw.event_id = e.id"

static const char *
texts_sql(const struct store *store, const struct event_texts_query *query)
{
    static const char *const plain[EVENT_TEXT_COUNT][2] = {
        [EVENT_TEXT_ERROR] = {"SELECT e.id::int8, e.error_message::text" ROWS_DOWN " ORDER BY e.id DESC",
                              "SELECT e.id::int8, e.error_message::text" ROWS_UP " ORDER BY e.id"},
        [EVENT_TEXT_STACK] = {"SELECT e.id::int8, e.stack_trace::text" ROWS_DOWN " ORDER BY e.id DESC",
                              "SELECT e.id::int8, e.stack_trace::text" ROWS_UP " ORDER BY e.id"},
        [EVENT_TEXT_PAYLOAD] = {"SELECT e.id::int8, e.event_payload::text" ROWS_DOWN " ORDER BY e.id DESC",
                                "SELECT e.id::int8, e.event_payload::text" ROWS_UP " ORDER BY e.id"},
    };
    static const char *const kept[2] = {KEPT_PAYLOAD ROWS_DOWN KEPT " ORDER BY e.id DESC",
                                        KEPT_PAYLOAD ROWS_UP KEPT " ORDER BY e.id"};
    if (query->text == EVENT_TEXT_PAYLOAD && store->info.schema_version > 0)
        return kept[query->ascending];
    return plain[query->text][query->ascending];
}

bool
store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                  void *context, struct err *err)
{
    struct params params = {0};
    param_int8(&params, query->after_id);
    param_int8(&params, query->before_id);
    param_int8(&params, (int64_t)query->limit);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, texts_sql(store, query), &params, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        each(context, value_int8(r, i, 0), value_bytes(r, i, 1));
    PQclear(r);
    return true;
}

bool
store_change_count(struct store *store, int64_t *count, struct err *err)
{
    static const char sql[] =
        "SELECT coalesce(sum(s.n_tup_upd), 0)::int8 + coalesce(sum(s.n_tup_ins) FILTER (WHERE s.relid IN"
        " (to_regclass('redrive.revision'), to_regclass('redrive.record'))), 0)::int8"
        " FROM pg_catalog.pg_stat_all_tables s WHERE s.relid IN (to_regclass('redrive.revision'),"
        " to_regclass('redrive.record')) OR s.relid IN (SELECT t.relid FROM"
        " pg_catalog.pg_partition_tree(:'events'::regclass) t) OR s.relid = :'events'::regclass";
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
store_trigram_index(struct store *store, enum event_text text, char name[64], struct err *err)
{
    static const char *const columns[] = {[EVENT_TEXT_ERROR] = "error_message",
                                          [EVENT_TEXT_STACK] = "stack_trace",
                                          [EVENT_TEXT_PAYLOAD] = "event_payload"};
    static const char sql[] =
        "SELECT i.indexrelid::regclass::text FROM pg_catalog.pg_index i JOIN pg_catalog.pg_opclass o"
        " ON o.oid = i.indclass[0] WHERE i.indrelid = :'events'::regclass AND i.indisvalid"
        " AND o.opcname IN ('gin_trgm_ops', 'gist_trgm_ops')"
        " AND pg_catalog.pg_get_indexdef(i.indexrelid, 1, true) IN ($1, '(' || $1 || ')::text',"
        " '(' || $1 || '::text)', $1 || '::text') ORDER BY 1 LIMIT 1";
    struct params params = {0};
    param_text(&params, columns[text]);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, &params, &r, err))
        return false;
    name[0] = '\0';
    if (PQntuples(r))
        value_copy(r, 0, 0, name, 64);
    PQclear(r);
    return true;
}
