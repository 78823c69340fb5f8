#include "store/ingest/kept_rows.h"

// A record in columns from `at` on, as KEPT_RECORD_COLUMNS has it.
static struct envelope_record
read_record(const PGresult *r, int row, int at, struct arena *arena)
{
    struct event_header *headers = NULL;
    uint32_t header_count = 0;
    event_headers_read(value_bytes(r, row, at + 6), true, arena, &headers, &header_count);
    event_headers_read(value_bytes(r, row, at + 7), false, arena, &headers, &header_count);
    return (struct envelope_record){.topic = arena_copy(arena, value_bytes(r, row, at)),
                                    .partition = value_int4(r, row, at + 1),
                                    .offset = value_int8(r, row, at + 2),
                                    .timestamp = value_time(r, row, at + 3),
                                    .key = arena_copy(arena, value_bytes(r, row, at + 4)),
                                    .value = arena_copy(arena, value_bytes(r, row, at + 5)),
                                    .headers = headers,
                                    .header_count = header_count};
}

static struct kept_record
read_row(const PGresult *r, int row, struct arena *arena)
{
    enum { RECORD = 1, GENERATION = 9, ORIGINAL, WHY = 18, STATE };
    struct kept_record kept = {.id = value_int8(r, row, 0),
                               .record = read_record(r, row, RECORD, arena),
                               .generation = value_int4(r, row, GENERATION)};
    kept.original.state = (enum event_original_state)value_int4(r, row, STATE);
    if (kept.original.state != EVENT_ORIGINAL_INSIDE)
        kept.original.record = read_record(r, row, ORIGINAL, arena);
    kept.original.why = value_text(r, row, WHY, arena);
    return kept;
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

bool
kept_records_ask_all(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                     struct arena *arena, struct kept_record **records, size_t *count, struct err *err)
{
    PGresult *r;
    *count = 0;
    if (!pg_ask(store, purpose, sql, params, &r, err))
        return false;
    *records = arena_array(arena, (size_t)PQntuples(r), sizeof **records);
    for (; *count < (size_t)PQntuples(r); (*count)++)
        (*records)[*count] = read_row(r, (int)*count, arena);
    PQclear(r);
    return true;
}
