#include "core/apart/private.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"

enum { VALUE_BYTES = 96 }; // a longer text is no value that people compare

const char *
apart_what_name(enum apart_what what)
{
    static const char *const names[APART_WHATS] = {
        [APART_PATH] = "payload",    [APART_HEADER] = "header",
        [APART_KEY] = "key",         [APART_TYPE] = "type",
        [APART_SOURCE] = "source",   [APART_TOPIC] = "topic",
        [APART_RETRIES] = "retries", [APART_PARTITION] = "partition",
        [APART_CREATED] = "created", [APART_FRAME] = "frame",
        [APART_WORD] = "word"};
    return names[what];
}

const char *
apart_kind_name(enum apart_kind kind)
{
    static const char *const names[APART_KINDS] = {
        [APART_TEXT] = "text",        [APART_NUMBER] = "number", [APART_BOOLEAN] = "boolean",
        [APART_NULL] = "null",        [APART_OBJECT] = "object", [APART_ARRAY] = "array",
        [APART_NOT_JSON] = "not JSON"};
    return names[kind];
}

struct apart *
apart_create(unsigned leaves_out, const struct group_rules *rules)
{
    struct apart *apart = alloc_bytes(sizeof *apart);
    apart->leaves_out = leaves_out;
    apart->rules = rules;
    return apart;
}

void
apart_destroy(struct apart *apart)
{
    if (!apart)
        return;
    for (size_t i = 0; i < apart->field_count; i++) {
        free(apart->fields[i].seen);
        free(apart->fields[i].texts);
        free(apart->fields[i].buckets);
    }
    free(apart->fields);
    free(apart->buckets);
    free(apart->events);
    strbuf_release(&apart->path);
    strbuf_release(&apart->scratch);
    arena_release(&apart->arena);
    free(apart);
}

// --- tables of indexes, open addressing, at most half full ---

static uint32_t *
buckets_grow(uint32_t *buckets, size_t count)
{
    free(buckets);
    buckets = alloc_array(count, sizeof *buckets);
    memset(buckets, 0xff, count * sizeof *buckets);
    return buckets;
}

static void
buckets_put(uint32_t *buckets, size_t count, uint64_t hash, uint32_t index)
{
    size_t at = hash & (count - 1);
    while (buckets[at] != APART_NONE)
        at = (at + 1) & (count - 1);
    buckets[at] = index;
}

// --- fields ---

static uint64_t
field_hash(enum apart_what what, struct bytes name)
{
    return (bytes_hash(name) ^ (uint64_t)what) * 0x9E3779B97F4A7C15u;
}

static uint32_t
find_field(const struct apart *apart, enum apart_what what, struct bytes name, uint64_t hash)
{
    if (!apart->bucket_count)
        return APART_NONE;
    size_t at = hash & (apart->bucket_count - 1);
    for (; apart->buckets[at] != APART_NONE; at = (at + 1) & (apart->bucket_count - 1)) {
        const struct apart_field *field = &apart->fields[apart->buckets[at]];
        if (field->hash == hash && field->what == what && bytes_equal(field->name, name))
            return apart->buckets[at];
    }
    return APART_NONE;
}

const struct apart_field *
apart_field_find(const struct apart *apart, enum apart_what what, struct bytes name)
{
    uint32_t at = find_field(apart, what, name, field_hash(what, name));
    return at == APART_NONE ? NULL : &apart->fields[at];
}

static void
add_field(struct apart *apart, enum apart_what what, struct bytes name, uint64_t hash)
{
    if (apart->field_count * 2 >= apart->bucket_count) {
        apart->bucket_count = apart->bucket_count ? apart->bucket_count * 2 : 128;
        apart->buckets = buckets_grow(apart->buckets, apart->bucket_count);
        for (size_t i = 0; i < apart->field_count; i++)
            buckets_put(apart->buckets, apart->bucket_count, apart->fields[i].hash, (uint32_t)i);
    }
    apart->fields =
        alloc_grow(apart->fields, apart->field_count, &apart->field_capacity, sizeof *apart->fields);
    buckets_put(apart->buckets, apart->bucket_count, hash, (uint32_t)apart->field_count);
    apart->fields[apart->field_count++] =
        (struct apart_field){.what = what, .name = arena_copy(&apart->arena, name), .hash = hash};
}

struct apart_field *
apart_field_need(struct apart *apart, enum apart_what what, struct bytes name)
{
    if (apart->leaves_out & 1u << what)
        return NULL;
    uint64_t hash = field_hash(what, name);
    uint32_t at = find_field(apart, what, name, hash);
    if (at != APART_NONE)
        return &apart->fields[at];
    if (apart->field_count == APART_FIELDS) {
        apart->is_cut = true;
        return NULL;
    }
    add_field(apart, what, name, hash);
    return &apart->fields[apart->field_count - 1];
}

// --- values ---

static uint32_t
need_text(struct apart *apart, struct apart_field *field, enum apart_kind kind, struct bytes text)
{
    uint64_t hash = field_hash((enum apart_what)kind, text);
    if (field->text_count * 2 >= field->bucket_count) {
        field->bucket_count = field->bucket_count ? field->bucket_count * 2 : 16;
        field->buckets = buckets_grow(field->buckets, field->bucket_count);
        for (size_t i = 0; i < field->text_count; i++)
            buckets_put(field->buckets, field->bucket_count, field->texts[i].hash, (uint32_t)i);
    }
    size_t at = hash & (field->bucket_count - 1);
    for (; field->buckets[at] != APART_NONE; at = (at + 1) & (field->bucket_count - 1)) {
        const struct apart_text *known = &field->texts[field->buckets[at]];
        if (known->hash == hash && known->value.kind == kind && bytes_equal(known->value.text, text))
            return field->buckets[at];
    }
    field->buckets[at] = (uint32_t)field->text_count;
    field->texts = alloc_grow(field->texts, field->text_count, &field->text_capacity, sizeof *field->texts);
    field->texts[field->text_count] = (struct apart_text){
        .value = {arena_copy(&apart->arena, text), kind}, .hash = hash, .event = APART_NONE};
    return (uint32_t)field->text_count++;
}

// Is there no room for another value of this event?
static bool
is_full(const struct apart_field *field, uint32_t event)
{
    return field->seen_count >= APART_SEEN && field->seen[field->seen_count - APART_SEEN].event == event;
}

static struct apart_seen *
add_seen(struct apart *apart, struct apart_field *field, enum apart_kind kind)
{
    field->seen = alloc_grow(field->seen, field->seen_count, &field->seen_capacity, sizeof *field->seen);
    struct apart_seen *seen = &field->seen[field->seen_count++];
    *seen = (struct apart_seen){
        .event = (uint32_t)apart->count - 1, .text = APART_NONE, .kind = kind, .number = 0};
    field->kinds |= 1u << kind;
    return seen;
}

static uint32_t
length_of(struct bytes text)
{
    uint32_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
    }
    return count;
}

static double
number_of(struct bytes token)
{
    char text[VALUE_BYTES + 1];
    size_t len = token.len > VALUE_BYTES ? VALUE_BYTES : token.len;
    memcpy(text, token.data, len);
    text[len] = '\0';
    return strtod(text, NULL);
}

void
apart_see(struct apart *apart, struct apart_field *field, enum apart_kind kind, struct bytes text)
{
    if (!field || is_full(field, (uint32_t)apart->count - 1))
        return;
    struct apart_seen *seen = add_seen(apart, field, kind);
    bool is_value = kind == APART_TEXT || kind == APART_NUMBER || kind == APART_BOOLEAN;
    if (kind == APART_TEXT)
        seen->length = length_of(text);
    if (kind == APART_NUMBER)
        seen->number = number_of(text);
    if (!is_value || text.len > VALUE_BYTES)
        return;
    seen->text = need_text(apart, field, kind, text);
    struct apart_text *known = &field->texts[seen->text];
    if (known->event == seen->event)
        return;
    known->event = seen->event;
    if (apart->events[seen->event].is_here)
        known->here++;
    else
        known->there++;
}

void
apart_see_time(struct apart *apart, struct apart_field *field, int64_t instant)
{
    if (field && instant != TIME_ABSENT)
        add_seen(apart, field, APART_NUMBER)->number = (double)instant;
}

// --- events ---

static void
see_text(struct apart *apart, enum apart_what what, struct bytes text)
{
    if (bytes_present(text))
        apart_see(apart, apart_field_need(apart, what, BYTES_ABSENT), APART_TEXT, text);
}

static void
see_int(struct apart *apart, enum apart_what what, int32_t number)
{
    strbuf_reset(&apart->scratch);
    strbuf_printf(&apart->scratch, "%d", number);
    apart_see(apart, apart_field_need(apart, what, BYTES_ABSENT), APART_NUMBER,
              strbuf_bytes(&apart->scratch));
}

static void
read_columns(struct apart *apart, const struct event *event)
{
    see_text(apart, APART_TYPE, event->event_type);
    see_text(apart, APART_SOURCE, event->source_table);
    see_text(apart, APART_TOPIC, event->topic);
    see_text(apart, APART_KEY, event_key(event));
    if (event->origin.has_partition)
        see_int(apart, APART_PARTITION, event->origin.partition);
    see_int(apart, APART_RETRIES, event->retries.count);
    apart_see_time(apart, apart_field_need(apart, APART_CREATED, BYTES_ABSENT), event->created_at);
    for (uint32_t i = 0; i < event->record.header_count; i++) {
        const struct event_header *header = &event->record.headers[i];
        struct apart_field *field = apart_field_need(apart, APART_HEADER, header->name);
        if (bytes_present(header->value))
            apart_see(apart, field, APART_TEXT, header->value);
    }
}

void
apart_add(struct apart *apart, const struct event *event, bool is_here)
{
    apart->events = alloc_grow(apart->events, apart->count, &apart->capacity, sizeof *apart->events);
    apart->events[apart->count++] = (struct apart_event){
        .id = event->id, .created_at = event->created_at, .group = event->group, .is_here = is_here};
    apart->here += is_here;
    read_columns(apart, event);
    apart_read_payload(apart, event_payload_shown(event));
    apart_read_message(apart, event);
}

void
apart_sizes(const struct apart *apart, uint32_t *here, uint32_t *there)
{
    *here = (uint32_t)apart->here;
    *there = (uint32_t)(apart->count - apart->here);
}
