#include "store/events/events.h"

#include <string.h>
#include "base/alloc.h"
#include "store/contract.h"
#include "store/events/reader.h"
#include "store/events/unreadable.h"

void
event_page_release(struct event_page *page)
{
    arena_release(&page->arena);
    *page = (struct event_page){0};
}

size_t
event_page_answers(const struct event_page *page, const struct event_query *query)
{
    size_t count = 0;
    if (!page->is_cut)
        return query->id_count;
    while (count < query->id_count && query->ids[count] != page->events[page->count - 1].id)
        count++;
    return count + 1;
}

#define IS_OTHER "e.status IS NULL OR e.status <> ALL ('{PENDING,RESOLVED,DISCARDED}')"

enum { ROW_PIECES = 5 };

// Ascending, and most of the ids between the first and the last: one range of the table is read, which costs
// less than a descent of the index for each id.
static bool
is_dense(const struct event_query *query)
{
    enum { FEW = 100, SPARSE = 4 };
    const int64_t *ids = query->ids;
    if (!ids || query->id_count < FEW || (query->limit && query->limit < query->id_count) ||
        (uint64_t)ids[query->id_count - 1] - (uint64_t)ids[0] >= SPARSE * query->id_count)
        return false;
    for (size_t i = 1; i < query->id_count; i++)
        if (ids[i - 1] >= ids[i])
            return false;
    return true;
}

// Many events beside each other are asked for as if redrive knew nothing of them, which halves what the
// statement costs beside the payloads. It gives no rows where redrive does know something of one.
static bool
is_tried_plain(const struct event_query *query, bool dense)
{
    enum { MANY = 500 };
    const unsigned joined = EVENT_NARROW | EVENT_SENT | EVENT_EDITED | EVENT_RAW | EVENT_PAYLOAD;
    return dense && query->id_count >= MANY && query->cut == 0 && query->payload_cut == 0 &&
           (query->fields & joined) && !(query->fields & (EVENT_KNOWN | EVENT_PARTS));
}

// By ids, LIMIT keeps the planner from joining the table as a whole: of a table without statistics it expects
// few rows, by the bounds of the id, and would hash all of it for a thousand ids.
//
// Which rows of the table, by the names limit, from, upto, statuses, ids, lowest and highest.
static size_t
rows_of(const struct event_query *query, bool dense, bool plain, struct query_piece pieces[ROW_PIECES])
{
    size_t count = 0;
    pieces[count++] =
        dense ? PIECE("SELECT " CONTRACT_COLUMNS
                      " FROM :\"events\" e WHERE e.id >= :lowest AND e.id <= :highest AND get_bit(:ids, "
                      "(e.id - :lowest)::int4) = 1 AND e.id >= :from AND e.id <= :upto")
        : query->ids
            ? PIECE("SELECT " CONTRACT_COLUMNS
                    ", wanted.place FROM unnest(:ids) WITH ORDINALITY AS wanted (id, place) CROSS JOIN "
                    "LATERAL (SELECT " CONTRACT_COLUMNS
                    " FROM :\"events\" e WHERE e.id = wanted.id LIMIT 1) e WHERE e.id >= :from "
                    "AND e.id <= :upto")
            : PIECE("SELECT " CONTRACT_COLUMNS " FROM :\"events\" e WHERE e.id >= :from AND e.id <= :upto");
    if (query->statuses & 1u << EVENT_OTHER)
        pieces[count++] = PIECE(" AND (e.status = ANY (:statuses) OR " IS_OTHER ")");
    else if (query->statuses)
        pieces[count++] = PIECE(" AND e.status = ANY (:statuses)");
    if (plain)
        pieces[count++] = PIECE(" AND (SELECT " EVENT_READER_IS_PLAIN ")");
    pieces[count++] = query->ids && !dense        ? PIECE(" ORDER BY wanted.place")
                      : query->ascending || dense ? PIECE(" ORDER BY e.id")
                                                  : PIECE(" ORDER BY e.id DESC");
    pieces[count++] = PIECE(" LIMIT :limit");
    return count;
}

static bool
is_above(const struct event_query *query)
{
    return query->has_after || query->after_id != 0;
}

static bool
is_below(const struct event_query *query)
{
    return query->has_before || query->before_id != 0;
}

static void
ids_bounds(const int64_t *ids, size_t count, int64_t *lowest, int64_t *highest)
{
    *lowest = *highest = ids[0];
    for (size_t i = 1; i < count; i++) {
        *lowest = ids[i] < *lowest ? ids[i] : *lowest;
        *highest = ids[i] > *highest ? ids[i] : *highest;
    }
}

static void
add_statuses(struct params *params, unsigned statuses)
{
    static const char *const names[] = {
        [EVENT_PENDING] = "PENDING", [EVENT_RESOLVED] = "RESOLVED", [EVENT_DISCARDED] = "DISCARDED"};
    const char *wanted[3];
    size_t count = 0;
    for (unsigned s = EVENT_PENDING; s < EVENT_OTHER; s++) {
        if (statuses & 1u << s)
            wanted[count++] = names[s];
    }
    param_texts(params, wanted, count);
}

struct page_reading {
    struct event_reader reader;
    struct event_page *page;
    size_t first_room; // most pages that are asked for by ids need just that
    size_t room, most_bytes;
};

static bool
events_read_event(void *context, const PGresult *row)
{
    struct page_reading *reading = context;
    struct event_page *page = reading->page;
    if (page->count == reading->room) {
        reading->room = reading->room ? size_mul(reading->room, 2) : reading->first_room;
        struct event *events = arena_array(&page->arena, reading->room, sizeof *events);
        if (page->count)
            memcpy(events, page->events, page->count * sizeof *events);
        page->events = events;
    }
    size_t before = page->arena.used;
    event_reader_row(&reading->reader, row, 0, &page->events[page->count++]);
    page->bytes += page->arena.used - before;
    page->is_cut = reading->most_bytes && page->bytes >= reading->most_bytes;
    return !page->is_cut;
}

enum { ROOM_LEAST = 64, ROOM_MOST = 4096 }; // events

static size_t
first_room(const struct event_query *query)
{
    if (query->id_count <= ROOM_LEAST)
        return ROOM_LEAST;
    return query->id_count < ROOM_MOST ? query->id_count : ROOM_MOST;
}

static bool
read_rows(struct store *store, const struct event_query *query, bool plain, struct event_page *page,
          struct err *err)
{
    int64_t limit = query->limit ? (int64_t)query->limit : (int64_t)query->id_count;
    struct page_reading reading = {
        .page = page, .first_room = first_room(query), .most_bytes = query->most_bytes};
    event_reader_init(&reading.reader, store, &page->arena, query->fields, query->cut);
    reading.reader.payload_cut = query->payload_cut;
    reading.reader.takes_unreadable = query->takes_unreadable;
    reading.reader.is_plain = plain;
    struct query statement = {0};
    struct query_piece rows[ROW_PIECES];
    bool dense = is_dense(query);
    struct event_source source = {
        .rows = rows,
        .row_count = rows_of(query, dense, plain, rows),
        .order = query->ids && !dense        ? PIECE("e.place")
                 : query->ascending || dense ? PIECE("e.id")
                                             : PIECE("e.id DESC"),
    };
    if (query->ids)
        ids_bounds(query->ids, query->id_count, &source.lowest, &source.highest);
    event_reader_query(&reading.reader, &statement, &source);
    param_int8(query_param(&statement, "limit"), limit);
    param_int8(query_param(&statement, "from"), is_above(query) ? query->after_id + 1 : INT64_MIN);
    param_int8(query_param(&statement, "upto"), is_below(query) ? query->before_id - 1 : INT64_MAX);
    add_statuses(query_param(&statement, "statuses"), query->statuses);
    if (dense)
        param_bits(query_param(&statement, "ids"), query->ids, query->id_count);
    else
        param_ids(query_param(&statement, "ids"), query->ids, query->id_count);
    bool ok = pg_stream_until(store, limit > 5000 ? FOR_SCANNING : FOR_READING, query_text(&statement),
                              &statement.params, events_read_event, &reading, err);
    query_release(&statement);
    if (!ok)
        event_page_release(page);
    return ok;
}

static bool
read_page(struct store *store, const struct event_query *query, struct event_page *page, struct err *err)
{
    if (is_tried_plain(query, is_dense(query)) && store->info.schema_version > 0) {
        if (!read_rows(store, query, true, page, err))
            return false;
        if (page->count > 0)
            return true;
        event_page_release(page);
    }
    return read_rows(store, query, false, page, err);
}

// The long columns that may be missing in the events of this page.
static unsigned
columns_of(const struct event_query *query)
{
    unsigned wanted = 0;
    if ((query->fields & EVENT_PAYLOAD) && query->takes_unreadable)
        wanted |= 1u << LONG_PAYLOAD;
    if (query->fields & (EVENT_ERROR | EVENT_GROUP))
        wanted |= 1u << LONG_ERROR;
    if (query->fields & (EVENT_STACK | EVENT_GROUP))
        wanted |= 1u << LONG_STACK;
    return wanted;
}

// A page failed: looks for texts that cannot be read. True: some were found, so that reading the page again
// may work.
static bool
find_unreadable(struct store *store, const struct event_query *query)
{
    if (!columns_of(query))
        return false;
    struct event_query ids_only = *query;
    ids_only.fields = EVENT_BARE;
    ids_only.most_bytes = 0;
    struct event_page page = {0};
    struct err ignored = {0};
    if (!read_page(store, &ids_only, &page, &ignored))
        return false;
    int64_t *ids = arena_array(&page.arena, page.count, sizeof *ids);
    for (size_t i = 0; i < page.count; i++)
        ids[i] = page.events[i].id;
    bool is_found = unreadable_find(store, columns_of(query), ids, page.count);
    event_page_release(&page);
    return is_found;
}

bool
store_events(struct store *store, const struct event_query *query, struct event_page *page, struct err *err)
{
    *page = (struct event_page){0};
    if (query->ids && query->id_count == 0)
        return true;
    if (query->limit == 0 && query->id_count == 0)
        die("a page of events needs a limit or ids");
    if ((is_above(query) && query->after_id == INT64_MAX) ||
        (is_below(query) && query->before_id == INT64_MIN))
        return true; // there are no such ids

    struct err failure = {0};
    bool ok = read_page(store, query, page, &failure);
    if (!ok && unreadable_is_cause(&failure) && find_unreadable(store, query)) {
        err_clear(&failure);
        ok = read_page(store, query, page, &failure);
    }
    if (!ok && err && err->kind == ERR_NONE)
        *err = failure;
    return ok;
}

bool
store_pending_ids(struct store *store, event_ids_fn *each, void *context, struct err *err)
{
    static const char sql[] = "COPY (SELECT e.id::int8 FROM :\"events\" e WHERE e.status = 'PENDING' ORDER "
                              "BY e.id) TO STDOUT (FORMAT binary)";
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    bool ok = pg_copy_ids(store, sql, each, context, err);
    pg_rollback(store);
    return ok;
}

bool
store_ids_of_type(struct store *store, struct bytes type, size_t most, int64_t **ids, size_t *count,
                  struct err *err)
{
    *ids = NULL;
    *count = 0;
    struct arena arena = {0};
    struct params params = {0};
    param_text(&params, arena_text(&arena, type));
    param_int8(&params, (int64_t)most);
    PGresult *r;
    bool ok =
        pg_ask(store, FOR_READING,
               "SELECT string_agg(int8send(w.id), ''::bytea ORDER BY w.is_open, w.id DESC) FROM ("
               "SELECT e.id::int8 AS id, e.status = 'PENDING' AS is_open FROM ("
               "SELECT n.id, n.status, n.event_type FROM :\"events\" n ORDER BY n.id DESC LIMIT 20000) e"
               " WHERE e.event_type::text = $1 ORDER BY 2, 1 DESC LIMIT $2) w",
               &params, &r, err);
    arena_release(&arena);
    if (!ok)
        return false;
    struct bytes all = value_bytes(r, 0, 0);
    *count = all.len / 8;
    *ids = alloc_array(*count, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = pg_read64(all.data + 8 * i);
    PQclear(r);
    return true;
}

bool
store_pending_count(struct store *store, int64_t *pending, int64_t *highest_id, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT (SELECT count(*) FROM :\"events\" e WHERE e.status = 'PENDING'),"
                " (SELECT coalesce(max(e.id), 0)::int8 FROM :\"events\" e)",
                NULL, &r, err))
        return false;
    *pending = value_int8(r, 0, 0);
    *highest_id = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}

bool
store_last_closed(struct store *store, int64_t *at, char by[64], struct err *err)
{
    struct params params = {0};
    param_text(&params, store->zone);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT e.resolved_at::timestamp AT TIME ZONE $1, e.resolved_by::text FROM :\"events\" e"
                " WHERE e.resolved_at IS NOT NULL ORDER BY e.resolved_at DESC LIMIT 1",
                &params, &r, err))
        return false;
    *at = TIME_ABSENT;
    by[0] = '\0';
    if (PQntuples(r)) {
        *at = value_time(r, 0, 0);
        value_copy(r, 0, 1, by, 64);
    }
    PQclear(r);
    return true;
}

bool
store_original(struct store *store, int64_t id, struct arena *arena, struct bytes *payload, bool *is_kept,
               struct err *err)
{
    *payload = BYTES_ABSENT;
    *is_kept = false;
    if (!pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, id);
    PGresult *r;
    if (!pg_ask(
            store, FOR_READING,
            "SELECT raw.dlq_id IS NOT NULL, CASE WHEN original.state = 'fetched' THEN original.value WHEN "
            "raw.dlq_id IS NOT NULL THEN raw.value ELSE convert_to(e.event_payload::text, 'UTF8') END "
            "FROM :\"events\" e LEFT JOIN redrive.record raw ON raw.dlq_id = e.id LEFT JOIN "
            "redrive.original original ON original.dlq_id = e.id WHERE e.id = $1",
            &params, &r, err))
        return false;
    if (PQntuples(r)) {
        *is_kept = value_bool(r, 0, 0);
        *payload = arena_copy(arena, value_bytes(r, 0, 1));
    }
    PQclear(r);
    return true;
}

bool
store_same_json(struct store *store, const int64_t *ids, const struct bytes *originals, size_t count,
                bool *same, struct err *err)
{
    if (!pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_ids(&params, ids, count);
    param_blobs(&params, originals, count);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT s.same FROM unnest(redrive.same_json($1, $2)) WITH ORDINALITY AS s (same, place) "
                "ORDER BY s.place",
                &params, &r, err))
        return false;
    for (size_t i = 0; i < count; i++)
        same[i] = (int)i < PQntuples(r) && value_bool(r, (int)i, 0);
    PQclear(r);
    return true;
}
