#include "store/operations/corrections.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/event.h"
#include "store/pg.h"

// Eight bytes each, in one value.
static void
corrections_read_ids(const PGresult *r, int64_t **ids, size_t *count)
{
    struct bytes all = value_bytes(r, 0, 0);
    *count = all.len / 8;
    *ids = alloc_array(*count, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = pg_read64(all.data + 8 * i);
}

bool
operation_corrected_ids(struct store *store, int64_t no, int64_t **ids, size_t *count, struct err *err)
{
    *ids = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_SCANNING,
                "SELECT string_agg(int8send(i.dlq_id), ''::bytea ORDER BY i.dlq_id) FROM redrive.item i"
                " WHERE i.operation_no = $1 AND i.state = 'done'"
                " AND $1 = (SELECT r.operation_no FROM redrive.revision r WHERE r.dlq_id = i.dlq_id"
                " ORDER BY r.no DESC LIMIT 1)"
                " AND EXISTS (SELECT FROM :\"events\" e WHERE e.id = i.dlq_id AND e.status = 'PENDING')",
                &params, &r, err))
        return false;
    corrections_read_ids(r, ids, count);
    PQclear(r);
    return true;
}

bool
work_correct_next(struct store *store, int64_t no, size_t limit, uint64_t bytes, int64_t **ids, size_t *count,
                  int64_t *most, struct err *err)
{
    *ids = NULL;
    *count = 0;
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, (int64_t)limit);
    param_int8(&params, (int64_t)bytes);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT (SELECT string_agg(int8send(w.id), ''::bytea ORDER BY w.n) FROM unnest(n.ids) WITH "
                "ORDINALITY AS w (id, n)), n.most FROM redrive.work_correct_next($1, $2, $3) n",
                &params, &r, err))
        return false;
    *most = value_int8(r, 0, 1);
    corrections_read_ids(r, ids, count);
    PQclear(r);
    return true;
}

// The members of all events side by side, as the statement takes them.
struct corrected_columns {
    int64_t *ids;
    int32_t *parents, *has_keys, *header_counts, *partitions;
    const char **outcomes, **details, **topics, **header_names;
    struct bytes *payloads, *keys, *header_values;
    size_t count, headers;
};

static void
columns_make(struct corrected_columns *columns, const struct corrected *events, size_t count,
             struct arena *arena)
{
    size_t headers = 0;
    for (size_t i = 0; i < count; i++)
        headers += events[i].correction.header_count;
    *columns = (struct corrected_columns){
        .ids = arena_array(arena, count, sizeof *columns->ids),
        .parents = arena_array(arena, count, sizeof *columns->parents),
        .header_counts = arena_array(arena, count, sizeof *columns->header_counts),
        .partitions = arena_array(arena, count, sizeof *columns->partitions),
        .has_keys = arena_array(arena, count, sizeof *columns->has_keys),
        .outcomes = arena_array(arena, count, sizeof *columns->outcomes),
        .details = arena_array(arena, count, sizeof *columns->details),
        .topics = arena_array(arena, count, sizeof *columns->topics),
        .header_names = arena_array(arena, headers, sizeof *columns->header_names),
        .payloads = arena_array(arena, count, sizeof *columns->payloads),
        .keys = arena_array(arena, count, sizeof *columns->keys),
        .header_values = arena_array(arena, headers, sizeof *columns->header_values),
        .count = count,
    };
}

static void
columns_add(struct corrected_columns *columns, size_t i, const struct corrected *event, struct arena *arena)
{
    const struct correction *parts = &event->correction;
    columns->ids[i] = event->id;
    columns->parents[i] = event->parent;
    columns->outcomes[i] = event->outcome;
    columns->details[i] = event->detail;
    columns->payloads[i] = parts->has_payload ? parts->payload : BYTES_ABSENT;
    columns->has_keys[i] = parts->has_key;
    columns->keys[i] = parts->has_key ? parts->key : BYTES_ABSENT;
    columns->topics[i] = parts->has_topic ? arena_text(arena, parts->topic) : NULL;
    columns->partitions[i] = parts->has_partition ? parts->partition : -1;
    columns->header_counts[i] = parts->has_headers ? (int32_t)parts->header_count : -1;
    for (uint32_t h = 0; parts->has_headers && h < parts->header_count; h++) {
        columns->header_names[columns->headers] = arena_text(arena, parts->headers[h].name);
        columns->header_values[columns->headers++] = parts->headers[h].value;
    }
}

bool
work_correct(struct store *store, int64_t no, int64_t most, const struct corrected *events, size_t count,
             int64_t *applied, int64_t *left, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct arena arena = {0};
    struct corrected_columns columns;
    columns_make(&columns, events, count, &arena);
    for (size_t i = 0; i < count; i++)
        columns_add(&columns, i, &events[i], &arena);
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, most);
    param_ids(&params, columns.ids, count);
    param_numbers(&params, columns.parents, count);
    param_texts(&params, columns.outcomes, count);
    param_texts(&params, columns.details, count);
    param_blobs(&params, columns.payloads, count);
    param_numbers(&params, columns.has_keys, count);
    param_blobs(&params, columns.keys, count);
    param_numbers(&params, columns.header_counts, count);
    param_texts(&params, columns.header_names, columns.headers);
    param_blobs(&params, columns.header_values, columns.headers);
    param_texts(&params, columns.topics, count);
    param_numbers(&params, columns.partitions, count);
    PGresult *r;
    bool ok =
        pg_ask(store, FOR_WRITING,
               "SELECT applied, remaining FROM redrive.work_correct($1, $2, $3, $4, $5, $6, $7, $8, $9, "
               "$10, $11, $12, $13, $14)",
               &params, &r, err);
    arena_release(&arena);
    if (!ok)
        return false;
    *applied = value_int8(r, 0, 0);
    *left = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}
