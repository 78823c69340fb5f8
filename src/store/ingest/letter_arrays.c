#include "store/ingest/letter_arrays.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/selection.h"
#include "store/ingest/letter_rows.h"

enum { NAMES = 1, VALUES };    // in the place of an Oid: of struct letter_types
enum { KEPT_BYTES = 4 << 20 }; // of a column, for the next chunk

// Adds the element of a letter. False: it is NULL.
typedef bool element_fn(const struct ingest_letter *letter, struct strbuf *out);

static bool
add_bytes(struct strbuf *out, struct bytes b)
{
    copy_bytes(out, b);
    return bytes_present(b);
}

static bool
add_int8(struct strbuf *out, int64_t n, bool is_known)
{
    if (is_known)
        copy_int8(out, n);
    else
        copy_null(out);
    return is_known;
}

static bool
add_int4(struct strbuf *out, int32_t n)
{
    if (n < 0)
        copy_null(out);
    else
        copy_int4(out, n);
    return n >= 0;
}

static bool
add_time(struct strbuf *out, int64_t instant)
{
    copy_time(out, instant);
    return instant != TIME_ABSENT;
}

static bool
add_mark(struct strbuf *out, bool is_set)
{
    if (is_set)
        copy_bool(out, true);
    else
        copy_null(out);
    return is_set;
}

static bool
add_array(const struct ingest_letter *letter, struct strbuf *out, bool is_names)
{
    if (letter->header_count == 0)
        copy_null(out);
    else if (is_names)
        letter_rows_header_names(letter, out);
    else
        letter_rows_header_values(letter, out);
    return letter->header_count > 0;
}

#define COLUMN(name, element)                                                                                \
    static bool column_##name(const struct ingest_letter *letter, struct strbuf *out)                        \
    {                                                                                                        \
        return element;                                                                                      \
    }
COLUMN(offset, add_int8(out, letter->offset, true))
COLUMN(timestamp, add_time(out, letter->timestamp))
COLUMN(key, add_bytes(out, letter->key))
COLUMN(value, add_bytes(out, letter->value))
COLUMN(header_names, add_array(letter, out, true))
COLUMN(header_values, add_array(letter, out, false))
COLUMN(crc, add_int8(out, letter->crc, true))
COLUMN(format, add_bytes(out, bytes_of(letter->format)))
COLUMN(consumer, add_bytes(out, letter->consumer))
COLUMN(failed_at, add_time(out, letter->failed_at))
COLUMN(identity, add_int8(out, letter->identity, true))
COLUMN(was_sent, add_mark(out, letter->was_sent))
COLUMN(event_id, add_bytes(out, letter->event_id))
COLUMN(event_type, add_bytes(out, letter->event_type))
COLUMN(source_table, add_bytes(out, letter->source_table))
COLUMN(source_id, add_bytes(out, letter->source_id))
COLUMN(payload, add_bytes(out, letter_rows_payload(letter)))
COLUMN(error_message, add_bytes(out, letter->error_message))
COLUMN(stack_trace, add_bytes(out, letter->stack_trace))
COLUMN(attempts, add_int4(out, letter->attempts))
COLUMN(correlation, add_bytes(out, letter_rows_correlation(letter)))
COLUMN(original_topic, add_bytes(out, letter->original.topic))
COLUMN(original_partition, add_int4(out, letter->original.partition))
COLUMN(original_offset, add_int8(out, letter->original.offset, letter->original.offset >= 0))
COLUMN(schema, add_bytes(out, bytes_of(letter->schema)))
COLUMN(decoding, add_bytes(out, bytes_of(letter->decoding)))
COLUMN(is_pointer, add_mark(out, letter->is_pointer))
#undef COLUMN

static const struct {
    Oid element;
    element_fn *add;
} columns[LETTER_ARRAYS - 3] = {
    {OID_INT8, column_offset},
    {OID_TIMESTAMPTZ, column_timestamp},
    {OID_BYTEA, column_key},
    {OID_BYTEA, column_value},
    {NAMES, column_header_names},
    {VALUES, column_header_values},
    {OID_INT8, column_crc},
    {OID_TEXT, column_format},
    {OID_TEXT, column_consumer},
    {OID_TIMESTAMPTZ, column_failed_at},
    {OID_INT8, column_identity},
    {OID_BOOL, column_was_sent},
    {OID_TEXT, column_event_id},
    {OID_TEXT, column_event_type},
    {OID_TEXT, column_source_table},
    {OID_TEXT, column_source_id},
    {OID_TEXT, column_payload},
    {OID_TEXT, column_error_message},
    {OID_TEXT, column_stack_trace},
    {OID_INT4, column_attempts},
    {OID_UUID, column_correlation},
    {OID_TEXT, column_original_topic},
    {OID_INT4, column_original_partition},
    {OID_INT8, column_original_offset},
    {OID_TEXT, column_schema},
    {OID_TEXT, column_decoding},
    {OID_BOOL, column_is_pointer},
};

// Where the letter's stretch is, from 1; 0: nowhere, which the function refuses. Mostly it is that of the
// letter before.
static int32_t
place_of(const struct ingest_letter *letter, const struct ingest_chunk *chunk, int32_t before)
{
    size_t at = before > 0 ? (size_t)before - 1 : 0;
    for (size_t tried = 0; tried < chunk->stretch_count; tried++) {
        const struct ingest_stretch *stretch = &chunk->stretches[at];
        if (stretch->partition == letter->partition && strcmp(stretch->topic, letter->topic) == 0)
            return (int32_t)at + 1;
        at = (at + 1) % chunk->stretch_count;
    }
    return 0;
}

static void
add_stretches(struct params *params, const struct ingest_chunk *chunk)
{
    int32_t *places = alloc_array(chunk->letter_count, sizeof *places);
    for (size_t i = 0; i < chunk->letter_count; i++)
        places[i] = place_of(&chunk->letters[i], chunk, i > 0 ? places[i - 1] : 0);
    param_numbers(params, places, chunk->letter_count);
    free(places);
}

// The parameter's type follows from the function: an array of these.
static void
add_column(struct params *params, const struct ingest_chunk *chunk, Oid element, element_fn *add,
           struct strbuf *out)
{
    bool has_any = false;
    array_head(out, element, chunk->letter_count);
    for (size_t i = 0; i < chunk->letter_count; i++)
        has_any = add(&chunk->letters[i], out) || has_any;
    if (has_any)
        param_array(params, 0, out);
    else
        param_null(params);
}

// Of the values that the contract table may be too narrow for.
static void
add_longest(struct params *params, const struct ingest_chunk *chunk)
{
    int32_t longest[5] = {0};
    for (size_t i = 0; i < chunk->letter_count; i++) {
        const struct ingest_letter *letter = &chunk->letters[i];
        const size_t len[] = {letter->event_id.len, letter->event_type.len, letter->source_table.len,
                              letter->source_id.len, letter->original.topic.len};
        for (size_t k = 0; k < sizeof len / sizeof *len; k++)
            if (len[k] > (size_t)longest[k])
                longest[k] = len[k] < INT32_MAX ? (int32_t)len[k] : INT32_MAX;
    }
    param_numbers(params, longest, sizeof longest / sizeof *longest);
}

static void
add_distinct(struct ingest_arrays *arrays, const struct ingest_chunk *chunk)
{
    arrays->distinct = alloc_array(chunk->letter_count + 1, sizeof *arrays->distinct);
    for (size_t i = 0; i < chunk->letter_count; i++)
        arrays->distinct[i] = chunk->letters[i].identity;
    arrays->distinct_count = ids_normalise(arrays->distinct, chunk->letter_count);
    param_ids(&arrays->params, arrays->distinct, arrays->distinct_count);
}

// Leaves the columns' memory to the next chunk, but what a chunk with a large record took.
static struct ingest_arrays *
empty(struct ingest_arrays *arrays)
{
    params_release(&arrays->params);
    free(arrays->distinct);
    arrays->distinct = NULL;
    arrays->distinct_count = 0;
    for (size_t i = 0; i < LETTER_ARRAYS - 3; i++) {
        if (arrays->columns[i].capacity > KEPT_BYTES)
            strbuf_release(&arrays->columns[i]);
        strbuf_reset(&arrays->columns[i]);
    }
    return arrays;
}

struct ingest_arrays *
ingest_arrays_make(const struct ingest_chunk *chunk, struct ingest_arrays *used)
{
    struct ingest_arrays *arrays = used ? empty(used) : alloc_bytes(sizeof *arrays);
    add_stretches(&arrays->params, chunk);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        add_column(&arrays->params, chunk, columns[i].element, columns[i].add, &arrays->columns[i]);
    add_longest(&arrays->params, chunk);
    add_distinct(arrays, chunk);
    return arrays;
}

void
ingest_arrays_free(struct ingest_arrays *arrays)
{
    if (!arrays)
        return;
    params_release(&arrays->params);
    for (size_t i = 0; i < LETTER_ARRAYS - 3; i++)
        strbuf_release(&arrays->columns[i]);
    free(arrays->distinct);
    free(arrays);
}

bool
ingest_arrays_meet(const struct ingest_arrays *arrays, const struct ingest_arrays *others)
{
    size_t a = 0, b = 0;
    while (a < arrays->distinct_count && b < others->distinct_count) {
        if (arrays->distinct[a] == others->distinct[b])
            return true;
        if (arrays->distinct[a] < others->distinct[b])
            a++;
        else
            b++;
    }
    return false;
}

void
letter_arrays_share(struct params *params, struct ingest_arrays *arrays, const struct letter_types *types)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].element == NAMES || columns[i].element == VALUES)
            array_retype(&arrays->columns[i],
                         columns[i].element == NAMES ? types->header_names : types->header_values);
    params_share(params, &arrays->params);
}
