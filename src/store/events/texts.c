#include "store/events/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "core/event.h"
#include "core/filter/required_literals.h"
#include "store/events/events.h"
#include "store/events/reader.h"
#include "store/events/unreadable.h"
#include "store/pg.h"
#include "store/query.h"

// By name: whoever may read the contract's columns may not read others that the table has besides.
#define TEXTS                                                                                                \
    " FROM (SELECT e.id, e.error_message, e.stack_trace, e.source_id, e.event_payload FROM :\"events\" e"    \
    " WHERE e.status = 'PENDING'"
#define ROWS_DOWN TEXTS " AND e.id >= $1 AND e.id <= $2 AND e.id <> ALL ($4) ORDER BY e.id DESC LIMIT $3) e"
#define ROWS_UP TEXTS " AND e.id >= $1 AND e.id <= $2 AND e.id <> ALL ($4) ORDER BY e.id LIMIT $3) e"
#define ROWS_THESE TEXTS " AND e.id = ANY ($1) AND e.id <> ALL ($2)) e"
#define KEPT_PAYLOAD                                                                                         \
    "coalesce((SELECT r.payload FROM redrive.revision r WHERE r.dlq_id = e.id"                               \
    " ORDER BY r.no DESC LIMIT 1), CASE WHEN raw.dlq_id IS NOT NULL AND raw.decoding IS DISTINCT FROM"       \
    " 'decoded' THEN coalesce(raw.value, (SELECT o.value FROM redrive.original o WHERE o.dlq_id = e.id))"    \
    " ELSE convert_to(e.event_payload::text, 'UTF8') END)"
#define KEPT_KEY                                                                                             \
    "coalesce(raw.key, (SELECT o.key FROM redrive.original o WHERE o.dlq_id = raw.dlq_id),"                  \
    " convert_to(e.source_id::text, 'UTF8'))"
#define KEPT " LEFT JOIN redrive.record raw ON raw.dlq_id = e.id"

// Are payloads and keys stored elsewhere than in their columns? Joining redrive's rows adds half of the cost
// of the text itself, so they are joined only if any exist. Rows added later are changes after the reading.
static bool
is_kept_elsewhere(struct store *store, enum event_text text, bool *is_kept, struct err *err)
{
    *is_kept = false;
    if (store->info.schema_version == 0 || (text != EVENT_TEXT_PAYLOAD && text != EVENT_TEXT_KEY))
        return true;
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT EXISTS (SELECT FROM redrive.record) OR EXISTS (SELECT FROM redrive.revision)", NULL,
                &r, err))
        return false;
    *is_kept = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

static const char *
texts_of_sql(enum event_text text, bool is_kept)
{
    static const char *const plain[EVENT_TEXT_COUNT] = {
        [EVENT_TEXT_ERROR] = "SELECT e.id::int8, e.error_message::text" ROWS_THESE,
        [EVENT_TEXT_STACK] = "SELECT e.id::int8, e.stack_trace::text" ROWS_THESE,
        [EVENT_TEXT_KEY] = "SELECT e.id::int8, e.source_id::text" ROWS_THESE,
        [EVENT_TEXT_PAYLOAD] = "SELECT e.id::int8, e.event_payload::text" ROWS_THESE,
    };
    if (text == EVENT_TEXT_PAYLOAD && is_kept)
        return "SELECT e.id::int8, " KEPT_PAYLOAD ROWS_THESE KEPT;
    if (text == EVENT_TEXT_KEY && is_kept)
        return "SELECT e.id::int8, " KEPT_KEY ROWS_THESE KEPT;
    return plain[text];
}

static const char *
texts_sql(const struct event_texts_query *query, bool is_kept)
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
        "SELECT e.id::int8, " KEPT_KEY ROWS_DOWN KEPT " ORDER BY e.id DESC",
        "SELECT e.id::int8, " KEPT_KEY ROWS_UP KEPT " ORDER BY e.id",
    };
    if (query->text == EVENT_TEXT_PAYLOAD && is_kept)
        return kept[query->ascending];
    if (query->text == EVENT_TEXT_KEY && is_kept)
        return kept_key[query->ascending];
    return plain[query->text][query->ascending];
}

struct texts_reading {
    event_text_fn *each;
    void *context;
    size_t count; // texts that came
    int64_t last; // id of the last one
};

static bool
event_texts_read_text(void *context, const PGresult *row)
{
    struct texts_reading *reading = context;
    reading->count++;
    reading->last = value_int8(row, 0, 0);
    return reading->each(reading->context, value_int8(row, 0, 0), value_bytes(row, 0, 1));
}

bool
store_text_is_unreadable(const struct err *err)
{
    return unreadable_is_cause(err);
}

// The column of a text; LONG_COLUMNS: it is a short one.
static enum long_column
long_column_of(enum event_text text)
{
    static const enum long_column columns[EVENT_TEXT_COUNT] = {[EVENT_TEXT_ERROR] = LONG_ERROR,
                                                               [EVENT_TEXT_STACK] = LONG_STACK,
                                                               [EVENT_TEXT_KEY] = LONG_COLUMNS,
                                                               [EVENT_TEXT_PAYLOAD] = LONG_PAYLOAD};
    return columns[text];
}

// Those that are known to be unreadable are left out.
static bool
read_texts(struct store *store, const struct event_texts_query *query, bool is_kept,
           struct texts_reading *reading, struct err *err)
{
    struct params params = {0};
    if (query->ids) {
        param_ids(&params, query->ids, query->id_count);
    } else {
        param_int8(&params, query->after_id == INT64_MIN ? INT64_MIN : query->after_id + 1);
        param_int8(&params, query->before_id == INT64_MAX ? INT64_MAX : query->before_id - 1);
        param_int8(&params, (int64_t)query->limit);
    }
    unreadable_param(store, long_column_of(query->text), &params);
    const char *sql = query->ids ? texts_of_sql(query->text, is_kept) : texts_sql(query, is_kept);
    return pg_stream_until(store, FOR_SCANNING, sql, &params, event_texts_read_text, reading, err);
}

static bool
find_in_texts(struct store *store, const struct event_texts_query *query)
{
    const struct event_query events = {.fields = EVENT_BARE,
                                       .statuses = 1u << EVENT_PENDING,
                                       .ids = query->ids,
                                       .id_count = query->id_count,
                                       .after_id = query->after_id,
                                       .before_id = query->before_id,
                                       .ascending = query->ascending,
                                       .limit = query->limit};
    struct event_page page = {0};
    struct err ignored = {0};
    if (!store_events(store, &events, &page, &ignored))
        return false;
    int64_t *ids = arena_array(&page.arena, page.count, sizeof *ids);
    for (size_t i = 0; i < page.count; i++)
        ids[i] = page.events[i].id;
    bool is_found = unreadable_find(store, 1u << long_column_of(query->text), ids, page.count);
    event_page_release(&page);
    return is_found;
}

bool
store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                  void *context, struct err *err)
{
    bool is_kept;
    if (!is_kept_elsewhere(store, query->text, &is_kept, err))
        return false;
    struct texts_reading reading = {.each = each, .context = context};
    struct event_texts_query rest = *query;
    for (;;) {
        struct err failure = {0};
        if (read_texts(store, &rest, is_kept, &reading, &failure))
            return true;
        bool is_text = query->text != EVENT_TEXT_KEY && unreadable_is_cause(&failure);
        if (reading.count == 0 && is_text && find_in_texts(store, &rest))
            continue;
        // Those that came stay; the rest of the page is read as another.
        if (reading.count == 0 || !is_text || query->ids || rest.limit <= reading.count) {
            if (err && err->kind == ERR_NONE)
                *err = failure;
            return false;
        }
        rest.limit -= reading.count;
        *(rest.ascending ? &rest.after_id : &rest.before_id) = reading.last;
        reading.count = 0;
    }
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

// --- scans ---

// How the server finds what fits. ILIKE takes several times as long as LIKE over lower case where that is of
// ASCII only, but only ILIKE goes by a trigram index; and a text alone is found quicker by its place.
enum way { EXACT, CASELESS, CASELESS_TEXT, BY_INDEX };

static enum way
way_of(const struct event_scan *scan)
{
    return !scan->is_caseless                 ? EXACT
           : scan->is_indexed                 ? BY_INDEX
           : required_is_text(scan->required) ? CASELESS_TEXT
                                              : CASELESS;
}

// One alternative of an required for LIKE, with % at both ends; in lower case where case does not count.
static void
add_like(const struct store *store, const struct event_scan *scan, struct bytes alternative,
         struct strbuf *like)
{
    // Elsewhere what is one character here may be several there.
    const char *encoding = PQparameterStatus(store->conn, "server_encoding");
    char one = encoding && strcmp(encoding, "UTF8") == 0 ? '_' : '%';
    strbuf_add_char(like, '%');
    for (size_t i = 0; i < alternative.len; i++) {
        char c = alternative.data[i];
        bool is_any = (unsigned char)c == REQUIRED_ANY;
        if (is_any || (unsigned char)c == REQUIRED_ONE) {
            strbuf_add_char(like, is_any ? '%' : one);
            continue;
        }
        if (strchr("%_\\", c))
            strbuf_add_char(like, '\\');
        strbuf_add_char(like, scan->is_caseless && c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    strbuf_add_char(like, '%');
}

static bool
has_alternatives(const struct event_scan *scan)
{
    return scan->required.len && memchr(scan->required.data, REQUIRED_OR, scan->required.len);
}

static void
add_lower(struct bytes text, struct strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        strbuf_add_char(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

// The whole required: a text for LIKE, or an array of them in PostgreSQL's own writing (manual, 8.15.2).
static void
add_likes(const struct store *store, const struct event_scan *scan, struct strbuf *likes)
{
    if (way_of(scan) == CASELESS_TEXT) {
        add_lower(scan->required, likes);
        return;
    }
    if (!has_alternatives(scan)) {
        add_like(store, scan, scan->required, likes);
        return;
    }
    for (size_t from = 0; from <= scan->required.len;) {
        struct bytes rest = bytes_slice(scan->required, from, SIZE_MAX);
        const char *mark = rest.len ? memchr(rest.data, REQUIRED_OR, rest.len) : NULL;
        struct bytes one = bytes_slice(rest, 0, mark ? (size_t)(mark - rest.data) : rest.len);
        struct strbuf like = {0};
        add_like(store, scan, one, &like);
        strbuf_add_text(likes, from ? ",\"" : "{\"");
        for (size_t i = 0; i < like.len; i++) {
            if (strchr("\"\\", like.data[i]))
                strbuf_add_char(likes, '\\');
            strbuf_add_char(likes, like.data[i]);
        }
        strbuf_add_char(likes, '"');
        strbuf_release(&like);
        from += one.len + 1;
    }
    strbuf_add_char(likes, '}');
}

// What the server looks for, as values of a statement.
struct sought {
    struct strbuf likes;
    struct strbuf run; // for LIKE; empty: none is worth looking for
};

// The longest run of a text that is the same in either case, if it is worth looking for; else absent.
static struct bytes
run_without_case(struct bytes text)
{
    enum { LEAST = 3 };
    struct bytes longest = BYTES_ABSENT;
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        bool is_in_run = i < text.len && (unsigned char)text.data[i] < 0x80 &&
                         !(text.data[i] >= 'a' && text.data[i] <= 'z') &&
                         !(text.data[i] >= 'A' && text.data[i] <= 'Z');
        if (is_in_run)
            continue;
        if (i - from >= LEAST && i - from > longest.len)
            longest = bytes_slice(text, from, i - from);
        from = i + 1;
    }
    return longest;
}

static bool
has_run(const struct event_scan *scan)
{
    return way_of(scan) == CASELESS_TEXT && bytes_present(run_without_case(scan->required));
}

// Where a statement has what it looks for from.
struct looked_for {
    struct query_piece likes, run;
};
static const struct looked_for in_params = {PIECE_ROW(":likes"), PIECE_ROW(":run")};
// COPY has no parameters, but reads settings.
static const struct looked_for in_settings = {
    PIECE_ROW("(SELECT pg_catalog.current_setting('redrive.like'))"),
    PIECE_ROW("(SELECT pg_catalog.current_setting('redrive.run'))")};

// A copy in lower case costs as much as the rest: most texts are ruled out without it.
static void
add_run(const struct event_scan *scan, const struct looked_for *from, struct query_piece column,
        struct query *query)
{
    if (!has_run(scan))
        return;
    query_add(query, column);
    query_add(query, PIECE(" COLLATE \"C\" LIKE "));
    query_add(query, from->run);
    query_add(query, PIECE(" AND "));
}

// That the text fits.
static void
add_fits(const struct event_scan *scan, const struct looked_for *from, struct query *query)
{
    static const struct query_piece columns[EVENT_TEXT_COUNT] = {
        [EVENT_TEXT_ERROR] = PIECE_ROW("e.error_message"),
        [EVENT_TEXT_STACK] = PIECE_ROW("e.stack_trace"),
        [EVENT_TEXT_PAYLOAD] = PIECE_ROW("e.event_payload::text"),
    };
    static const struct {
        struct query_piece before, behind, end;
    } ways[] = {
        [EXACT] = {PIECE_ROW(""), PIECE_ROW(" LIKE "), PIECE_ROW("")},
        [CASELESS] = {PIECE_ROW("pg_catalog.lower("), PIECE_ROW(" COLLATE \"C\") LIKE "), PIECE_ROW("")},
        [CASELESS_TEXT] = {PIECE_ROW("pg_catalog.strpos(pg_catalog.lower("), PIECE_ROW(" COLLATE \"C\"), "),
                           PIECE_ROW(") > 0")},
        [BY_INDEX] = {PIECE_ROW(""), PIECE_ROW(" ILIKE "), PIECE_ROW("")},
    };
    enum way way = way_of(scan);
    bool is_any = has_alternatives(scan);
    add_run(scan, from, columns[scan->text], query);
    query_add(query, ways[way].before);
    query_add(query, columns[scan->text]);
    query_add(query, ways[way].behind);
    query_add(query, is_any ? PIECE("ANY (") : PIECE(""));
    query_add(query, from->likes);
    query_add(query, is_any ? PIECE("::text[])") : PIECE(""));
    query_add(query, ways[way].end);
}

static void
sought_init(struct sought *sought, const struct store *store, const struct event_scan *scan)
{
    *sought = (struct sought){0};
    add_likes(store, scan, &sought->likes);
    if (has_run(scan))
        add_like(store, scan, run_without_case(scan->required), &sought->run);
}

static void
sought_release(struct sought *sought)
{
    strbuf_release(&sought->likes);
    strbuf_release(&sought->run);
}

static void
give_sought(const struct sought *sought, struct query *query)
{
    param_text(query_param(query, "likes"), strbuf_text(&sought->likes));
    param_text(query_param(query, "run"), strbuf_text(&sought->run));
}

bool
store_count_fitting(struct store *store, const struct event_scan *scan, int64_t lowest, int64_t *count,
                    struct err *err)
{
    struct query query = {0};
    struct sought sought;
    PGresult *r;
    sought_init(&sought, store, scan);
    query_add(&query, PIECE("SELECT count(*) FROM :\"events\" e WHERE e.id >= :lowest AND "));
    add_fits(scan, &in_params, &query);
    param_int8(query_param(&query, "lowest"), lowest);
    give_sought(&sought, &query);
    bool ok = pg_ask(store, FOR_SCANNING, query_text(&query), &query.params, &r, err);
    if (ok)
        *count = value_int8(r, 0, 0);
    PQclear(r);
    sought_release(&sought);
    query_release(&query);
    return ok;
}

// The rows and, of each, what struct scanned_row has of it; more may be asked of them.
static void
add_scan(const struct event_scan *scan, bool is_kept, const struct looked_for *from, struct query *query)
{
#define SCANNED "SELECT e.id::int8, e.created_at::timestamp, "
#define SCANNED_ROWS " FROM :\"events\" e"
    static const struct query_piece fitting =
        PIECE_ROW(SCANNED "NULL::text, true" SCANNED_ROWS " WHERE true");
    static const struct query_piece plain[] = {
        [EVENT_TEXT_ERROR] = PIECE_ROW(SCANNED "e.error_message::text, false" SCANNED_ROWS " WHERE true"),
        [EVENT_TEXT_STACK] = PIECE_ROW(SCANNED "e.stack_trace::text, false" SCANNED_ROWS " WHERE true"),
        [EVENT_TEXT_PAYLOAD] = PIECE_ROW(SCANNED "e.event_payload::text, false" SCANNED_ROWS " WHERE true"),
    };
    query_add(query, is_kept           ? PIECE(SCANNED KEPT_PAYLOAD ", false" SCANNED_ROWS KEPT " WHERE true")
                     : scan->is_enough ? fitting
                                       : plain[scan->text]);
    query_add(query, event_reader_has_status(scan->statuses));
    if (scan->required.len == 0)
        return;
    query_add(query, PIECE(" AND ("));
    add_fits(scan, from, query);
    if (is_kept)
        query_add(query, PIECE(" OR raw.dlq_id IS NOT NULL OR EXISTS (SELECT FROM redrive.revision r"
                               " WHERE r.dlq_id = e.id)"));
    query_add(query, PIECE(")"));
}

// The settings from which a COPY reads its values. Rows that come from several
// processes of the server at once are taken to cost it no more for that: they are to be here soon.
static bool
set_sought(struct store *store, const struct event_scan *scan, struct err *err)
{
    struct sought sought;
    struct params params = {0};
    sought_init(&sought, store, scan);
    param_text(&params, strbuf_text(&sought.likes));
    param_int8(&params, scan->before_id);
    param_text(&params, strbuf_text(&sought.run));
    bool ok = pg_do(store, FOR_SCANNING,
                    "SELECT pg_catalog.set_config('redrive.like', $1, true),"
                    " pg_catalog.set_config('redrive.before', $2::int8::text, true),"
                    " pg_catalog.set_config('redrive.run', $3, true),"
                    " pg_catalog.set_config('parallel_tuple_cost', '0', true)",
                    &params, err);
    sought_release(&sought);
    return ok;
}

struct scanning {
    event_scan_fn *each;
    void *context;
};

static bool
scan_row(void *context, const struct bytes fields[PG_FIELDS])
{
    const struct scanning *scanning = context;
    const struct scanned_row row = {.id = field_int8(fields[0]),
                                    .created_wall = field_time(fields[1]),
                                    .text = fields[2],
                                    .fits = fields[3].len == 1 && fields[3].data[0]};
    return fields[0].len != 8 || scanning->each(scanning->context, &row);
}

bool
store_scan_texts(struct store *store, const struct event_scan *scan, event_scan_fn *each, void *context,
                 struct err *err)
{
    struct scanning scanning = {.each = each, .context = context};
    struct query query = {0};
    bool is_kept;
    if (!is_kept_elsewhere(store, scan->text, &is_kept, err) || !pg_begin(store, FOR_SCANNING, err))
        return false;
    query_add(&query, PIECE("COPY ("));
    add_scan(scan, is_kept, &in_settings, &query);
    if (scan->has_before)
        query_add(&query, PIECE(" AND e.id < (SELECT pg_catalog.current_setting('redrive.before')::int8)"));
    query_add(&query, PIECE(") TO STDOUT (FORMAT binary)"));
    bool ok =
        set_sought(store, scan, err) && pg_copy_rows(store, query_text(&query), scan_row, &scanning, err);
    pg_rollback(store);
    query_release(&query);
    return ok;
}

static bool
range_row(void *context, const PGresult *r)
{
    const struct scanning *scanning = context;
    const struct scanned_row row = {.id = value_int8(r, 0, 0),
                                    .created_wall = value_time(r, 0, 1),
                                    .text = value_bytes(r, 0, 2),
                                    .fits = value_bool(r, 0, 3)};
    return scanning->each(scanning->context, &row);
}

bool
store_scan_range(struct store *store, const struct event_scan *scan, int64_t low, int64_t high,
                 event_scan_fn *each, void *context, struct err *err)
{
    struct scanning scanning = {.each = each, .context = context};
    struct query query = {0};
    struct sought sought;
    bool is_kept;
    if (!is_kept_elsewhere(store, scan->text, &is_kept, err))
        return false;
    sought_init(&sought, store, scan);
    add_scan(scan, is_kept, &in_params, &query);
    query_add(&query, PIECE(" AND e.id BETWEEN :low AND :high ORDER BY e.id DESC"));
    param_int8(query_param(&query, "low"), low);
    param_int8(query_param(&query, "high"), high);
    give_sought(&sought, &query);
    bool ok =
        pg_stream_until(store, FOR_SCANNING, query_text(&query), &query.params, range_row, &scanning, err);
    sought_release(&sought);
    query_release(&query);
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
        " to_regclass('redrive.record'), to_regclass('redrive.original')) OR s.relid IN (SELECT t.relid FROM"
        " pg_catalog.pg_partition_tree(:'events'::regclass) t) OR s.relid = :'events'::regclass";
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
store_xmin_floor(struct store *store, int64_t *xmin_floor, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())", NULL, &r, err))
        return false;
    *xmin_floor = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
store_changed_ids(struct store *store, int64_t xmin_floor, int64_t highest, size_t limit, int64_t **ids,
                  size_t *count, struct err *err)
{
    // Without redrive's schema this reads the whole table.
    static const char plain[] =
        "SELECT e.id::int8 FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id <= $2"
        " AND pg_catalog.age(e.xmin) <= pg_catalog.age($1::text::xid) LIMIT $3";
    static const char whole[] = "SELECT c.id FROM redrive.changed_since($1::text::xid, $2, $3) AS c (id)";
    struct params params = {0};
    char xid[24];
    snprintf(xid, sizeof xid, "%" PRIu32, (uint32_t)xmin_floor);
    param_text(&params, xid);
    param_int8(&params, highest);
    param_int8(&params, (int64_t)limit);
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
