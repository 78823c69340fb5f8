#include "store/ingest/kept_rows.h"

#include "store/events/reader.h"

static struct kept_record
read_row(const PGresult *r, int row, struct arena *arena)
{
    struct event_header *headers = NULL;
    uint32_t header_count = 0;
    event_headers_read(value_bytes(r, row, 7), true, arena, &headers, &header_count);
    event_headers_read(value_bytes(r, row, 8), false, arena, &headers, &header_count);
    return (struct kept_record){
        .id = value_int8(r, row, 0),
        .generation = value_int4(r, row, 9),
        .record = {.topic = arena_copy(arena, value_bytes(r, row, 1)),
                   .partition = value_int4(r, row, 2),
                   .offset = value_int8(r, row, 3),
                   .timestamp = value_time(r, row, 4),
                   .key = arena_copy(arena, value_bytes(r, row, 5)),
                   .value = arena_copy(arena, value_bytes(r, row, 6)),
                   .headers = headers,
                   .header_count = header_count},
    };
}

bool
kept_records_ask(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                 struct arena *arena, struct kept_record *records, size_t *count, struct err *err)
{
    PGresult *r;
    *count = 0;
    if (!pg_ask(store, purpose, sql, params, &r, err))
        return false;
    for (; *count < (size_t)PQntuples(r); (*count)++)
        records[*count] = read_row(r, (int)*count, arena);
    PQclear(r);
    return true;
}
