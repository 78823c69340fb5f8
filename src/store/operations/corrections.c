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

void
correct_queue_release(struct correct_queue *queue)
{
    free(queue->ids);
    free(queue->pages);
    *queue = (struct correct_queue){0};
}

// A list in binary form (array_send of PostgreSQL): a head, then length and value of each number. None is
// NULL.
enum { LIST_HEAD = 20, LIST_INT8 = 4 + 8, LIST_INT4 = 4 + 4 };

static struct bytes
list_items(struct bytes list)
{
    return list.len > LIST_HEAD ? bytes_slice(list, LIST_HEAD, SIZE_MAX) : BYTES("");
}

bool
work_correct_next(struct store *store, int64_t no, size_t limit, size_t page, struct correct_queue *queue,
                  struct err *err)
{
    *queue = (struct correct_queue){0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, (int64_t)limit);
    param_int8(&params, (int64_t)page);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT ids, pages FROM redrive.work_correct_next($1, $2, $3)", &params,
                &r, err))
        return false;
    struct bytes ids = list_items(value_bytes(r, 0, 0)), pages = list_items(value_bytes(r, 0, 1));
    queue->count = ids.len / LIST_INT8;
    queue->ids = alloc_array(queue->count, sizeof *queue->ids);
    for (size_t i = 0; i < queue->count; i++)
        queue->ids[i] = pg_read64(ids.data + LIST_INT8 * i + 4);
    queue->page_count = pages.len / LIST_INT4;
    queue->pages = alloc_array(queue->page_count, sizeof *queue->pages);
    for (size_t i = 0; i < queue->page_count; i++)
        queue->pages[i] = (size_t)pg_read32(pages.data + LIST_INT4 * i + 4);
    PQclear(r);
    return true;
}

// The members of all events side by side, as the statement takes them.
struct corrected_columns {
    int64_t *ids;
    int32_t *parents, *payload_at, *payload_bytes, *has_keys, *header_at, *header_counts, *partitions;
    const char **outcomes, **details, **topics, **header_names;
    struct bytes *keys, *header_values;
    struct strbuf *payloads;
    size_t headers;
    bool has_outcomes, has_details, has_keys_set, has_headers, has_topics, has_partitions; // some event has
};

static void
columns_make(struct corrected_columns *columns, const struct corrected *events, size_t count,
             struct strbuf *payloads, struct arena *arena)
{
    size_t headers = 0;
    strbuf_reset(payloads);
    for (size_t i = 0; i < count; i++)
        headers += events[i].correction.header_count;
    *columns = (struct corrected_columns){
        .payloads = payloads,
        .ids = arena_array(arena, count, sizeof *columns->ids),
        .parents = arena_array(arena, count, sizeof *columns->parents),
        .payload_at = arena_array(arena, count, sizeof *columns->payload_at),
        .payload_bytes = arena_array(arena, count, sizeof *columns->payload_bytes),
        .header_at = arena_array(arena, count, sizeof *columns->header_at),
        .header_counts = arena_array(arena, count, sizeof *columns->header_counts),
        .partitions = arena_array(arena, count, sizeof *columns->partitions),
        .has_keys = arena_array(arena, count, sizeof *columns->has_keys),
        .outcomes = arena_array(arena, count, sizeof *columns->outcomes),
        .details = arena_array(arena, count, sizeof *columns->details),
        .topics = arena_array(arena, count, sizeof *columns->topics),
        .header_names = arena_array(arena, headers, sizeof *columns->header_names),
        .keys = arena_array(arena, count, sizeof *columns->keys),
        .header_values = arena_array(arena, headers, sizeof *columns->header_values),
    };
}

static void
columns_add_headers(struct corrected_columns *columns, size_t i, const struct correction *parts,
                    struct arena *arena)
{
    columns->header_at[i] = (int32_t)columns->headers + 1;
    columns->header_counts[i] = parts->has_headers ? (int32_t)parts->header_count : -1;
    columns->has_headers = columns->has_headers || parts->has_headers;
    for (uint32_t h = 0; parts->has_headers && h < parts->header_count; h++) {
        columns->header_names[columns->headers] = arena_text(arena, parts->headers[h].name);
        columns->header_values[columns->headers++] = parts->headers[h].value;
    }
}

static void
columns_add(struct corrected_columns *columns, size_t i, const struct corrected *event, struct arena *arena)
{
    const struct correction *parts = &event->correction;
    columns->ids[i] = event->id;
    columns->parents[i] = event->parent;
    columns->outcomes[i] = event->outcome;
    columns->has_outcomes = columns->has_outcomes || strcmp(event->outcome, "changed") != 0;
    columns->details[i] = event->detail;
    columns->has_details = columns->has_details || event->detail;
    columns->payload_at[i] = (int32_t)columns->payloads->len + 1;
    columns->payload_bytes[i] =
        parts->has_payload && bytes_present(parts->payload) ? (int32_t)parts->payload.len : -1;
    if (columns->payload_bytes[i] > 0)
        strbuf_add(columns->payloads, parts->payload);
    columns->has_keys[i] = parts->has_key;
    columns->has_keys_set = columns->has_keys_set || parts->has_key;
    columns->keys[i] = parts->has_key ? parts->key : BYTES_ABSENT;
    columns->topics[i] = parts->has_topic ? arena_text(arena, parts->topic) : NULL;
    columns->has_topics = columns->has_topics || parts->has_topic;
    columns->partitions[i] = parts->has_partition ? parts->partition : -1;
    columns->has_partitions = columns->has_partitions || parts->has_partition;
    columns_add_headers(columns, i, parts, arena);
}

// A part that no event has is sent as NULL, so that nobody looks into a list for each event; outcomes are not
// sent where all events changed.
static void
columns_send(const struct corrected_columns *columns, size_t count, struct params *params)
{
    param_ids(params, columns->ids, count);
    param_numbers(params, columns->parents, count);
    param_texts(params, columns->outcomes, columns->has_outcomes ? count : 0);
    columns->has_details ? param_texts(params, columns->details, count) : param_null(params);
    param_blob(params, columns->payloads->len ? strbuf_bytes(columns->payloads) : BYTES(""));
    param_numbers(params, columns->payload_at, count);
    param_numbers(params, columns->payload_bytes, count);
    columns->has_keys_set ? param_numbers(params, columns->has_keys, count) : param_null(params);
    columns->has_keys_set ? param_blobs(params, columns->keys, count) : param_null(params);
    columns->has_headers ? param_numbers(params, columns->header_at, count) : param_null(params);
    columns->has_headers ? param_numbers(params, columns->header_counts, count) : param_null(params);
    param_texts(params, columns->header_names, columns->headers);
    param_blobs(params, columns->header_values, columns->headers);
    columns->has_topics ? param_texts(params, columns->topics, count) : param_null(params);
    columns->has_partitions ? param_numbers(params, columns->partitions, count) : param_null(params);
}

bool
work_correct(struct store *store, int64_t no, const struct corrected *events, size_t count,
             struct strbuf *room, int64_t *applied, int64_t *left, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct arena arena = {0};
    struct corrected_columns columns;
    columns_make(&columns, events, count, room, &arena);
    for (size_t i = 0; i < count; i++)
        columns_add(&columns, i, &events[i], &arena);
    struct params params = {0};
    param_int8(&params, no);
    columns_send(&columns, count, &params);
    PGresult *r = NULL;
    // A plan of its own for these values would hold copies of all payloads.
    struct pg_step steps[] = {
        {.sql = "SELECT pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', true)"},
        {.sql = "SELECT applied, remaining FROM redrive.work_correct($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                "$10, $11, $12, $13, $14, $15, $16)",
         .params = &params,
         .whole = &r},
    };
    bool ok = pg_run(store, FOR_WRITING, steps, 2, err);
    params_release(&params);
    arena_release(&arena);
    if (!ok)
        return false;
    *applied = value_int8(r, 0, 0);
    *left = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}
