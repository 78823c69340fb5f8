#include "store/event_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "core/event.h"
#include "store/pg.h"

#define ROWS_DOWN                                                                                            \
    " FROM (SELECT * FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id > $1 AND e.id < $2"              \
    " ORDER BY e.id DESC LIMIT $3) e"
#define ROWS_UP                                                                                              \
    " FROM (SELECT * FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id > $1 AND e.id < $2"              \
    " ORDER BY e.id LIMIT $3) e"
#define ROWS_THESE " FROM (SELECT * FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id = ANY ($1)) e"
#define KEPT_PAYLOAD                                                                                         \
    "coalesce((SELECT r.payload FROM redrive.revision r WHERE r.event_id = e.id"                             \
    " ORDER BY r.no DESC LIMIT 1), CASE WHEN raw.event_id IS NOT NULL THEN raw.value ELSE"                   \
    " convert_to(e.event_payload::text, 'UTF8') END)"
#define KEPT " LEFT JOIN redrive.record raw ON raw.event_id = e.id"

static const char *
texts_of_sql(const struct store *store, enum event_text text)
{
    static const char *const plain[EVENT_TEXT_COUNT] = {
        [EVENT_TEXT_ERROR] = "SELECT e.id::int8, e.error_message::text" ROWS_THESE,
        [EVENT_TEXT_STACK] = "SELECT e.id::int8, e.stack_trace::text" ROWS_THESE,
        [EVENT_TEXT_KEY] = "SELECT e.id::int8, e.source_id::text" ROWS_THESE,
        [EVENT_TEXT_PAYLOAD] = "SELECT e.id::int8, e.event_payload::text" ROWS_THESE,
    };
    if (text == EVENT_TEXT_PAYLOAD && store->info.schema_version > 0)
        return "SELECT e.id::int8, " KEPT_PAYLOAD ROWS_THESE KEPT;
    if (text == EVENT_TEXT_KEY && store->info.schema_version > 0)
        return "SELECT e.id::int8, coalesce(raw.key, convert_to(e.source_id::text, 'UTF8'))" ROWS_THESE KEPT;
    return plain[text];
}

static const char *
texts_sql(const struct store *store, const struct event_texts_query *query)
{
    static const char *const plain[EVENT_TEXT_COUNT][2] = {
        [EVENT_TEXT_ERROR] = {"SELECT e.id::int8, e.error_message::text" ROWS_DOWN " ORDER BY e.id DESC",
                              "SELECT e.id::int8, e.error_message::text" ROWS_UP " ORDER BY e.id"},
        [EVENT_TEXT_STACK] = {"SELECT e.id::int8, e.stack_trace::text" ROWS_DOWN " ORDER BY e.id DESC",
                              "SELECT e.id::int8, e.stack_trace::text" ROWS_UP " ORDER BY e.id"},
        [EVENT_TEXT_KEY] = {"SELECT e.id::int8, e.source_id::text" ROWS_DOWN " ORDER BY e.id DESC",
                            "SELECT e.id::int8, e.source_id::text" ROWS_UP " ORDER BY e.id"},
        [EVENT_TEXT_PAYLOAD] = {"SELECT e.id::int8, e.event_payload::text" ROWS_DOWN " ORDER BY e.id DESC",
                                "SELECT e.id::int8, e.event_payload::text" ROWS_UP " ORDER BY e.id"},
    };
    static const char *const kept[2] = {
        "SELECT e.id::int8, " KEPT_PAYLOAD ROWS_DOWN KEPT " ORDER BY e.id DESC",
        "SELECT e.id::int8, " KEPT_PAYLOAD ROWS_UP KEPT " ORDER BY e.id",
    };
    static const char *const kept_key[2] = {
        "SELECT e.id::int8, coalesce(raw.key, convert_to(e.source_id::text, 'UTF8'))" ROWS_DOWN KEPT
        " ORDER BY e.id DESC",
        "SELECT e.id::int8, coalesce(raw.key, convert_to(e.source_id::text, 'UTF8'))" ROWS_UP KEPT
        " ORDER BY e.id",
    };
    if (query->text == EVENT_TEXT_PAYLOAD && store->info.schema_version > 0)
        return kept[query->ascending];
    if (query->text == EVENT_TEXT_KEY && store->info.schema_version > 0)
        return kept_key[query->ascending];
    return plain[query->text][query->ascending];
}

bool
store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                  void *context, struct err *err)
{
    struct params params = {0};
    if (query->ids) {
        param_ids(&params, query->ids, query->id_count);
    } else {
        param_int8(&params, query->after_id);
        param_int8(&params, query->before_id);
        param_int8(&params, (int64_t)query->limit);
    }
    PGresult *r;
    const char *sql = query->ids ? texts_of_sql(store, query->text) : texts_sql(store, query);
    if (!pg_ask(store, FOR_SCANNING, sql, &params, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        each(context, value_int8(r, i, 0), value_bytes(r, i, 1));
    PQclear(r);
    return true;
}

bool
store_id_bounds(struct store *store, int64_t *lowest, int64_t *highest, struct err *err)
{
    static const char sql[] =
        "SELECT (SELECT min(e.id)::int8 FROM :\"events\" e), (SELECT max(e.id)::int8 FROM :\"events\" e)";
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    *lowest = value_int8(r, 0, 0);
    *highest = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}

// Escaped for LIKE, with % at both ends; in lower case where case does not count.
static void
add_like(const struct event_scan *scan, struct strbuf *like)
{
    strbuf_add_char(like, '%');
    for (size_t i = 0; i < scan->literal.len; i++) {
        char c = scan->literal.data[i];
        if (strchr("%_\\", c))
            strbuf_add_char(like, '\\');
        strbuf_add_char(like, scan->is_caseless && c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    strbuf_add_char(like, '%');
}

// That a column holds what add_like made. ILIKE takes several times as long as LIKE over lower case where
// that is of ASCII only, but only ILIKE goes by a trigram index.
enum { EXACT, CASELESS, BY_INDEX, WAYS };
#define HOLDS(column, like)                                                                                  \
    {                                                                                                        \
        [EXACT] = " AND (" column " LIKE " like,                                                             \
        [CASELESS] = " AND (pg_catalog.lower(" column " COLLATE \"C\") LIKE " like,                          \
        [BY_INDEX] = " AND (" column " ILIKE " like,                                                         \
    }

static int
way_of(const struct event_scan *scan)
{
    return !scan->is_caseless ? EXACT : scan->is_indexed ? BY_INDEX : CASELESS;
}

#define SET_LIKE "(SELECT pg_catalog.current_setting('redrive.like'))"
// What a COPY, which has no parameters, reads its value from. Rows that come from several processes of the
// server at once are taken to cost it no more for that: they are to be here soon.
static bool
set_like(struct store *store, const struct event_scan *scan, struct err *err)
{
    struct strbuf like = {0};
    struct params params = {0};
    add_like(scan, &like);
    param_text(&params, strbuf_text(&like));
    bool ok = pg_do(store, FOR_SCANNING,
                    "SELECT pg_catalog.set_config('redrive.like', $1, true),"
                    " pg_catalog.set_config('parallel_tuple_cost', '0', true)",
                    &params, err);
    strbuf_release(&like);
    return ok;
}

bool
store_count_literal(struct store *store, const struct event_scan *scan, int64_t lowest, int64_t *count,
                    struct err *err)
{
    static const char *const holds[EVENT_TEXT_COUNT][WAYS] = {
        [EVENT_TEXT_ERROR] = HOLDS("e.error_message", "$2"),
        [EVENT_TEXT_STACK] = HOLDS("e.stack_trace", "$2"),
        [EVENT_TEXT_PAYLOAD] = HOLDS("e.event_payload::text", "$2"),
    };
    struct strbuf sql = {0};
    struct strbuf like = {0};
    struct params params = {0};
    strbuf_printf(&sql, "SELECT count(*) FROM :\"events\" e WHERE e.id >= $1%s)",
                  holds[scan->text][way_of(scan)]);
    add_like(scan, &like);
    param_int8(&params, lowest);
    param_text(&params, strbuf_text(&like));
    PGresult *r;
    bool ok = pg_ask(store, FOR_SCANNING, strbuf_text(&sql), &params, &r, err);
    strbuf_release(&like);
    strbuf_release(&sql);
    if (!ok)
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

static void
add_scan_sql(const struct store *store, const struct event_scan *scan, struct strbuf *sql)
{
    static const char *const plain[] = {
        [EVENT_TEXT_ERROR] =
            "SELECT e.id::int8, e.created_at::timestamp, e.error_message::text FROM :\"events\" e WHERE true",
        [EVENT_TEXT_STACK] =
            "SELECT e.id::int8, e.created_at::timestamp, e.stack_trace::text FROM :\"events\" e WHERE true",
        [EVENT_TEXT_PAYLOAD] =
            "SELECT e.id::int8, e.created_at::timestamp, e.event_payload::text FROM :\"events\" e WHERE true",
    };
    static const char *const holds[EVENT_TEXT_COUNT][WAYS] = {
        [EVENT_TEXT_ERROR] = HOLDS("e.error_message", SET_LIKE),
        [EVENT_TEXT_STACK] = HOLDS("e.stack_trace", SET_LIKE),
        [EVENT_TEXT_PAYLOAD] = HOLDS("e.event_payload::text", SET_LIKE),
    };
    bool is_kept = scan->text == EVENT_TEXT_PAYLOAD && store->info.schema_version > 0;
    strbuf_add_text(sql, "COPY (");
    strbuf_add_text(sql, is_kept ? "SELECT e.id::int8, e.created_at::timestamp, " KEPT_PAYLOAD
                                   " FROM :\"events\" e" KEPT " WHERE true"
                                 : plain[scan->text]);
    if (scan->statuses == 1u << EVENT_PENDING)
        strbuf_add_text(sql, " AND e.status = 'PENDING'");
    else if (scan->statuses == 1u << EVENT_RESOLVED)
        strbuf_add_text(sql, " AND e.status = 'RESOLVED'");
    else if (scan->statuses == 1u << EVENT_DISCARDED)
        strbuf_add_text(sql, " AND e.status = 'DISCARDED'");
    if (scan->literal.len) {
        strbuf_add_text(sql, holds[scan->text][way_of(scan)]);
        if (is_kept)
            strbuf_add_text(sql, " OR raw.event_id IS NOT NULL OR EXISTS (SELECT FROM redrive.revision r"
                                 " WHERE r.event_id = e.id)");
        strbuf_add_char(sql, ')');
    }
    strbuf_add_text(sql, ") TO STDOUT (FORMAT binary)");
}

struct scanning {
    event_scan_fn *each;
    void *context;
};

static bool
scan_row(void *context, const struct bytes fields[PG_FIELDS])
{
    const struct scanning *scanning = context;
    return fields[0].len != 8 ||
           scanning->each(scanning->context, field_int8(fields[0]), field_time(fields[1]), fields[2]);
}

bool
store_scan_texts(struct store *store, const struct event_scan *scan, event_scan_fn *each, void *context,
                 struct err *err)
{
    struct scanning scanning = {.each = each, .context = context};
    struct strbuf sql = {0};
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    add_scan_sql(store, scan, &sql);
    bool ok = set_like(store, scan, err) && pg_copy_rows(store, strbuf_text(&sql), scan_row, &scanning, err);
    pg_rollback(store);
    strbuf_release(&sql);
    return ok;
}

bool
store_change_count(struct store *store, int64_t *count, struct err *err)
{
    static const char sql[] =
        "SELECT coalesce(sum(s.n_tup_upd + s.n_tup_del), 0)::int8 + coalesce(sum(s.n_tup_ins) FILTER (WHERE "
        "s.relid IN"
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
store_change_mark(struct store *store, int64_t *mark, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())", NULL, &r, err))
        return false;
    *mark = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// A row's xmin is of 32 bits and has no order of its own; age() counts back from now (manual, 25.1.5).
#define WRITTEN_SINCE(row) "pg_catalog.age(" row ".xmin) <= pg_catalog.age($1::text::xid)"
#define CHANGED_EVENTS                                                                                       \
    "SELECT e.id::int8 FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id <= $3 AND " WRITTEN_SINCE("e")

bool
store_changed_ids(struct store *store, int64_t mark, int64_t highest, size_t limit, int64_t **ids,
                  size_t *count, struct err *err)
{
    static const char plain[] = CHANGED_EVENTS " LIMIT $2";
    static const char whole[] =
        CHANGED_EVENTS " UNION ALL SELECT r.event_id FROM redrive.revision r WHERE " WRITTEN_SINCE(
            "r") " UNION ALL SELECT w.event_id FROM redrive.record w WHERE " WRITTEN_SINCE("w") " LIMIT $2";
    struct params params = {0};
    char xid[24];
    snprintf(xid, sizeof xid, "%" PRIu32, (uint32_t)mark);
    param_text(&params, xid);
    param_int8(&params, (int64_t)limit);
    param_int8(&params, highest);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, store->info.schema_version > 0 ? whole : plain, &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *ids = alloc_array(*count + 1, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = value_int8(r, (int)i, 0);
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
