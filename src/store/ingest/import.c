#include "store/ingest/import.h"

#include "base/crc32c.h"
#include "store/pg.h"

enum { FIELDS = 1 + IMPORT_COLUMNS + 7, AT_ONCE = 256 << 10 }; // columns; bytes handed over together

// The same in all builds, which may import at the same time.
int
import_part(struct bytes event_id)
{
    return (int)(crc32c(0, event_id) % IMPORT_PARTS);
}

static const char copy_sql[] =
    "COPY pg_temp.redrive_import (no, "
#define IMPORT_COLUMN(name, camel, kind) #name ", "
#include "core/import_columns.def"
#undef IMPORT_COLUMN
    "payload, is_exact, value, key, headers, record, revisions) FROM STDIN (FORMAT binary)";

struct filling {
    const struct import_batch *batch;
    size_t at;
};

static void
fill(void *context, struct strbuf *out)
{
    struct filling *filling = context;
    while (filling->at < filling->batch->count && out->len < AT_ONCE) {
        const struct import_row *row = &filling->batch->rows[filling->at++];
        copy_row_begin(out, FIELDS);
        copy_int4(out, (int32_t)filling->at);
        for (int i = 0; i < IMPORT_COLUMNS; i++)
            copy_bytes(out, row->columns[i]);
        copy_bytes(out, row->payload);
        copy_bool(out, row->is_exact);
        copy_bytes(out, row->value);
        copy_bytes(out, row->key);
        copy_bytes(out, row->headers);
        copy_bytes(out, row->record);
        copy_bytes(out, row->revisions);
    }
}

// A row without a number has only the counts.
static void
read_taken(const PGresult *r, struct arena *arena, struct import_taken *taken)
{
    size_t rows = (size_t)PQntuples(r);
    *taken = (struct import_taken){.inserted = value_int8(r, 0, 0),
                                   .duplicates = value_int8(r, 0, 1),
                                   .refused = arena_array(arena, rows, sizeof *taken->refused)};
    for (int i = 0; i < (int)rows; i++)
        if (!value_is_null(r, i, 2))
            taken->refused[taken->refused_count++] = (struct import_refused){
                .row = (size_t)value_int4(r, i, 2) - 1, .why = value_text(r, i, 3, arena)};
}

bool
import_take(struct store *store, const struct import_batch *batch, struct arena *arena,
            struct import_taken *taken, struct err *err)
{
    struct filling filling = {.batch = batch};
    struct params params = {0};
    PGresult *r = NULL;
    param_text(&params, batch->source);
    param_text(&params, batch->reason);
    if (batch->part == IMPORT_ALL_PARTS)
        param_null(&params);
    else
        param_int4(&params, batch->part);
    if (!pg_may_write(store, err) || !pg_has_schema(store, err) || !pg_begin(store, FOR_TURNS, err))
        return false;
    bool ok =
        pg_do(store, FOR_TURNS, "SELECT redrive.import_stage()", NULL, err) &&
        pg_copy_in(store, copy_sql, fill, &filling, err) &&
        pg_ask(store, FOR_TURNS,
               "SELECT t.inserted, t.duplicates, u.no, u.why FROM redrive.import_take($1, $2, $3) t LEFT "
               "JOIN LATERAL unnest(t.refused, t.whys) AS u (no, why) ON true ORDER BY u.no",
               &params, &r, err);
    if (ok)
        read_taken(r, arena, taken);
    PQclear(r);
    ok = ok && (batch->is_dry || pg_commit(store, err));
    pg_rollback(store);
    return ok;
}
