#include "store/events/preview_rows.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/selection.h"

enum {
    PASSED = 8,        // a pass over so many rows costs as much as looking up one
    PASSED_BY_ALL = 3, // the same where the parts would make four passes
    LOOKED_UP = 400000,
};

struct preview_rows {
    PGresult *origins; // a row each
    int64_t count;
    bool is_keyed;
    int64_t *shared, *doubled; // heap
    size_t shared_count, doubled_count;
};

// The columns of a row. Each that packs has one value an event, in the same order.
enum { TOPIC, PARTITION, COUNT, PACKED_IDS, PACKED_EVENTS, PACKED_SIZES, PACKED_SHARED };

// One row an origin. OFFSET 0: each event is looked up, and what is sorted or grouped is short.
#define ROWS(rows)                                                                                           \
    "SELECT e.topic, e.partition, count(*), string_agg(int8send(e.id), ''),"                                 \
    " string_agg(int8send(e.event), ''), string_agg(int4send(e.size), ''),"                                  \
    " string_agg(int8send(e.id), '') FILTER (WHERE e.is_shared) FROM (" rows                                 \
    ") AS e GROUP BY 1, 2 ORDER BY 3 DESC"
#define LOOKED_UP(columns)                                                                                   \
    "SELECT e.* FROM unnest($1) AS w (id) CROSS JOIN LATERAL (SELECT x.id::bigint AS id, x.status,"          \
    "   x.kafka_topic::text AS topic, coalesce(x.kafka_partition, -1) AS partition,"                         \
    "   hashtextextended(x.event_id::text, 0) AS event,"                                                     \
    "   coalesce(pg_column_size(x.event_payload), 0) AS size, " columns                                      \
    "  FROM :\"events\" x WHERE x.id = w.id OFFSET 0) AS e WHERE e.status = 'PENDING'"
static const char rows_sql[] = ROWS(LOOKED_UP("false AS is_shared"));

// Of an event whose source id no other row has, the index alone tells that nothing newer has its key. Keys
// are looked up about in the order of their index, so one page after another is read, not one for each key;
// by bytes, since a language's order costs more than the pages do.
// clang-format off
static const char keyed_rows_sql[] =
    ROWS("SELECT k.*, EXISTS (SELECT FROM :\"events\" n WHERE n.source_id = k.source_id OFFSET 1) AS is_shared"
         " FROM (" LOOKED_UP("x.source_id") " ORDER BY e.source_id::text COLLATE \"C\" OFFSET 0) AS k OFFSET 0");
// clang-format on

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

static bool
find_index(struct store *store, bool *is_keyed, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, is_keyed_sql, NULL, &r, err))
        return false;
    *is_keyed = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

static bool
ask_rows(struct store *store, const struct preview_query *query, struct preview_rows *rows, struct err *err)
{
    struct params params = {0};
    param_ids(&params, query->ids, query->count);
    struct pg_step steps[] = {
        {.sql = SETTINGS_OF_MANY},
        {.sql = rows->is_keyed ? keyed_rows_sql : rows_sql, .params = &params, .whole = &rows->origins}};
    bool ok = pg_run(store, FOR_SCANNING, steps, sizeof steps / sizeof *steps, err);
    params_release(&params);
    return ok;
}

struct hashed {
    int64_t event, id;
};

static int
by_event(const void *left, const void *right)
{
    const struct hashed *a = left, *b = right;
    return (a->event > b->event) - (a->event < b->event);
}

static void
add_shared(struct preview_rows *rows, int row)
{
    struct bytes ids = value_bytes(rows->origins, row, PACKED_SHARED);
    for (size_t i = 0; i < ids.len / 8; i++)
        rows->shared[rows->shared_count++] = pg_read64(ids.data + 8 * i);
}

// Puts the ids of those that share their event id, by its hash, into `doubled`.
static void
find_doubled(struct preview_rows *rows, struct hashed *all, size_t count)
{
    if (count)
        qsort(all, count, sizeof *all, by_event);
    for (size_t i = 0; i < count; i++)
        if ((i > 0 && all[i - 1].event == all[i].event) ||
            (i + 1 < count && all[i + 1].event == all[i].event))
            rows->doubled[rows->doubled_count++] = all[i].id;
    rows->doubled_count = ids_normalise(rows->doubled, rows->doubled_count);
}

static void
unpack(struct preview_rows *rows)
{
    for (int row = 0; row < PQntuples(rows->origins); row++)
        rows->count += value_int8(rows->origins, row, COUNT);
    struct hashed *all = alloc_array((size_t)rows->count + 1, sizeof *all);
    rows->shared = alloc_array((size_t)rows->count + 1, sizeof *rows->shared);
    rows->doubled = alloc_array((size_t)rows->count + 1, sizeof *rows->doubled);
    size_t count = 0;
    for (int row = 0; row < PQntuples(rows->origins); row++) {
        struct bytes ids = value_bytes(rows->origins, row, PACKED_IDS);
        struct bytes events = value_bytes(rows->origins, row, PACKED_EVENTS);
        for (size_t i = 0; i < ids.len / 8; i++)
            all[count++] = (struct hashed){pg_read64(events.data + 8 * i), pg_read64(ids.data + 8 * i)};
        add_shared(rows, row);
    }
    rows->shared_count = ids_normalise(rows->shared, rows->shared_count);
    find_doubled(rows, all, count);
    free(all);
}

bool
preview_rows_read(struct store *store, const struct preview_query *query, struct preview_rows **rows,
                  struct err *err)
{
    *rows = NULL;
    if (query->action != ACTION_REPROCESS || !is_one_of(query, PASSED_BY_ALL))
        return true;
    struct preview_rows *read = alloc_bytes(sizeof *read);
    if (!pg_has_schema(store, err) || !find_index(store, &read->is_keyed, err) ||
        !ask_rows(store, query, read, err)) {
        preview_rows_destroy(read);
        return false;
    }
    unpack(read);
    *rows = read;
    return true;
}

void
preview_rows_destroy(struct preview_rows *rows)
{
    if (!rows)
        return;
    PQclear(rows->origins);
    free(rows->shared);
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
    return (size_t)PQntuples(rows->origins);
}

struct preview_origin
preview_rows_origin(const struct preview_rows *rows, size_t i)
{
    return (struct preview_origin){.topic = value_bytes(rows->origins, (int)i, TOPIC),
                                   .partition = value_int4(rows->origins, (int)i, PARTITION),
                                   .count = value_int8(rows->origins, (int)i, COUNT)};
}

bool
preview_rows_shared(const struct preview_rows *rows, const int64_t **ids, size_t *count)
{
    *ids = rows->shared;
    *count = rows->shared_count;
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
preview_rows_large(const struct preview_rows *rows, const struct preview_large *large, int64_t **ids,
                   int64_t **sizes, size_t *count)
{
    *ids = alloc_array((size_t)rows->count + 1, sizeof **ids);
    *sizes = alloc_array((size_t)rows->count + 1, sizeof **sizes);
    *count = 0;
    for (int row = 0; row < PQntuples(rows->origins); row++) {
        bool is_any = is_of_topics(value_bytes(rows->origins, row, TOPIC), large);
        struct bytes packed_ids = value_bytes(rows->origins, row, PACKED_IDS);
        struct bytes packed_sizes = value_bytes(rows->origins, row, PACKED_SIZES);
        for (size_t i = 0; i < packed_ids.len / 8; i++) {
            int32_t size = pg_read32(packed_sizes.data + 4 * i);
            if (!is_any && size <= large->larger)
                continue;
            (*ids)[*count] = pg_read64(packed_ids.data + 8 * i);
            (*sizes)[(*count)++] = size;
        }
    }
}
