#include "store/events/payload.h"

#include <string.h>
#include "store/query.h"

struct payload_reading {
    char *bytes;
    size_t room, len; // of bytes; what was read of them
    bool is_other;    // than the payload of which the beginning is known
    const struct event *event;
};

static bool
payload_is_other(const struct event *event, const PGresult *row, struct bytes slice)
{
    struct bytes known = event->payload;
    return value_int4(row, 0, 0) != event->known.revisions ||
           value_bool(row, 0, 1) != event->record.is_kept ||
           (uint64_t)value_int8(row, 0, 2) != event->payload_size ||
           !bytes_equal(bytes_slice(slice, 0, known.len), bytes_slice(known, 0, slice.len));
}

static bool
payload_read_slice(void *context, const PGresult *row)
{
    struct payload_reading *reading = context;
    struct bytes slice = value_bytes(row, 0, 3);
    if (reading->len == 0)
        reading->is_other = payload_is_other(reading->event, row, slice);
    if (reading->is_other)
        return false;
    slice = bytes_slice(slice, 0, reading->room - reading->len);
    memcpy(reading->bytes + reading->len, slice.data, slice.len);
    reading->len += slice.len;
    return true;
}

// The text is made once for all slices: OFFSET 0 keeps it from being made for each, and || takes a stored
// value out of its compressed form.
static void
payload_query(struct query *query, bool has_schema)
{
    query_add(query, PIECE("SELECT "));
    query_add(query,
              has_schema ? PIECE("coalesce(revised.no, 0), raw.dlq_id IS NOT NULL") : PIECE("0, false"));
    query_add(
        query,
        PIECE(", octet_length(sent.payload)::int8, substring(sent.payload FROM slice.at::int4 FOR "
              ":slice) FROM (SELECT e.id, e.event_payload FROM :\"events\" e WHERE e.id = :id LIMIT 1) e"));
    if (has_schema)
        query_add(query, PIECE(" LEFT JOIN LATERAL (SELECT k.* FROM redrive.record k WHERE k.dlq_id = e.id "
                               "LIMIT 1) raw ON true"
                               " LEFT JOIN LATERAL (SELECT k.* FROM redrive.original k WHERE k.dlq_id = e.id "
                               "LIMIT 1) original ON true"
                               " LEFT JOIN LATERAL (SELECT r.* FROM redrive.revision r WHERE r.dlq_id = e.id "
                               "ORDER BY r.no DESC "
                               "LIMIT 1) revised ON true"));
    query_add(query, PIECE(" CROSS JOIN LATERAL (SELECT "));
    query_add(query,
              has_schema
                  ? PIECE("CASE WHEN revised.payload IS NOT NULL THEN revised.payload WHEN original.state = "
                          "'fetched' THEN original.value WHEN raw.dlq_id IS NOT NULL THEN raw.value ELSE "
                          "convert_to(e.event_payload::text, 'UTF8') END")
                  : PIECE("convert_to(e.event_payload::text, 'UTF8')"));
    query_add(
        query,
        PIECE(" || ''::bytea AS payload OFFSET 0) sent CROSS JOIN LATERAL generate_series(1, least(:most, "
              "octet_length(sent.payload)), :slice) AS slice (at)"));
}

bool
payload_complete(struct store *store, size_t most, struct arena *arena, struct event *event, struct err *err)
{
    size_t size = event->payload_size < most ? event->payload_size : most;
    if (!bytes_present(event->payload) || event->payload.len >= size)
        return true;
    struct payload_reading reading = {.bytes = arena_alloc(arena, size), .room = size, .event = event};
    struct query query = {0};
    struct err failure = {0};
    payload_query(&query, store->info.schema_version > 0);
    param_int8(query_param(&query, "id"), event->id);
    param_int4(query_param(&query, "most"), (int32_t)size);
    param_int4(query_param(&query, "slice"), PAYLOAD_SLICE);
    bool ok = pg_stream_until(store, FOR_READING, query_text(&query), &query.params, payload_read_slice,
                              &reading, &failure);
    query_release(&query);
    if (ok && (reading.is_other || reading.len < size))
        ok = err_set(&failure, ERR_CONFLICT, "event %lld is being changed by somebody else: open it again",
                     (long long)event->id);
    if (!ok) {
        if (err && err->kind == ERR_NONE)
            *err = failure;
        return false;
    }
    event->payload = (struct bytes){reading.bytes, size};
    if (event->known.correction.has_payload)
        event->known.correction.payload = event->payload;
    return true;
}
