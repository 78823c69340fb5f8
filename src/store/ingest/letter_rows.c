#include "store/ingest/letter_rows.h"

#include "store/pg.h"

enum { FIELDS = 30, AT_ONCE = 256 << 10 }; // columns; bytes handed to the connection together

static const char copy_sql[] =
    "COPY pg_temp.redrive_letter (no, topic, partition, \"offset\", \"timestamp\", key, value, header_names, "
    "header_values, crc32c, format, consumer, failed_at, identity, was_sent, event_id, event_type, "
    "source_table, source_id, payload, error_message, stack_trace, attempts, correlation_id, original_topic, "
    "original_partition, original_offset, schema, decoding, is_pointer) FROM STDIN (FORMAT binary)";

void
letter_rows_header_names(const struct ingest_letter *letter, struct strbuf *out)
{
    size_t names = copy_array_begin(out, true, letter->header_count);
    for (size_t i = 0; i < letter->header_count; i++)
        copy_bytes(out, letter->headers[i].name);
    copy_array_end(out, names);
}

void
letter_rows_header_values(const struct ingest_letter *letter, struct strbuf *out)
{
    size_t values = copy_array_begin(out, false, letter->header_count);
    for (size_t i = 0; i < letter->header_count; i++)
        copy_bytes(out, letter->headers[i].value);
    copy_array_end(out, values);
}

static void
add_original(const struct ingest_letter *letter, struct strbuf *out)
{
    copy_bytes(out, letter->original.topic);
    if (letter->original.partition < 0)
        copy_null(out);
    else
        copy_int4(out, letter->original.partition);
    if (letter->original.offset < 0)
        copy_null(out);
    else
        copy_int8(out, letter->original.offset);
}

struct bytes
letter_rows_payload(const struct ingest_letter *letter)
{
    bool is_the_value =
        letter->payload.data == letter->value.data && letter->payload.len == letter->value.len;
    return is_the_value ? BYTES_ABSENT : letter->payload;
}

struct bytes
letter_rows_correlation(const struct ingest_letter *letter)
{
    return letter->has_correlation ? (struct bytes){letter->correlation, sizeof letter->correlation}
                                   : BYTES_ABSENT;
}

static void
add_letter(const struct ingest_letter *letter, int32_t no, struct strbuf *out)
{
    copy_row_begin(out, FIELDS);
    copy_int4(out, no);
    copy_bytes(out, bytes_of(letter->topic));
    copy_int4(out, letter->partition);
    copy_int8(out, letter->offset);
    copy_time(out, letter->timestamp);
    copy_bytes(out, letter->key);
    copy_bytes(out, letter->value);
    letter_rows_header_names(letter, out);
    letter_rows_header_values(letter, out);
    copy_int8(out, letter->crc);
    copy_bytes(out, bytes_of(letter->format));
    copy_bytes(out, letter->consumer);
    copy_time(out, letter->failed_at);
    copy_int8(out, letter->identity);
    copy_bool(out, letter->was_sent);
    copy_bytes(out, letter->event_id);
    copy_bytes(out, letter->event_type);
    copy_bytes(out, letter->source_table);
    copy_bytes(out, letter->source_id);
    copy_bytes(out, letter_rows_payload(letter));
    copy_bytes(out, letter->error_message);
    copy_bytes(out, letter->stack_trace);
    if (letter->attempts < 0)
        copy_null(out);
    else
        copy_int4(out, letter->attempts);
    copy_bytes(out, letter_rows_correlation(letter));
    add_original(letter, out);
    copy_bytes(out, bytes_of(letter->schema));
    copy_bytes(out, bytes_of(letter->decoding));
    copy_bool(out, letter->is_pointer);
}

struct filling {
    const struct ingest_chunk *chunk;
    size_t at;
};

static void
fill(void *context, struct strbuf *out)
{
    struct filling *filling = context;
    while (filling->at < filling->chunk->letter_count && out->len < AT_ONCE) {
        const struct ingest_letter *letter = &filling->chunk->letters[filling->at++];
        add_letter(letter, (int32_t)filling->at, out);
    }
}

bool
letter_rows_copy(struct store *store, const struct ingest_chunk *chunk, struct err *err)
{
    struct filling filling = {.chunk = chunk};
    return pg_copy_in(store, copy_sql, fill, &filling, err);
}
