// All counted events one after another (rollup.h): four numbers a row, and what its series says once for all.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/intern.h"
#include "store/pg.h"
#include "store/rollup/categories.h"

#define EPOCH_2000 946684800LL

struct counted_series {
    uint64_t group;
    enum category category;
    struct bytes type, source, topic, error_class; // of the arena; absent where empty
};

struct counted {
    const struct store *store;
    struct arena arena;
    struct keys numbers; // of the series in the database
    struct counted_series *series;
    size_t capacity;
    struct keys returned; // ids of events that returned
    rollup_event_fn *each;
    void *context;
};

// By number, so that they are looked up once.
static const char series_sql[] =
    "SELECT c.no, c.group_key, nullif(c.event_type, ''), nullif(c.source_table, ''), nullif(c.topic, ''),"
    " g.error_class, g.pattern FROM redrive.rollup_series c JOIN redrive.rollup_group g ON g.key = "
    "c.group_key";
static const char returned_sql[] =
    "SELECT k.dlq_id FROM redrive.returned k JOIN redrive.rollup_event b ON b.dlq_id = k.dlq_id";
// Without those that redrive closed itself, and that the maintainer has not looked at yet.
static const char events_sql[] =
    "COPY (WITH closed AS MATERIALIZED (SELECT due.id FROM (SELECT DISTINCT w.id FROM redrive.rollup_due,"
    "   unnest(dlq_ids) AS w (id)) due LEFT JOIN LATERAL (SELECT x.status FROM :\"events\" x WHERE x.id = "
    "due.id"
    "   LIMIT 1) e ON true WHERE e.status IS DISTINCT FROM 'PENDING')"
    " SELECT b.dlq_id, b.series, b.created, b.retries::int4 FROM redrive.rollup_event b"
    " WHERE NOT b.dlq_id IN (SELECT c.id FROM closed c) ORDER BY b.dlq_id DESC) TO STDOUT (FORMAT binary)";

static bool
read_series(void *context, const PGresult *row)
{
    struct counted *counted = context;
    size_t i = keys_index(&counted->numbers, (uint64_t)value_int4(row, 0, 0));
    counted->series = alloc_grow(counted->series, i, &counted->capacity, sizeof *counted->series);
    uint64_t key = (uint64_t)value_int8(row, 0, 1);
    struct bytes error_class = value_bytes(row, 0, 5);
    counted->series[i] = (struct counted_series){
        .group = key,
        .type = arena_copy(&counted->arena, value_bytes(row, 0, 2)),
        .source = arena_copy(&counted->arena, value_bytes(row, 0, 3)),
        .topic = arena_copy(&counted->arena, value_bytes(row, 0, 4)),
        .error_class = arena_copy(&counted->arena, error_class),
        .category = store_category(counted->store, key, error_class, value_bytes(row, 0, 6), NULL),
    };
    return true;
}

static bool
read_returned(void *context, const PGresult *row)
{
    struct counted *counted = context;
    keys_index(&counted->returned, (uint64_t)value_int8(row, 0, 0));
    return true;
}

static bool
read_event(void *context, const struct bytes fields[PG_FIELDS])
{
    struct counted *counted = context;
    enum { RETRIES_OR_MORE = 255 };
    int64_t id = field_int8(fields[0]);
    int64_t at = keys_find(&counted->numbers, (uint64_t)field_int4(fields[1]));
    int32_t created = field_int4(fields[2]), retries = field_int4(fields[3]);
    struct event event = {.id = id, .status = EVENT_PENDING, .created_wall = TIME_ABSENT};
    // The ends of the range also stand for what is beyond them; a series may be newer than those that were
    // read.
    if (at < 0 || created <= 1 || created == INT32_MAX || retries >= RETRIES_OR_MORE)
        return counted->each(counted->context, &event, false);
    const struct counted_series *series = &counted->series[at];
    event.created_at = (created + EPOCH_2000) * US_PER_SECOND;
    event.retry_count = retries;
    event.group = series->group;
    event.category = series->category;
    event.event_type = series->type;
    event.source_table = series->source;
    event.topic = series->topic;
    event.error_class = series->error_class;
    event.known.returned = keys_find(&counted->returned, (uint64_t)id) >= 0;
    return counted->each(counted->context, &event, true);
}

bool
rollup_events(struct store *store, rollup_event_fn *each, void *context, struct err *err)
{
    struct counted counted = {.store = store, .each = each, .context = context};
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    bool ok = pg_stream(store, FOR_SCANNING, series_sql, NULL, read_series, &counted, err) &&
              pg_stream(store, FOR_SCANNING, returned_sql, NULL, read_returned, &counted, err) &&
              pg_copy_rows(store, events_sql, read_event, &counted, err);
    pg_rollback(store);
    keys_release(&counted.numbers);
    keys_release(&counted.returned);
    free(counted.series);
    arena_release(&counted.arena);
    return ok;
}
