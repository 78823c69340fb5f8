#include "ingest/letter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/utf8.h"
#include "core/envelope/members.h"
#include "core/envelope/schema_id.h"
#include "core/envelope/undo.h"
#include "core/fingerprint/hash.h"
#include "core/json/json.h"

enum {
    ID_MOST = 50,      // characters of dlq_events.event_id and source_id
    EXPONENT_MOST = 3, // digits: jsonb keeps 1e131071 in 22 bytes, and gives it back in 131,072
};
#define LAST_TIME (INT64_C(253402300799) * US_PER_SECOND) // of the year 9999

static uint32_t
crc_number(uint32_t crc, uint64_t n, int bytes)
{
    char text[8];
    for (int i = 0; i < bytes; i++)
        text[i] = (char)(n >> 8 * (bytes - 1 - i));
    return crc32c(crc, (struct bytes){text, (size_t)bytes});
}

static uint32_t
crc_bytes(uint32_t crc, struct bytes b)
{
    return crc32c(crc_number(crc, bytes_present(b) ? b.len : UINT32_MAX, 4), b);
}

uint32_t
letter_crc(const struct envelope_record *record)
{
    int64_t ms = record->timestamp == TIME_ABSENT ? -1 : record->timestamp / 1000;
    uint32_t crc = crc_number(0, (uint64_t)ms, 8);
    crc = crc_bytes(crc_bytes(crc, record->key), record->value);
    for (size_t i = 0; i < record->header_count; i++)
        crc = crc_bytes(crc_bytes(crc, record->headers[i].name), record->headers[i].value);
    return crc;
}

// As UTF-8 without NUL, which a text column cannot hold.
static struct bytes
as_text(struct bytes b, struct arena *arena)
{
    if (!bytes_present(b) || (utf8_valid(b) && (b.len == 0 || !memchr(b.data, '\0', b.len))))
        return b;
    struct strbuf out = {0};
    for (size_t at = 0, len; at < b.len; at += len) {
        uint32_t point;
        len = utf8_decode(b, at, &point);
        if (point == UTF8_INVALID || point == 0)
            strbuf_add_text(&out, "\xEF\xBF\xBD");
        else
            strbuf_add(&out, bytes_slice(b, at, len));
    }
    struct bytes text = arena_copy(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return text;
}

// Not longer than the column, and still another one than any other: the end is what differs.
static struct bytes
as_id(struct bytes id, struct arena *arena)
{
    if (id.len <= ID_MOST)
        return id;
    struct bytes begin = bytes_slice(id, 0, utf8_cut(id, ID_MOST - 17));
    return bytes_of(
        arena_printf(arena, "%.*s~%016" PRIx64, (int)begin.len, begin.data, fingerprint_hash(id, 0)));
}

// --- the payload ---

static bool
is_too_long_a_number(struct bytes token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.data[i] == 'e' || token.data[i] == 'E')
            return token.len - i - 1 > EXPONENT_MOST + 1;
    return false;
}

// Why jsonb cannot hold this JSON; NULL: it can, as far as that is seen here (PostgreSQL refuses NUL and half
// surrogates, ingest_take). *is_json: nothing else is wrong with it.
static const char *
not_jsonb(struct bytes value, bool *is_json)
{
    struct json_scan scan;
    struct json_token token;
    const char *why = NULL;
    json_begin(&scan, value);
    do {
        json_read(&scan, &token);
        if (!why && token.kind == JSON_NUMBER && is_too_long_a_number(json_bytes(&scan, token)))
            why = "a number of too many digits";
    } while (!why && token.kind != JSON_END && token.kind != JSON_ERROR);
    *is_json = why || (token.kind == JSON_END && utf8_valid(value));
    return why;
}

// The value as its schema shows it; absent: it cannot be decoded now, or not at all (*why).
static struct bytes
decode_value(const struct schema_value *value, const struct letter_place *place, struct arena *arena,
             struct ingest_letter *letter, const char **why)
{
    const struct schema *schema =
        place->find_schema ? place->find_schema(place->find_context, value->name) : NULL;
    letter->schema = value->name;
    letter->decoding = schema ? "failed" : "waiting";
    if (!schema)
        return BYTES_ABSENT;
    bool is_json;
    struct err err = {0};
    struct strbuf out = {0};
    struct bytes payload = BYTES_ABSENT;
    if (!schema_decode(schema, value->is_named ? SCHEMA_FRAMED : SCHEMA_BARE, value->rest, &out, &err)) {
        *why = arena_printf(arena, "schema %s: %s", value->name, err.text);
    } else if (!(*why = not_jsonb(strbuf_bytes(&out), &is_json))) {
        payload = arena_copy(arena, strbuf_bytes(&out));
        letter->decoding = "decoded";
    }
    strbuf_release(&out);
    return payload;
}

// What the value is, as JSON; absent: why it is none.
static struct bytes
value_as_json(const struct envelope_record *record, const struct envelope_undo *undo,
              const struct letter_place *place, struct arena *arena, struct ingest_letter *letter,
              const char **why)
{
    struct schema_id id;
    struct schema_value value;
    struct envelope_record original = *record;
    bool is_json = false;
    original.value = undo->value;
    *why = bytes_present(undo->value) ? not_jsonb(undo->value, &is_json) : "no value";
    if (!*why && is_json)
        return undo->value;
    if (*why)
        return BYTES_ABSENT;
    schema_value_of(&original, undo->topic, arena, &value);
    *why = schema_id_of(&original, &id) ? schema_id_text(&id, arena)
           : utf8_valid(undo->value)    ? "text that is not JSON"
                                        : "bytes that are not text";
    return value.name ? decode_value(&value, place, arena, letter, why) : BYTES_ABSENT;
}

// Why there is no value.
static const char *
why_not_here(const struct envelope *envelope, const struct envelope_undo *undo,
             const struct letter_place *place, struct arena *arena)
{
    if (!envelope->pointer)
        return undo->how_text;
    if (!place->original || place->original->state != EVENT_ORIGINAL_GONE)
        return envelope->pointer;
    return arena_printf(arena, "the original is gone: %s", place->original->why);
}

static struct bytes
payload_of(const struct envelope_record *record, const struct envelope *envelope,
           const struct envelope_undo *undo, const struct letter_place *place, struct arena *arena,
           struct ingest_letter *letter)
{
    bool is_here = undo->how != UNDO_LOST && undo->how != UNDO_POINTER;
    const char *why = why_not_here(envelope, undo, place, arena);
    struct bytes payload = is_here ? value_as_json(record, undo, place, arena, letter, &why) : BYTES_ABSENT;
    if (bytes_present(payload))
        return payload;
    struct strbuf out = {0};
    strbuf_add_text(&out, "{\"not_json\":");
    json_quote(as_text(bytes_of(why), arena), &out);
    strbuf_printf(&out, ",\"bytes\":%zu}", is_here && bytes_present(undo->value) ? undo->value.len : 0);
    payload = arena_copy(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return payload;
}

// --- what failed ---

static struct bytes
error_of(const struct envelope *envelope, const char *topic, struct arena *arena)
{
    struct bytes class = envelope->facts[FACT_ERROR_CLASS], message = envelope->facts[FACT_ERROR_MESSAGE];
    if (class.len == 0 && message.len == 0)
        return bytes_of(arena_printf(arena, "%s says no error (format %s)", topic,
                                     envelope_format_name(envelope->format)));
    if (class.len == 0)
        return as_text(message, arena);
    bool has_class = message.len >= class.len && memcmp(message.data, class.data, class.len) == 0;
    if (message.len == 0 || has_class)
        return as_text(message.len > 0 ? message : class, arena);
    struct strbuf out = {0};
    strbuf_add(&out, class);
    strbuf_add_text(&out, ": ");
    strbuf_add(&out, message);
    struct bytes text = as_text(arena_copy(arena, strbuf_bytes(&out)), arena);
    strbuf_release(&out);
    return text;
}

static int64_t
sane_time(bool is_known, int64_t instant)
{
    return is_known && instant >= 0 && instant <= LAST_TIME ? instant : TIME_ABSENT;
}

static void
read_failure(const struct envelope *envelope, const char *topic, struct arena *arena,
             struct ingest_letter *letter)
{
    letter->format = envelope_format_name(envelope->format);
    letter->consumer = as_text(envelope->facts[FACT_CONSUMER], arena);
    letter->failed_at = sane_time(envelope->has_number[FACT_FAILED_AT], envelope->numbers[FACT_FAILED_AT]);
    letter->error_message = error_of(envelope, topic, arena);
    letter->stack_trace = as_text(envelope->facts[FACT_STACK], arena);
    int64_t attempts = envelope->numbers[FACT_ATTEMPTS];
    letter->attempts = envelope->has_number[FACT_ATTEMPTS] && attempts >= 0 && attempts <= INT32_MAX
                           ? (int32_t)attempts
                           : -1;
}

// --- which event it is ---

static bool
read_uuid(struct bytes text, char out[16])
{
    size_t digits = 0;
    memset(out, 0, 16);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (c == '-' && text.len == 36 && (i == 8 || i == 13 || i == 18 || i == 23))
            continue;
        if (digit < 0 || digits == 32)
            return false;
        out[digits / 2] = (char)((unsigned char)out[digits / 2] << 4 | digit);
        digits++;
    }
    return digits == 32;
}

static void
read_original(const struct envelope *envelope, const struct envelope_undo *undo, struct arena *arena,
              struct ingest_letter *letter)
{
    int64_t partition = envelope->numbers[FACT_PARTITION], offset = envelope->numbers[FACT_OFFSET];
    letter->original.topic = as_text(undo->topic, arena);
    letter->original.partition = -1;
    letter->original.offset = -1;
    if (undo->topic.len == 0)
        return;
    if (envelope->has_number[FACT_PARTITION] && partition >= 0 && partition <= INT32_MAX)
        letter->original.partition = (int32_t)partition;
    if (envelope->has_number[FACT_OFFSET] && offset >= 0)
        letter->original.offset = offset;
}

static struct bytes
join_place(struct bytes topic, int32_t generation, int32_t partition, int64_t offset, struct arena *arena)
{
    const struct bytes parts[] = {
        topic,
        bytes_of(generation ? "#" : ""),
        bytes_of(generation ? arena_int(arena, generation) : ""),
        BYTES("/"),
        bytes_of(arena_int(arena, partition)),
        BYTES("/"),
        bytes_of(arena_int(arena, offset)),
    };
    return bytes_of(arena_join(arena, parts, sizeof parts / sizeof *parts));
}

static struct bytes
place_id(const struct letter_place *place, const struct ingest_letter *letter, struct arena *arena)
{
    if (letter->original.partition >= 0 && letter->original.offset >= 0)
        return join_place(letter->original.topic, 0, letter->original.partition, letter->original.offset,
                          arena);
    return join_place(bytes_of(place->topic), place->generation, letter->partition, letter->offset, arena);
}

static struct bytes
text_at_path(struct bytes value, const char *place, struct arena *arena)
{
    struct json_path *path;
    struct json_token token;
    struct err ignored = {0};
    if (!bytes_present(value) || !json_path_parse(&path, bytes_of(place), &ignored))
        return BYTES_ABSENT;
    struct bytes text = json_path_find(path, value, &token)
                            ? member_text(bytes_slice(value, token.from, token.len), arena)
                            : BYTES_ABSENT;
    json_path_destroy(path);
    return text;
}

// What is at a place that a rule names; absent: nothing. Of a header that occurs several times the last.
static struct bytes
at_place(const char *place, const struct envelope_record *record, const struct envelope_undo *undo,
         struct arena *arena)
{
    struct bytes found = BYTES_ABSENT;
    size_t prefix = strlen("header:");
    if (!place)
        return BYTES_ABSENT;
    if (strcmp(place, "key") == 0)
        found = undo->key;
    else if (strncmp(place, "header:", prefix) == 0)
        for (size_t i = 0; i < record->header_count; i++)
            found =
                bytes_equal_text(record->headers[i].name, place + prefix) ? record->headers[i].value : found;
    else if ((found = text_at_path(undo->value, place, arena)).len == 0)
        found = text_at_path(record->value, place, arena);
    return found.len > 0 ? as_text(found, arena) : BYTES_ABSENT;
}

// Instead of what the format says.
static void
follow_rule(const struct topic_rule *rule, const struct envelope_record *record,
            const struct envelope_undo *undo, struct arena *arena, struct envelope *envelope)
{
    const struct {
        const char *place;
        enum envelope_fact fact;
    } places[] = {
        {rule->places.type, FACT_EVENT_TYPE},
        {rule->places.source, FACT_SOURCE},
        {rule->places.correlation, FACT_CORRELATION_ID},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct bytes found = at_place(places[i].place, record, undo, arena);
        if (bytes_present(found))
            envelope->facts[places[i].fact] = found;
    }
}

static void
read_identity(const struct envelope *envelope, const struct letter_place *place, struct bytes key,
              struct arena *arena, struct ingest_letter *letter)
{
    struct bytes topic = letter->original.topic.len > 0 ? letter->original.topic : bytes_of(place->topic);
    struct bytes id = key.len > 0 ? key : as_text(envelope->facts[FACT_EVENT_ID], arena);
    uint64_t space = fingerprint_hash(bytes_of(place->cluster), 0);
    if (key.len > 0)
        space = fingerprint_hash(topic, space);
    if (id.len == 0)
        id = place_id(place, letter, arena);
    letter->event_id = as_id(id, arena);
    letter->identity = (int64_t)fingerprint_hash(id, space);
    letter->event_type = as_text(envelope->facts[FACT_EVENT_TYPE], arena);
    if (letter->event_type.len == 0)
        letter->event_type = topic;
    letter->source_table = as_text(envelope->facts[FACT_SOURCE], arena);
    letter->has_correlation = read_uuid(envelope->facts[FACT_CORRELATION_ID], letter->correlation);
}

const struct event_header *
letter_headers(const struct envelope_record *record, struct arena *arena)
{
    struct event_header *headers = arena_array(arena, record->header_count, sizeof *headers);
    for (size_t i = 0; i < record->header_count; i++)
        headers[i] = (struct event_header){.name = as_text(record->headers[i].name, arena),
                                           .value = record->headers[i].value};
    return headers;
}

static void
read_headers(const struct envelope_record *record, struct arena *arena, struct ingest_letter *letter)
{
    letter->headers = letter_headers(record, arena);
    letter->header_count = record->header_count;
    for (size_t i = 0; i < letter->header_count; i++)
        letter->was_sent = letter->was_sent || bytes_equal_text(letter->headers[i].name, "redrive-event-id");
}

// What was sent before it failed: the original where the record points at it and it was fetched.
static const struct envelope_record *
with_original(const struct envelope_record *record, const struct letter_place *place,
              struct envelope_undo *undo)
{
    const struct kept_original *original = place->original;
    if (undo->how != UNDO_POINTER || !original || original->state != EVENT_ORIGINAL_FETCHED)
        return record;
    undo->how = UNDO_AS_IS;
    undo->key = original->record.key;
    undo->value = original->record.value;
    return &original->record;
}

void
letter_read(const struct envelope_record *record, const struct letter_place *place, struct arena *arena,
            struct ingest_letter *letter)
{
    struct envelope envelope;
    struct envelope_undo undo;
    if (place->rule && place->rule->format)
        envelope_read_as(place->rule->format, record, arena, &envelope);
    else
        envelope_read(record, arena, &envelope);
    envelope_undo(record, &envelope, arena, &undo);
    if (place->rule && place->rule->of)
        undo.topic = bytes_of(place->rule->of);
    const struct envelope_record *sent = with_original(record, place, &undo);
    if (place->rule)
        follow_rule(place->rule, sent, &undo, arena, &envelope);
    *letter = (struct ingest_letter){.topic = place->topic,
                                     .partition = record->partition,
                                     .offset = record->offset,
                                     .timestamp = sane_time(true, record->timestamp),
                                     .key = record->key,
                                     .value = record->value,
                                     .crc = letter_crc(record)};
    read_headers(record, arena, letter);
    read_failure(&envelope, place->topic, arena, letter);
    read_original(&envelope, &undo, arena, letter);
    read_identity(&envelope, place,
                  place->rule ? at_place(place->rule->places.key, sent, &undo, arena) : BYTES_ABSENT, arena,
                  letter);
    letter->is_pointer = undo.how == UNDO_POINTER && letter->original.topic.len > 0 &&
                         letter->original.partition >= 0 && letter->original.offset >= 0;
    letter->payload = payload_of(sent, &envelope, &undo, place, arena, letter);
    if (undo.key.len > 0 && undo.key.len <= ID_MOST && utf8_valid(undo.key) &&
        !memchr(undo.key.data, '\0', undo.key.len))
        letter->source_id = undo.key;
}

// --- what stays of it ---

static bool
is_within(struct bytes b, struct bytes whole)
{
    uintptr_t from = (uintptr_t)whole.data, at = (uintptr_t)b.data;
    return bytes_present(whole) && at >= from && at - from <= whole.len && b.len <= whole.len - (at - from);
}

static struct bytes
kept(struct bytes b, const struct envelope_record *record, struct arena *arena)
{
    bool is_view = !bytes_present(b) || is_within(b, record->value) || is_within(b, record->key);
    for (size_t i = 0; !is_view && i < record->header_count; i++)
        is_view = is_within(b, record->headers[i].value) || is_within(b, record->headers[i].name);
    return is_view ? b : arena_copy(arena, b);
}

void
letter_keep(struct ingest_letter *letter, const struct envelope_record *record, struct arena *arena)
{
    struct bytes *const fields[] = {
        &letter->key,           &letter->value,        &letter->consumer,       &letter->event_id,
        &letter->event_type,    &letter->source_table, &letter->source_id,      &letter->payload,
        &letter->error_message, &letter->stack_trace,  &letter->original.topic,
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = kept(*fields[i], record, arena);
    letter->schema = arena_text(arena, bytes_of(letter->schema));
    if (letter->header_count == 0)
        return;
    struct event_header *headers = arena_array(arena, letter->header_count, sizeof *headers);
    for (size_t i = 0; i < letter->header_count; i++)
        headers[i] = (struct event_header){.name = kept(letter->headers[i].name, record, arena),
                                           .value = kept(letter->headers[i].value, record, arena)};
    letter->headers = headers;
}
