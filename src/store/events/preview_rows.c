#include "store/events/preview_rows.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/selection.h"
#include "store/events/preview_ahead.h"

enum {
    PASSED = 8,        // a pass over so many rows costs as much as looking up one
    PASSED_BY_ALL = 3, // the same where the parts would make four passes
    LOOKED_UP = 400000,
};

// Half of the ids are looked up over a connection of their own: a server has more than one processor.
enum { HALVES = 2 };

// A row of a part.
struct place {
    const PGresult *part;
    int row;
};

struct preview_rows {
    struct store *beside; // NULL: there is none
    PGresult **parts;     // heap; the last HALVES are what was not read ahead, or NULL
    size_t part_count;
    struct place *places; // of all parts, those of one origin together; heap
    size_t place_count;
    struct preview_origin *origins; // most first; heap
    size_t origin_count;
    int64_t count;
    bool is_keyed;
    struct preview_overtaken overtaken; // of keys that are not crowded
    int64_t *crowded, *doubled;         // heap
    size_t crowded_count, doubled_count, doubled_room;
};

// The columns of a row. The first three that pack have one value an event, in the same order.
enum { TOPIC, PARTITION, COUNT, PACKED_IDS, PACKED_EVENTS, PACKED_SIZES, PACKED_NEWER };

// One row an origin. OFFSET 0: what is sorted or grouped is short.
#define ROWS(rows, newer)                                                                                    \
    "SELECT e.topic, e.partition, count(*), string_agg(int8send(e.id), ''),"                                 \
    " string_agg(int8send(e.event), ''), string_agg(int4send(e.size), ''), " newer " FROM (" rows            \
    " OFFSET 0) AS e GROUP BY 1, 2"
// A subquery, so that the planner does not weigh one id after another: it takes them for ten.
#define LOOKED_UP(columns)                                                                                   \
    "SELECT x.id::bigint AS id, x.kafka_topic::text AS topic, coalesce(x.kafka_partition, -1) AS partition," \
    " hashtextextended(x.event_id::text, 0) AS event,"                                                       \
    " coalesce(pg_column_size(x.event_payload), 0) AS size" columns                                          \
    " FROM :\"events\" x WHERE x.id = ANY (ARRAY(SELECT unnest($1))) AND x.status = 'PENDING'"
static const char rows_sql[] = ROWS(LOOKED_UP(""), "NULL::bytea");

// Of a source id that no other row has, the index alone tells that nothing newer has its key. Keys are looked
// up about in the order of their index, so one page after another is read, not one for each key; by bytes,
// since a language's order costs more than the pages do. Of a key of few rows these are looked at: what is
// newer, of the same topic and another event id. One that is pending may be chosen too, so their ids come
// along; of any other the number tells (enum newer). A key of more rows is crowded: each of its events would
// look at all of them.
#define KEY_ROWS "8"
// clang-format off
static const char keyed_rows_sql[] =
    ROWS("SELECT k.*, CASE WHEN EXISTS (SELECT FROM :\"events\" n WHERE n.source_id = k.source_id OFFSET 1) THEN (SELECT"
         "   CASE WHEN count(*) > " KEY_ROWS " THEN int4send(-3) || int8send(k.id)"
         "        WHEN bool_or(f.status = 'RESOLVED') FILTER (WHERE f.is_newer) THEN int4send(-2)"
         "        WHEN bool_or(f.status <> 'PENDING') FILTER (WHERE f.is_newer) THEN int4send(-1)"
         "        WHEN bool_or(f.is_newer) THEN int4send((count(*) FILTER (WHERE f.is_newer))::int4)"
         "          || string_agg(int8send(f.id), '') FILTER (WHERE f.is_newer) END"
         "  FROM (SELECT n.id::bigint AS id, n.status, n.created_at > k.created_at AND n.status <> 'DISCARDED'"
         "     AND n.kafka_topic::text IS NOT DISTINCT FROM k.topic"
         "     AND hashtextextended(n.event_id::text, 0) <> k.event AS is_newer"
         "    FROM :\"events\" n WHERE n.source_id = k.source_id LIMIT " KEY_ROWS " + 1) AS f) END AS newer"
         " FROM (" LOOKED_UP(", x.source_id, x.created_at") " ORDER BY x.source_id::text COLLATE \"C\" OFFSET 0) AS k",
         "string_agg(e.newer, '')");
// clang-format on
enum newer { NEWER_CROWDED = -3, NEWER_RESOLVED = -2, NEWER_OTHER = -1 };
// Ids are looked up in their index, one after another; origins are few, so they are grouped by hashing.
static const char rows_settings[] =
    SETTINGS_OF_MANY ", pg_catalog.set_config('enable_bitmapscan', 'off', true),"
                     " pg_catalog.set_config('enable_sort', 'off', true)";

// Are keys looked up too? Worth it where an index begins with source_id, and a key has few events.
static const char is_keyed_sql[] =
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a"
    "    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
    "    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
    "    JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname IN ('btree', 'hash')"
    "   WHERE i.indrelid = :'events'::regclass AND a.attname = 'source_id' AND i.indisvalid AND i.indpred IS "
    "NULL)"
    " AND coalesce((SELECT CASE WHEN s.n_distinct < 0 THEN s.n_distinct < -0.25"
    "      ELSE s.n_distinct > 0.25 * c.reltuples END"
    "    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    "    JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname"
    "     AND s.attname = 'source_id' AND s.inherited = (c.relkind = 'p')"
    "   WHERE c.oid = :'events'::regclass), false)";

// How large the table is, the ids tell. Where rows between them were deleted it is smaller, and looking up
// takes longer than a pass; the limit bounds by how much.
static bool
is_one_of(const struct preview_query *query, uint64_t rows)
{
    if (query->count <= PREVIEW_MANY || query->count > LOOKED_UP)
        return false;
    uint64_t span = (uint64_t)query->ids[query->count - 1] - (uint64_t)query->ids[0];
    return span / rows > query->count;
}

bool
preview_is_looked_up(const struct preview_query *query)
{
    return is_one_of(query, PASSED);
}

bool
preview_rows_are_due(const struct preview_query *query)
{
    return query->action == ACTION_REPROCESS && is_one_of(query, PASSED_BY_ALL);
}

bool
preview_rows_find_index(struct store *store, bool *is_keyed, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, is_keyed_sql, NULL, &r, err))
        return false;
    *is_keyed = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
preview_rows_ask(const struct preview_rows *rows, struct store *store, struct pg_step *steps,
                 struct pg_step *others, size_t count, struct err *err)
{
    return pg_run_both(store, rows->beside, FOR_SCANNING, steps, others, count, err);
}

enum { STEPS = 2 };

static void
rows_steps(bool is_keyed, struct params *params, PGresult **part, struct pg_step steps[STEPS])
{
    steps[0] = (struct pg_step){.sql = rows_settings};
    steps[1] = (struct pg_step){.sql = is_keyed ? keyed_rows_sql : rows_sql, .params = params, .whole = part};
}

bool
preview_rows_ask_part(struct store *store, bool is_keyed, const int64_t *ids, size_t count, PGresult **part,
                      struct err *err)
{
    struct params params = {0};
    struct pg_step steps[STEPS];
    param_ids(&params, ids, count);
    rows_steps(is_keyed, &params, part, steps);
    bool ok = pg_run(store, FOR_SCANNING, steps, STEPS, err);
    params_release(&params);
    return ok;
}

static bool
ask_halves(struct store *store, struct preview_rows *rows, const int64_t *ids, size_t count, struct err *err)
{
    struct params params[HALVES] = {0};
    struct pg_step steps[HALVES][STEPS];
    PGresult **halves = rows->parts + rows->part_count - HALVES;
    size_t half = count / HALVES;
    param_ids(&params[0], ids, half);
    param_ids(&params[1], ids + half, count - half);
    for (size_t i = 0; i < HALVES; i++)
        rows_steps(rows->is_keyed, &params[i], &halves[i], steps[i]);
    bool ok = preview_rows_ask(rows, store, steps[0], steps[1], STEPS, err);
    params_release(&params[0]);
    params_release(&params[1]);
    return ok;
}

// What was read ahead first, then the rest.
static bool
ask_rows(struct store *store, const struct preview_query *query, struct preview_rows *rows, struct err *err)
{
    struct preview_taken taken = {0};
    preview_ahead_take(query->ahead, store, query, &taken);
    rows->beside = taken.store ? taken.store : pg_open_beside(store);
    rows->part_count = taken.part_count + HALVES;
    rows->parts = alloc_resize(taken.parts, rows->part_count, sizeof(PGresult *));
    rows->parts[taken.part_count] = rows->parts[taken.part_count + 1] = NULL;
    rows->is_keyed = taken.is_keyed;
    const int64_t *ids = taken.part_count ? taken.rest : query->ids;
    size_t count = taken.part_count ? taken.rest_count : query->count;
    bool ok = (taken.part_count || preview_rows_find_index(store, &rows->is_keyed, err)) &&
              (count == 0 || ask_halves(store, rows, ids, count, err));
    free(taken.rest);
    return ok;
}

// --- origins ---

static int
compare_origins(const struct place *a, const struct place *b)
{
    int topics = bytes_compare(value_bytes(a->part, a->row, TOPIC), value_bytes(b->part, b->row, TOPIC));
    int32_t x = value_int4(a->part, a->row, PARTITION), y = value_int4(b->part, b->row, PARTITION);
    return topics ? topics : (x > y) - (x < y);
}

static int
by_origin(const void *left, const void *right)
{
    return compare_origins(left, right);
}

static int
by_count(const void *left, const void *right)
{
    int64_t x = ((const struct preview_origin *)left)->count,
            y = ((const struct preview_origin *)right)->count;
    return (x < y) - (x > y);
}

// One origin has a row in each part that has events of it.
static void
find_origins(struct preview_rows *rows)
{
    rows->origins = alloc_array(rows->place_count + 1, sizeof *rows->origins);
    for (size_t i = 0; i < rows->place_count; i++) {
        const struct place *place = &rows->places[i];
        int64_t count = value_int8(place->part, place->row, COUNT);
        rows->count += count;
        if (i > 0 && compare_origins(place - 1, place) == 0)
            rows->origins[rows->origin_count - 1].count += count;
        else
            rows->origins[rows->origin_count++] =
                (struct preview_origin){.topic = value_bytes(place->part, place->row, TOPIC),
                                        .partition = value_int4(place->part, place->row, PARTITION),
                                        .count = count};
    }
    if (rows->origin_count)
        qsort(rows->origins, rows->origin_count, sizeof *rows->origins, by_count);
}

static void
find_places(struct preview_rows *rows)
{
    size_t room = 0;
    for (size_t i = 0; i < rows->part_count; i++)
        room += rows->parts[i] ? (size_t)PQntuples(rows->parts[i]) : 0;
    rows->places = alloc_array(room + 1, sizeof *rows->places);
    for (size_t i = 0; i < rows->part_count; i++)
        for (int row = 0; rows->parts[i] && row < PQntuples(rows->parts[i]); row++)
            rows->places[rows->place_count++] = (struct place){rows->parts[i], row};
    if (rows->place_count)
        qsort(rows->places, rows->place_count, sizeof *rows->places, by_origin);
}

static struct bytes
bytes_at(const struct preview_rows *rows, size_t i, int column)
{
    return value_bytes(rows->places[i].part, rows->places[i].row, column);
}

struct hashed {
    int64_t event, id;
};

static int
compare_ids(const void *left, const void *right)
{
    int64_t x = *(const int64_t *)left, y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

static bool
is_in_query(const struct preview_query *query, int64_t id)
{
    return bsearch(&id, query->ids, query->count, sizeof id, compare_ids) != NULL;
}

// An event is overtaken unless all that is newer is chosen with it. One of a crowded key is put aside.
static void
add_overtaken(struct preview_rows *rows, const struct preview_query *query, size_t at)
{
    struct bytes newer = bytes_at(rows, at, PACKED_NEWER);
    for (size_t i = 0; i + 4 <= newer.len;) {
        int32_t count = pg_read32(newer.data + i);
        bool is_overtaken = count < 0;
        i += 4;
        if (count == NEWER_CROWDED) {
            rows->crowded[rows->crowded_count++] = pg_read64(newer.data + i);
            i += 8;
            continue;
        }
        for (int32_t k = 0; k < count; k++, i += 8)
            is_overtaken |= !is_in_query(query, pg_read64(newer.data + i));
        rows->overtaken.events += is_overtaken;
        rows->overtaken.resolved += count == NEWER_RESOLVED;
    }
}

// The places of hashes that were seen, of a power of two that leaves half of them free.
struct seen {
    uint32_t *places; // into `all`, from 1; 0: free
    size_t mask;
};

// Where that hash is, or would be. It is evenly spread already.
static uint32_t *
place_of_event(const struct seen *seen, const struct hashed *all, int64_t event)
{
    size_t at = (size_t)event & seen->mask;
    while (seen->places[at] && all[seen->places[at] - 1].event != event)
        at = (at + 1) & seen->mask;
    return &seen->places[at];
}

// Puts the ids of those that share their event id, by its hash, into `doubled`.
static void
find_doubled(struct preview_rows *rows, const struct hashed *all, size_t count)
{
    struct seen seen = {.mask = 1};
    rows->doubled = alloc_grow(NULL, 0, &rows->doubled_room, sizeof *rows->doubled);
    while (seen.mask < 2 * count)
        seen.mask = seen.mask * 2 + 1;
    seen.places = alloc_array(seen.mask + 1, sizeof *seen.places);
    for (size_t i = 0; i < count; i++) {
        uint32_t *place = place_of_event(&seen, all, all[i].event);
        if (*place) { // the first of them more than once, where there are three
            rows->doubled = alloc_grow(rows->doubled, rows->doubled_count + 1, &rows->doubled_room,
                                       sizeof *rows->doubled);
            rows->doubled[rows->doubled_count++] = all[*place - 1].id;
            rows->doubled[rows->doubled_count++] = all[i].id;
        } else {
            *place = (uint32_t)i + 1;
        }
    }
    free(seen.places);
    rows->doubled_count = ids_normalise(rows->doubled, rows->doubled_count);
}

static void
unpack(struct preview_rows *rows, const struct preview_query *query)
{
    find_places(rows);
    find_origins(rows);
    struct hashed *all = alloc_array((size_t)rows->count + 1, sizeof *all);
    rows->crowded = alloc_array((size_t)rows->count + 1, sizeof *rows->crowded);
    size_t count = 0;
    for (size_t at = 0; at < rows->place_count; at++) {
        struct bytes ids = bytes_at(rows, at, PACKED_IDS);
        struct bytes events = bytes_at(rows, at, PACKED_EVENTS);
        for (size_t i = 0; i < ids.len / 8; i++)
            all[count++] = (struct hashed){pg_read64(events.data + 8 * i), pg_read64(ids.data + 8 * i)};
        add_overtaken(rows, query, at);
    }
    rows->crowded_count = ids_normalise(rows->crowded, rows->crowded_count);
    find_doubled(rows, all, count);
    free(all);
}

bool
preview_rows_read(struct store *store, const struct preview_query *query, struct preview_rows **rows,
                  struct err *err)
{
    *rows = NULL;
    if (!preview_rows_are_due(query))
        return true;
    struct preview_rows *read = alloc_bytes(sizeof *read);
    if (!pg_has_schema(store, err) || !ask_rows(store, query, read, err)) {
        preview_rows_destroy(read);
        return false;
    }
    unpack(read, query);
    *rows = read;
    return true;
}

void
preview_rows_destroy(struct preview_rows *rows)
{
    if (!rows)
        return;
    store_close(rows->beside);
    for (size_t i = 0; i < rows->part_count; i++)
        PQclear(rows->parts[i]);
    free(rows->parts);
    free(rows->places);
    free(rows->origins);
    free(rows->crowded);
    free(rows->doubled);
    free(rows);
}

int64_t
preview_rows_count(const struct preview_rows *rows)
{
    return rows->count;
}

size_t
preview_rows_origins(const struct preview_rows *rows)
{
    return rows->origin_count;
}

struct preview_origin
preview_rows_origin(const struct preview_rows *rows, size_t i)
{
    return rows->origins[i];
}

bool
preview_rows_overtaken(const struct preview_rows *rows, struct preview_overtaken *overtaken,
                       const int64_t **crowded, size_t *count)
{
    *overtaken = rows->overtaken;
    *crowded = rows->crowded;
    *count = rows->crowded_count;
    return rows->is_keyed;
}

void
preview_rows_doubled(const struct preview_rows *rows, const int64_t **ids, size_t *count)
{
    *ids = rows->doubled;
    *count = rows->doubled_count;
}

static bool
is_of_topics(struct bytes topic, const struct preview_large *large)
{
    bool is_named = large->has_none && topic.len == 0;
    for (size_t i = 0; i < large->topic_count && !is_named; i++)
        is_named = bytes_present(topic) && bytes_equal_text(topic, large->topics[i]);
    return is_named;
}

void
preview_rows_large(const struct preview_rows *rows, const struct preview_large *large,
                   struct preview_sized **sized, size_t *count)
{
    size_t room = 0;
    *sized = NULL;
    *count = 0;
    for (size_t at = 0; at < rows->place_count; at++) {
        bool is_any = is_of_topics(bytes_at(rows, at, TOPIC), large);
        struct bytes packed_ids = bytes_at(rows, at, PACKED_IDS);
        struct bytes packed_sizes = bytes_at(rows, at, PACKED_SIZES);
        for (size_t i = 0; i < packed_ids.len / 8; i++) {
            int32_t size = pg_read32(packed_sizes.data + 4 * i);
            if (!is_any && size <= large->larger)
                continue;
            *sized = alloc_grow(*sized, *count, &room, sizeof **sized);
            (*sized)[(*count)++] =
                (struct preview_sized){.id = pg_read64(packed_ids.data + 8 * i), .size = size};
        }
    }
}
