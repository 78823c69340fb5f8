#include "store/events/revisions.h"

#include "base/alloc.h"
#include "core/event.h"
#include "store/events/reader.h"
#include "store/pg.h"

enum { NO, PARENT, AUTHOR, REASON, AT, OPERATION, PAYLOAD, HAS_KEY, KEY, NAMES, VALUES, TOPIC, PARTITION };

static void
read_correction(const PGresult *r, int row, struct arena *arena, struct correction *parts)
{
    *parts = (struct correction){
        .has_payload = !value_is_null(r, row, PAYLOAD),
        .has_key = value_bool(r, row, HAS_KEY),
        .has_headers = !value_is_null(r, row, NAMES),
        .has_topic = !value_is_null(r, row, TOPIC),
        .has_partition = !value_is_null(r, row, PARTITION),
        .payload = arena_copy(arena, value_bytes(r, row, PAYLOAD)),
        .key = arena_copy(arena, value_bytes(r, row, KEY)),
        .topic = arena_copy(arena, value_bytes(r, row, TOPIC)),
        .partition = value_int4(r, row, PARTITION),
    };
    event_headers_read(value_bytes(r, row, NAMES), true, arena, &parts->headers, &parts->header_count);
    event_headers_read(value_bytes(r, row, VALUES), false, arena, &parts->headers, &parts->header_count);
}

bool
store_revisions(struct store *store, int64_t id, struct arena *arena, struct revision **revisions,
                size_t *count, struct err *err)
{
    *revisions = NULL;
    *count = 0;
    PGresult *r;
    if (!pg_ask_of_event(
            store,
            "SELECT no, parent, author::text, reason, at, coalesce(operation_no, 0), payload, has_key, key, "
            "header_names, header_values, topic, partition FROM redrive.revision WHERE dlq_id = $1 "
            "ORDER BY no DESC",
            id, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *revisions = arena_array(arena, *count, sizeof **revisions);
    for (int i = 0; i < PQntuples(r); i++) {
        struct revision *revision = &(*revisions)[i];
        *revision = (struct revision){
            .no = value_int4(r, i, NO),
            .parent = value_int4(r, i, PARENT),
            .author = value_text(r, i, AUTHOR, arena),
            .reason = value_text(r, i, REASON, arena),
            .at = value_time(r, i, AT),
            .operation = value_int8(r, i, OPERATION),
        };
        read_correction(r, i, arena, &revision->parts);
    }
    PQclear(r);
    return true;
}

// Both arrays, or two NULLs.
static void
add_headers(struct params *params, const struct correction *correction, struct arena *arena)
{
    if (!correction->has_headers) {
        param_null(params);
        param_null(params);
        return;
    }
    const char **names = arena_array(arena, correction->header_count + 1, sizeof *names);
    struct bytes *values = arena_array(arena, correction->header_count + 1, sizeof *values);
    for (uint32_t i = 0; i < correction->header_count; i++) {
        names[i] = arena_text(arena, correction->headers[i].name);
        values[i] = correction->headers[i].value;
    }
    param_texts(params, names, correction->header_count);
    param_blobs(params, values, correction->header_count);
}

bool
event_correct(struct store *store, int64_t id, int32_t parent, const struct correction *correction,
              const char *reason, int32_t *no, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct arena arena = {0};
    struct params params = {0};
    param_int8(&params, id);
    param_int4(&params, parent);
    param_blob(&params, correction->has_payload ? correction->payload : BYTES_ABSENT);
    param_bool(&params, correction->has_key);
    param_blob(&params, correction->has_key ? correction->key : BYTES_ABSENT);
    add_headers(&params, correction, &arena);
    param_text(&params, correction->has_topic ? arena_text(&arena, correction->topic) : NULL);
    if (correction->has_partition)
        param_int4(&params, correction->partition);
    else
        param_null(&params);
    param_text(&params, reason);
    PGresult *r;
    bool ok =
        pg_ask(store, FOR_WRITING, "SELECT redrive.event_correct($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
               &params, &r, err);
    arena_release(&arena);
    if (!ok)
        return false;
    *no = value_int4(r, 0, 0);
    PQclear(r);
    return true;
}
