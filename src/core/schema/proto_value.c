// proto_value: the bytes of a Protobuf message as JSON.
#include <inttypes.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "core/schema/proto.h"

enum { ENTRIES_MOST = 500000 }; // of one message

static bool add_message(struct decoding *decoding, const struct proto_named *message, struct bytes bytes);

static unsigned
wire_of(uint64_t type)
{
    switch (type) {
    case PROTO_DOUBLE:
    case PROTO_FIXED64:
    case PROTO_SFIXED64:
        return WIRE_64;
    case PROTO_FLOAT:
    case PROTO_FIXED32:
    case PROTO_SFIXED32:
        return WIRE_32;
    case PROTO_STRING:
    case PROTO_MESSAGE:
    case PROTO_BYTES:
        return WIRE_BYTES;
    case PROTO_GROUP:
        return WIRE_GROUP;
    default:
        return WIRE_VARINT;
    }
}

static bool
is_one_number(uint64_t type)
{
    unsigned wire = wire_of(type);
    return wire == WIRE_VARINT || wire == WIRE_32 || wire == WIRE_64;
}

// May an entry be of that field? Repeated numbers may be packed into bytes.
static bool
is_of(const struct proto_field *field, const struct proto_entry *entry)
{
    return field->number == entry->field && field->type > 0 && field->type < PROTO_TYPES &&
           (wire_of(field->type) == entry->wire ||
            (entry->wire == WIRE_BYTES && field->is_repeated && is_one_number(field->type)));
}

static void
add_symbol(struct decoding *decoding, const struct proto_named *named, int64_t number)
{
    const struct proto_symbol wanted = {.number = (int32_t)number};
    const struct proto_symbol *symbol =
        named && named->symbol_count > 0
            ? bsearch(&wanted, named->symbols, named->symbol_count, sizeof wanted, proto_symbols_compare)
            : NULL;
    if (symbol)
        decoding_add_text(decoding, symbol->name);
    else
        strbuf_printf(decoding->out, "%" PRId32, (int32_t)number);
}

static void
add_number(struct decoding *decoding, const struct proto_field *field, uint64_t raw)
{
    uint32_t narrow = (uint32_t)raw;
    double big;
    float small;
    switch (field->type) {
    case PROTO_DOUBLE:
        memcpy(&big, &raw, sizeof big);
        decoding_add_double(decoding, big);
        break;
    case PROTO_FLOAT:
        memcpy(&small, &narrow, sizeof small);
        decoding_add_float(decoding, small);
        break;
    case PROTO_INT64:
    case PROTO_SFIXED64:
        strbuf_printf(decoding->out, "%" PRId64, (int64_t)raw);
        break;
    case PROTO_INT32:
    case PROTO_SFIXED32:
        strbuf_printf(decoding->out, "%" PRId32, (int32_t)narrow);
        break;
    case PROTO_SINT32:
    case PROTO_SINT64:
        strbuf_printf(decoding->out, "%" PRId64, decoding_zigzag(field->type == PROTO_SINT32 ? narrow : raw));
        break;
    case PROTO_BOOL:
        strbuf_add_text(decoding->out, raw ? "true" : "false");
        break;
    case PROTO_ENUM:
        add_symbol(decoding, field->named, (int64_t)raw);
        break;
    case PROTO_UINT32:
        strbuf_printf(decoding->out, "%" PRIu32, narrow);
        break;
    default:
        strbuf_printf(decoding->out, "%" PRIu64, raw);
    }
}

static bool
add_packed(struct decoding *decoding, const struct proto_field *field, struct bytes bytes, bool *is_first)
{
    struct decoding packed = *decoding;
    packed.value = bytes_slice(decoding->value, 0, (size_t)(bytes.data - decoding->value.data) + bytes.len);
    packed.at = (size_t)(bytes.data - decoding->value.data);
    while (packed.at < packed.value.len) {
        uint64_t raw = 0;
        uint32_t narrow = 0;
        unsigned wire = wire_of(field->type);
        bool ok = wire == WIRE_64   ? decoding_fixed64(&packed, &raw)
                  : wire == WIRE_32 ? decoding_fixed32(&packed, &narrow)
                                    : decoding_varint(&packed, &raw);
        if (!ok || !decoding_room(&packed))
            return false;
        if (!*is_first)
            strbuf_add_char(decoding->out, ',');
        *is_first = false;
        add_number(decoding, field, wire == WIRE_32 ? narrow : raw);
    }
    return true;
}

static bool
add_one(struct decoding *decoding, const struct proto_field *field, const struct proto_entry *entry)
{
    if (is_one_number(field->type))
        add_number(decoding, field, entry->number);
    else if (field->type == PROTO_STRING)
        decoding_add_text(decoding, entry->bytes);
    else if (field->type != PROTO_BYTES && field->named && field->named->is_message)
        return add_message(decoding, field->named, entry->bytes);
    else
        decoding_add_base64(decoding, entry->bytes);
    return decoding_room(decoding);
}

static void
add_unknown(struct decoding *decoding, const struct proto_entry *entry)
{
    if (entry->wire == WIRE_BYTES || entry->wire == WIRE_GROUP)
        decoding_add_base64(decoding, entry->bytes);
    else
        strbuf_printf(decoding->out, "%" PRIu64, entry->number);
}

// An entry of a map as a member: its key is text in JSON, whatever it is.
static bool
add_map_entry(struct decoding *decoding, const struct proto_named *map, struct bytes bytes)
{
    struct decoding inner = *decoding;
    struct proto_entry entry, key = {.bytes = BYTES("")}, value = {0};
    const struct proto_field *fields[2] = {NULL, NULL};
    for (size_t i = 0; i < map->field_count; i++)
        if (map->fields[i].number == 1 || map->fields[i].number == 2)
            fields[map->fields[i].number - 1] = &map->fields[i];
    if (!fields[0] || !fields[1])
        return decoding_fail(decoding, "a map without key or value");
    inner.at = (size_t)(bytes.data - decoding->value.data);
    inner.value = bytes_slice(decoding->value, 0, inner.at + bytes.len);
    while (inner.at < inner.value.len) {
        if (!proto_next(&inner, &entry))
            return false;
        if (is_of(fields[0], &entry))
            key = entry;
        if (is_of(fields[1], &entry))
            value = entry;
    }
    if (fields[0]->type == PROTO_STRING) {
        decoding_add_text(decoding, key.bytes);
    } else {
        strbuf_add_char(decoding->out, '"');
        add_number(decoding, fields[0], key.number);
        strbuf_add_char(decoding->out, '"');
    }
    strbuf_add_char(decoding->out, ':');
    if (value.field == 0 && !is_one_number(fields[1]->type)) {
        strbuf_add_text(decoding->out, fields[1]->type == PROTO_STRING ? "\"\"" : "{}");
        return true;
    }
    return add_one(decoding, fields[1], &value);
}

// All entries of one field, which stand together.
static bool
add_field(struct decoding *decoding, const struct proto_field *field, const struct proto_entry *entries,
          size_t count)
{
    bool is_first = true, is_map = field->named && field->named->is_map && field->type == PROTO_MESSAGE;
    strbuf_add_char(decoding->out, '"');
    strbuf_add(decoding->out, field->name);
    strbuf_add_text(decoding->out, "\":");
    if (!field->is_repeated)
        return add_one(decoding, field, &entries[count - 1]); // the last one counts
    strbuf_add_char(decoding->out, is_map ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        if (entries[i].wire == WIRE_BYTES && is_one_number(field->type)) {
            if (!add_packed(decoding, field, entries[i].bytes, &is_first))
                return false;
            continue;
        }
        if (!is_first)
            strbuf_add_char(decoding->out, ',');
        is_first = false;
        if (is_map ? !add_map_entry(decoding, field->named, entries[i].bytes)
                   : !add_one(decoding, field, &entries[i]))
            return false;
    }
    strbuf_add_char(decoding->out, is_map ? '}' : ']');
    return true;
}

static int
by_field(const void *a, const void *b)
{
    const struct proto_entry *left = a, *right = b;
    if (left->field != right->field)
        return left->field < right->field ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static bool
read_entries(struct decoding *decoding, struct proto_entry **entries, size_t *count)
{
    size_t capacity = 0;
    while (decoding->at < decoding->value.len) {
        *entries = alloc_grow(*entries, *count, &capacity, sizeof **entries);
        if (!proto_next(decoding, &(*entries)[*count]))
            return false;
        if ((*entries)[*count].wire == WIRE_GROUP_END)
            return decoding_fail(decoding, "the end of a group that did not begin");
        (*entries)[*count].order = *count;
        if (++*count > ENTRIES_MOST)
            return decoding_fail(decoding, "more than %d fields", ENTRIES_MOST);
    }
    return true;
}

// Entries [from, to) have one number: those that fit the schema's field, else each by its number.
static bool
add_entries(struct decoding *decoding, const struct proto_named *message, struct proto_entry *entries,
            size_t count)
{
    const struct proto_field *field = NULL;
    bool fits = true;
    for (size_t low = 0, high = message->field_count; low < high && !field;) {
        size_t middle = low + (high - low) / 2;
        if (message->fields[middle].number == entries[0].field)
            field = &message->fields[middle];
        else if (message->fields[middle].number < entries[0].field)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; field && i < count; i++)
        fits = fits && is_of(field, &entries[i]);
    if (field && fits)
        return add_field(decoding, field, entries, count);
    strbuf_printf(decoding->out, "\"%" PRIu64 "\":%s", entries[0].field, count > 1 ? "[" : "");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_add_char(decoding->out, ',');
        add_unknown(decoding, &entries[i]);
    }
    if (count > 1)
        strbuf_add_char(decoding->out, ']');
    return decoding_room(decoding);
}

static bool
add_message(struct decoding *decoding, const struct proto_named *message, struct bytes bytes)
{
    struct decoding inner = *decoding;
    struct proto_entry *entries = NULL;
    size_t count = 0, end;
    inner.at = (size_t)(bytes.data - decoding->value.data);
    inner.value = bytes_slice(decoding->value, 0, inner.at + bytes.len);
    bool ok = decoding_enter(&inner) && read_entries(&inner, &entries, &count);
    if (ok && count > 0)
        qsort(entries, count, sizeof *entries, by_field);
    strbuf_add_char(inner.out, '{');
    for (size_t from = 0; ok && from < count; from = end) {
        for (end = from + 1; end < count && entries[end].field == entries[from].field; end++)
            ;
        if (from > 0)
            strbuf_add_char(inner.out, ',');
        ok = add_entries(&inner, message, entries + from, end - from);
    }
    strbuf_add_char(inner.out, '}');
    free(entries);
    return ok;
}

// Confluent's "Wire Format": how many indexes, and each, zigzag; none is the first message of the file.
static const struct proto_named *
find_message(const struct proto_named *file, struct decoding *decoding)
{
    uint64_t count, raw;
    if (!decoding_varint(decoding, &count))
        return NULL;
    int64_t left = decoding_zigzag(count);
    if (left == 0)
        return file->nested[0];
    for (; left > 0; left--) {
        if (!decoding_varint(decoding, &raw))
            return NULL;
        int64_t index = decoding_zigzag(raw);
        if (index < 0 || (uint64_t)index >= file->nested_count) {
            decoding_fail(decoding, "message %" PRId64 " of %zu", index, file->nested_count);
            return NULL;
        }
        file = file->nested[index];
    }
    if (left < 0)
        decoding_fail(decoding, "a negative number of indexes");
    return left < 0 ? NULL : file;
}

bool
proto_decode(const struct proto_named *file, enum schema_framing framing, struct decoding *decoding)
{
    const struct proto_named *message =
        framing == SCHEMA_FRAMED ? find_message(file, decoding) : file->nested[0];
    if (!message || !add_message(decoding, message, bytes_slice(decoding->value, decoding->at, SIZE_MAX)))
        return false;
    decoding->at = decoding->value.len;
    return true;
}
