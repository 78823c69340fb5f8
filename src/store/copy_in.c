// COPY FROM STDIN in its binary form (PostgreSQL, "COPY", Binary Format): a signature, flags and the length
// of an extension; rows of field count, then length and bytes of each field; a field count of -1 at the end.
#include "store/pg.h"

#include <string.h>
#include "base/clock.h"

#define EPOCH_2000_US (946684800LL * US_PER_SECOND)

static void
add32(struct strbuf *out, uint32_t n)
{
    const char bytes[4] = {(char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
    strbuf_add(out, (struct bytes){bytes, sizeof bytes});
}

static void
add16(struct strbuf *out, uint16_t n)
{
    const char bytes[2] = {(char)(n >> 8), (char)n};
    strbuf_add(out, (struct bytes){bytes, sizeof bytes});
}

void
copy_row_begin(struct strbuf *out, int fields)
{
    add16(out, (uint16_t)fields);
}

void
copy_null(struct strbuf *out)
{
    add32(out, UINT32_MAX);
}

void
copy_bool(struct strbuf *out, bool b)
{
    add32(out, 1);
    strbuf_add_char(out, b ? 1 : 0);
}

void
copy_int4(struct strbuf *out, int32_t n)
{
    add32(out, 4);
    add32(out, (uint32_t)n);
}

void
copy_int8(struct strbuf *out, int64_t n)
{
    add32(out, 8);
    add32(out, (uint32_t)((uint64_t)n >> 32));
    add32(out, (uint32_t)(uint64_t)n);
}

void
copy_time(struct strbuf *out, int64_t instant)
{
    if (instant == TIME_ABSENT)
        copy_null(out);
    else
        copy_int8(out, instant - EPOCH_2000_US);
}

void
copy_bytes(struct strbuf *out, struct bytes b)
{
    if (!bytes_present(b)) {
        copy_null(out);
        return;
    }
    add32(out, (uint32_t)b.len);
    strbuf_add(out, b);
}

size_t
copy_array_begin(struct strbuf *out, bool is_text, size_t count)
{
    add32(out, 0); // its length, once that is known
    size_t from = out->len;
    add32(out, count > 0 ? 1 : 0); // dimensions
    add32(out, 1);                 // there may be NULLs
    add32(out, is_text ? OID_TEXT : OID_BYTEA);
    if (count > 0) {
        add32(out, (uint32_t)count);
        add32(out, 1); // the lower bound
    }
    return from;
}

void
copy_array_end(struct strbuf *out, size_t from)
{
    uint32_t len = (uint32_t)(out->len - from);
    for (int i = 0; i < 4; i++)
        out->data[from - 4 + (size_t)i] = (char)(len >> (24 - 8 * i));
}

static bool
send_rows(struct store *store, pg_fill_fn *fill, void *context)
{
    static const char begin[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", end[] = "\377\377";
    struct strbuf rows = {0};
    bool ok = PQputCopyData(store->conn, begin, sizeof begin - 1) == 1;
    while (ok) {
        strbuf_reset(&rows);
        fill(context, &rows);
        if (rows.len == 0)
            break;
        ok = PQputCopyData(store->conn, rows.data, (int)rows.len) == 1;
    }
    strbuf_release(&rows);
    return ok && PQputCopyData(store->conn, end, sizeof end - 1) == 1 && PQputCopyEnd(store->conn, NULL) == 1;
}

bool
pg_copy_in(struct store *store, const char *sql, pg_fill_fn *fill, void *context, struct err *err)
{
    struct err failure = {0};
    PGresult *result = PQexec(store->conn, sql);
    bool ok = PQresultStatus(result) == PGRES_COPY_IN;
    if (!ok)
        pg_fail(store, PQstatus(store->conn) == CONNECTION_BAD ? NULL : result, sql, &failure);
    PQclear(result);
    if (ok && !send_rows(store, fill, context))
        pg_fail(store, NULL, sql, &failure);
    while ((result = PQgetResult(store->conn))) {
        if (!err_is_set(&failure) && PQresultStatus(result) != PGRES_COMMAND_OK)
            pg_fail(store, PQstatus(store->conn) == CONNECTION_BAD ? NULL : result, sql, &failure);
        PQclear(result);
        if (PQstatus(store->conn) == CONNECTION_BAD)
            break;
    }
    if (!err_is_set(&failure))
        return true;
    pg_explain(store, &failure);
    if (err && err->kind == ERR_NONE)
        *err = failure;
    return false;
}
