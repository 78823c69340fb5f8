// Parameters and values in PostgreSQL's binary form: network byte order, times in µs since 2000-01-01, arrays
// as the server's array_recv reads them (dimensions, flags, element type, length, lower bound, then length
// and bytes of each element).
#include "store/pg.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"

#define EPOCH_2000_US (946684800LL * US_PER_SECOND)

static void
write32(char *out, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(n >> (24 - 8 * i));
}

static void
write64(char *out, uint64_t n)
{
    write32(out, (uint32_t)(n >> 32));
    write32(out + 4, (uint32_t)n);
}

int32_t
pg_read32(const char *data)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; i++)
        n = n << 8 | (unsigned char)data[i];
    return (int32_t)n;
}

int64_t
pg_read64(const char *data)
{
    return (int64_t)((uint64_t)(uint32_t)pg_read32(data) << 32 | (uint32_t)pg_read32(data + 4));
}

static int
param_add(struct params *params, Oid type, const char *value, size_t len, bool is_binary)
{
    if (params->count == PARAMS_MAX || len > INT32_MAX)
        die("a statement has more parameters than it may have");
    int i = params->count++;
    params->types[i] = type;
    params->values[i] = value;
    params->lengths[i] = (int)len;
    params->formats[i] = is_binary;
    return i;
}

static void
param_number(struct params *params, Oid type, uint64_t n, size_t len)
{
    int i = param_add(params, type, NULL, len, true);
    if (len == 8)
        write64(params->numbers[i], n);
    else if (len == 4)
        write32(params->numbers[i], (uint32_t)n);
    else
        params->numbers[i][0] = (char)n;
    params->values[i] = params->numbers[i];
}

void
param_int8(struct params *params, int64_t n)
{
    param_number(params, OID_INT8, (uint64_t)n, 8);
}

void
param_int4(struct params *params, int32_t n)
{
    param_number(params, OID_INT4, (uint32_t)n, 4);
}

void
param_bool(struct params *params, bool b)
{
    param_number(params, OID_BOOL, b, 1);
}

void
param_double(struct params *params, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    param_number(params, OID_FLOAT8, bits, 8);
}

void
param_text(struct params *params, const char *text)
{
    param_add(params, OID_TEXT, text, 0, false);
}

void
param_null(struct params *params)
{
    param_add(params, 0, NULL, 0, false);
}

void
param_blob(struct params *params, struct bytes blob)
{
    param_add(params, OID_BYTEA, blob.data, blob.len, true);
}

void
param_uuid(struct params *params, const char *text)
{
    param_add(params, OID_UUID, text, 0, false);
}

enum { ARRAY_HEAD = 20, ARRAY_HEAD_EMPTY = 12 };

static char *
array_begin(Oid element, size_t count, size_t size, bool has_null)
{
    if (count > INT32_MAX)
        die("an array of %zu elements is too large to be sent", count);
    char *array = alloc_bytes(size_add(ARRAY_HEAD, size));
    write32(array, count ? 1 : 0);
    write32(array + 4, has_null);
    write32(array + 8, element);
    write32(array + 12, (uint32_t)count);
    write32(array + 16, 1);
    return array;
}

static void
array_end(struct params *params, Oid type, char *array, size_t count, size_t size)
{
    int i = param_add(params, type, array, count ? ARRAY_HEAD + size : ARRAY_HEAD_EMPTY, true);
    params->owned[i] = array;
}

void
param_ids(struct params *params, const int64_t *ids, size_t count)
{
    size_t size = size_mul(count, 12);
    char *array = array_begin(OID_INT8, count, size, false);
    for (size_t i = 0; i < count; i++) {
        write32(array + ARRAY_HEAD + 12 * i, 8);
        write64(array + ARRAY_HEAD + 12 * i + 4, (uint64_t)ids[i]);
    }
    array_end(params, OID_INT8_ARRAY, array, count, size);
}

void
param_bits(struct params *params, const int64_t *ids, size_t count)
{
    size_t len = count ? (size_t)((uint64_t)ids[count - 1] - (uint64_t)ids[0]) / 8 + 1 : 0;
    char *bits = alloc_bytes(len + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = (uint64_t)ids[i] - (uint64_t)ids[0];
        bits[bit / 8] = (char)((unsigned char)bits[bit / 8] | 1u << bit % 8);
    }
    int i = param_add(params, OID_BYTEA, bits, len, true);
    params->owned[i] = bits;
}

static void
param_words(struct params *params, Oid type, Oid element, const int32_t *words, size_t count)
{
    size_t size = size_mul(count, 8);
    char *array = array_begin(element, count, size, false);
    for (size_t i = 0; i < count; i++) {
        write32(array + ARRAY_HEAD + 8 * i, 4);
        write32(array + ARRAY_HEAD + 8 * i + 4, (uint32_t)words[i]);
    }
    array_end(params, type, array, count, size);
}

void
param_numbers(struct params *params, const int32_t *numbers, size_t count)
{
    param_words(params, OID_INT4_ARRAY, OID_INT4, numbers, count);
}

void
param_xids(struct params *params, const int32_t *xids, size_t count)
{
    param_words(params, OID_XID_ARRAY, OID_XID, xids, count);
}

static void
param_slices(struct params *params, Oid type, Oid element, const struct bytes *slices, size_t count)
{
    size_t size = 0;
    bool has_null = false;
    for (size_t i = 0; i < count; i++) {
        size = size_add(size, size_add(4, slices[i].len));
        has_null = has_null || !slices[i].data;
    }
    char *array = array_begin(element, count, size, has_null);
    char *at = array + ARRAY_HEAD;
    for (size_t i = 0; i < count; i++) {
        write32(at, slices[i].data ? (uint32_t)slices[i].len : UINT32_MAX);
        at += 4;
        if (slices[i].data && slices[i].len)
            memcpy(at, slices[i].data, slices[i].len);
        at += slices[i].len;
    }
    array_end(params, type, array, count, size);
}

void
param_texts(struct params *params, const char *const *texts, size_t count)
{
    struct bytes *slices = alloc_array(count, sizeof *slices);
    for (size_t i = 0; i < count; i++)
        slices[i] = bytes_of(texts[i]);
    param_slices(params, OID_TEXT_ARRAY, OID_TEXT, slices, count);
    free(slices);
}

void
param_blobs(struct params *params, const struct bytes *blobs, size_t count)
{
    param_slices(params, OID_BYTEA_ARRAY, OID_BYTEA, blobs, count);
}

void
array_head(struct strbuf *out, Oid element, size_t count)
{
    if (count > INT32_MAX)
        die("an array of %zu elements is too large to be sent", count);
    const uint32_t words[] = {count > 0, true, element, (uint32_t)count, 1};
    char head[ARRAY_HEAD];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        write32(head + 4 * i, words[i]);
    strbuf_add(out, (struct bytes){head, count > 0 ? ARRAY_HEAD : ARRAY_HEAD_EMPTY});
}

void
param_array(struct params *params, Oid type, const struct strbuf *out)
{
    param_add(params, type, out->data, out->len, true);
}

void
array_retype(struct strbuf *array, Oid element)
{
    write32(array->data + 8, element);
}

void
params_share(struct params *params, const struct params *from)
{
    for (int i = 0; i < from->count; i++) {
        int at = param_add(params, from->types[i], from->values[i], 0, from->formats[i]);
        params->lengths[at] = from->lengths[i];
    }
}

void
params_release(struct params *params)
{
    for (int i = 0; i < params->count; i++)
        free(params->owned[i]);
    *params = (struct params){0};
}

bool
value_is_null(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) != 0;
}

struct bytes
value_bytes(const PGresult *result, int row, int column)
{
    if (value_is_null(result, row, column))
        return BYTES_ABSENT;
    return (struct bytes){PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column)};
}

// A value whose type is not what its reader expects is a bug in a statement, not something to go on with.
static const char *
value_fixed(const PGresult *result, int row, int column, int len)
{
    if (value_is_null(result, row, column))
        return NULL;
    if (PQgetlength(result, row, column) != len || PQfformat(result, column) != 1)
        die("column %s of an answer is not what its statement says", PQfname(result, column));
    return PQgetvalue(result, row, column);
}

int64_t
value_int8(const PGresult *result, int row, int column)
{
    const char *data = value_fixed(result, row, column, 8);
    return data ? pg_read64(data) : 0;
}

int32_t
value_int4(const PGresult *result, int row, int column)
{
    const char *data = value_fixed(result, row, column, 4);
    return data ? pg_read32(data) : 0;
}

bool
value_bool(const PGresult *result, int row, int column)
{
    const char *data = value_fixed(result, row, column, 1);
    return data && *data;
}

double
value_double(const PGresult *result, int row, int column)
{
    const char *data = value_fixed(result, row, column, 8);
    int64_t bits = data ? pg_read64(data) : 0;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

// µs since 2000 as µs since 1970.
static int64_t
pg_time(int64_t us)
{
    // The ends of the range stand for -infinity and infinity.
    if (us == INT64_MIN)
        return INT64_MIN + 1;
    return us > INT64_MAX - EPOCH_2000_US ? INT64_MAX : us + EPOCH_2000_US;
}

int64_t
value_time(const PGresult *result, int row, int column)
{
    const char *data = value_fixed(result, row, column, 8);
    return data ? pg_time(pg_read64(data)) : TIME_ABSENT;
}

int64_t
field_int8(struct bytes field)
{
    return field.len == 8 ? pg_read64(field.data) : 0;
}

int32_t
field_int4(struct bytes field)
{
    return field.len == 4 ? pg_read32(field.data) : 0;
}

int64_t
field_time(struct bytes field)
{
    return field.len == 8 ? pg_time(pg_read64(field.data)) : TIME_ABSENT;
}

const char *
value_text(const PGresult *result, int row, int column, struct arena *arena)
{
    return arena_text(arena, value_bytes(result, row, column));
}

void
value_copy(const PGresult *result, int row, int column, char *out, size_t room)
{
    struct bytes b = value_bytes(result, row, column);
    size_t len = b.len < room - 1 ? b.len : room - 1;
    if (len)
        memcpy(out, b.data, len);
    out[len] = '\0';
}
