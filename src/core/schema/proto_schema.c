// proto_schema: descriptors as messages and enums.
#include "core/schema/proto.h"

#include <stdlib.h>

enum { NAMED_MOST = 4096, PARTS_MOST = 20000 };

struct reading {
    struct arena *arena;
    struct err *err;
    struct proto_named *named; // the newest
    size_t named_count, part_count;
    int depth;
};

// What is between the begin of a group and its end.
static bool
read_group(struct decoding *decoding, struct proto_entry *group)
{
    struct proto_entry entry;
    size_t begin = decoding->at, end;
    if (!decoding_enter(decoding))
        return false;
    do {
        end = decoding->at;
        if (!proto_next(decoding, &entry))
            return false;
    } while (entry.wire != WIRE_GROUP_END);
    decoding_leave(decoding);
    group->bytes = bytes_slice(decoding->value, begin, end - begin);
    return entry.field == group->field || decoding_fail(decoding, "the end of another group");
}

bool
proto_next(struct decoding *decoding, struct proto_entry *entry)
{
    uint64_t tag, len;
    uint32_t narrow = 0;
    if (!decoding_varint(decoding, &tag))
        return false;
    *entry = (struct proto_entry){.field = tag >> 3, .wire = (unsigned)(tag & 7)};
    if (entry->field == 0 || entry->field >= 1u << 29)
        return decoding_fail(decoding, "a field of a number that there is none of");
    switch (entry->wire) {
    case WIRE_VARINT:
        return decoding_varint(decoding, &entry->number);
    case WIRE_64:
        return decoding_fixed64(decoding, &entry->number);
    case WIRE_32:
        if (!decoding_fixed32(decoding, &narrow))
            return false;
        entry->number = narrow;
        return true;
    case WIRE_BYTES:
        return decoding_varint(decoding, &len) && decoding_take(decoding, len, "a field", &entry->bytes);
    case WIRE_GROUP:
        return read_group(decoding, entry);
    case WIRE_GROUP_END:
        return true;
    default:
        return decoding_fail(decoding, "a field of a kind that there is none of");
    }
}

int
proto_symbols_compare(const void *a, const void *b)
{
    const struct proto_symbol *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

// --- descriptors ---

static struct decoding
begin_part(const struct reading *reading, struct bytes text)
{
    return (struct decoding){.value = text, .err = reading->err};
}

static size_t
count_of(const struct reading *reading, struct bytes text, uint64_t field)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    size_t count = 0;
    while (decoding.at < text.len && proto_next(&decoding, &entry))
        count += entry.field == field && entry.wire == WIRE_BYTES;
    return count;
}

static bool
may_have(struct reading *reading, size_t more)
{
    reading->part_count += more;
    return reading->part_count <= PARTS_MOST ||
           err_set(reading->err, ERR_DATA, "the schema has too many parts");
}

// A name that may stand in JSON as it is.
static bool
read_name(const struct reading *reading, struct bytes raw, struct bytes *name)
{
    for (size_t i = 0; i < raw.len; i++) {
        unsigned char c = (unsigned char)raw.data[i];
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\')
            return err_set(reading->err, ERR_DATA, "the schema has a name that is none");
    }
    *name = raw;
    return true;
}

static bool
read_field(struct reading *reading, struct bytes text, struct proto_field *field)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    *field = (struct proto_field){.name = BYTES("")};
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry))
            return false;
        if (entry.field == 1 && entry.wire == WIRE_BYTES && !read_name(reading, entry.bytes, &field->name))
            return false;
        if (entry.field == 3 && entry.wire == WIRE_VARINT)
            field->number = entry.number;
        if (entry.field == 4 && entry.wire == WIRE_VARINT)
            field->is_repeated = entry.number == 3;
        if (entry.field == 5 && entry.wire == WIRE_VARINT)
            field->type = entry.number;
        if (entry.field == 6 && entry.wire == WIRE_BYTES)
            field->type_name = entry.bytes;
    }
    return true;
}

static bool
read_symbol(struct reading *reading, struct bytes text, struct proto_symbol *symbol)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    *symbol = (struct proto_symbol){.name = BYTES("")};
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry) ||
            (entry.field == 1 && entry.wire == WIRE_BYTES && !read_name(reading, entry.bytes, &symbol->name)))
            return false;
        if (entry.field == 2 && entry.wire == WIRE_VARINT)
            symbol->number = (int32_t)entry.number;
    }
    return true;
}

static struct proto_named *
name_part(struct reading *reading, struct bytes name, struct bytes space, bool is_message)
{
    struct bytes plain;
    if (!read_name(reading, name, &plain))
        return NULL;
    if (++reading->named_count > NAMED_MOST || plain.len + space.len > 2000) {
        err_set(reading->err, ERR_DATA, "the schema has too many types, or too long names");
        return NULL;
    }
    struct proto_named *named = arena_array(reading->arena, 1, sizeof *named);
    *named = (struct proto_named){.is_message = is_message, .before = reading->named};
    named->name = bytes_of(arena_printf(reading->arena, "%.*s.%.*s", (int)space.len,
                                        space.data ? space.data : "", (int)plain.len, plain.data));
    reading->named = named;
    return named;
}

// The first field 1 of a part: its name.
static struct bytes
name_of(const struct reading *reading, struct bytes text)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    while (decoding.at < text.len && proto_next(&decoding, &entry))
        if (entry.field == 1 && entry.wire == WIRE_BYTES)
            return entry.bytes;
    return BYTES("");
}

static struct proto_named *
read_enum(struct reading *reading, struct bytes text, struct bytes space)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    struct proto_named *named = name_part(reading, name_of(reading, text), space, false);
    size_t count = count_of(reading, text, 2);
    if (!named || !may_have(reading, count))
        return NULL;
    named->symbols = arena_array(reading->arena, count + 1, sizeof *named->symbols);
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry))
            return NULL;
        if (entry.field == 2 && entry.wire == WIRE_BYTES &&
            !read_symbol(reading, entry.bytes, &named->symbols[named->symbol_count++]))
            return NULL;
    }
    return named;
}

static struct proto_named *read_message(struct reading *reading, struct bytes text, struct bytes space);

static bool
read_options(struct reading *reading, struct bytes text, struct proto_named *named)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry))
            return false;
        if (entry.field == 7 && entry.wire == WIRE_VARINT)
            named->is_map = entry.number != 0;
    }
    return true;
}

static bool
read_message_part(struct reading *reading, const struct proto_entry *entry, struct proto_named *named)
{
    if (entry->wire != WIRE_BYTES)
        return true;
    switch (entry->field) {
    case 2:
        return read_field(reading, entry->bytes, &named->fields[named->field_count++]);
    case 3:
        named->nested[named->nested_count] = read_message(reading, entry->bytes, named->name);
        return named->nested[named->nested_count++] != NULL;
    case 4:
        return read_enum(reading, entry->bytes, named->name) != NULL;
    case 7:
        return read_options(reading, entry->bytes, named);
    default:
        return true;
    }
}

static struct proto_named *
read_message(struct reading *reading, struct bytes text, struct bytes space)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    struct proto_named *named = name_part(reading, name_of(reading, text), space, true);
    size_t fields = count_of(reading, text, 2), nested = count_of(reading, text, 3);
    bool ok =
        named && may_have(reading, fields + nested) &&
        (++reading->depth <= SCHEMA_DEPTH || err_set(reading->err, ERR_DATA, "types nested too deeply"));
    if (!ok)
        return NULL;
    named->fields = arena_array(reading->arena, fields + 1, sizeof *named->fields);
    named->nested = arena_array(reading->arena, nested + 1, sizeof *named->nested);
    while (ok && decoding.at < text.len)
        ok = proto_next(&decoding, &entry) && read_message_part(reading, &entry, named);
    reading->depth--;
    return ok ? named : NULL;
}

// A file's messages, as those of a message without a name.
static struct proto_named *
read_file(struct reading *reading, struct bytes text)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    struct proto_named *file = arena_array(reading->arena, 1, sizeof *file);
    struct bytes space = BYTES("");
    size_t count = count_of(reading, text, 4);
    if (!may_have(reading, count))
        return NULL;
    file->nested = arena_array(reading->arena, count + 1, sizeof *file->nested);
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry))
            return NULL;
        if (entry.wire != WIRE_BYTES)
            continue;
        if (entry.field == 2 && entry.bytes.len > 0 && entry.bytes.len < 1000) // before the messages
            space = bytes_of(arena_printf(reading->arena, ".%.*s", (int)entry.bytes.len, entry.bytes.data));
        if (entry.field == 4) {
            file->nested[file->nested_count] = read_message(reading, entry.bytes, space);
            if (!file->nested[file->nested_count++])
                return NULL;
        }
        if (entry.field == 5 && !read_enum(reading, entry.bytes, space))
            return NULL;
    }
    return file;
}

// A FileDescriptorSet has nothing but files, in field 1; there a FileDescriptorProto has its name.
static struct proto_named *
read_text(struct reading *reading, struct bytes text)
{
    struct decoding decoding = begin_part(reading, text);
    struct proto_entry entry;
    struct proto_named *file = NULL;
    bool is_set = text.len > 0;
    while (decoding.at < text.len) {
        if (!proto_next(&decoding, &entry))
            return NULL;
        is_set = is_set && entry.field == 1 && entry.wire == WIRE_BYTES;
    }
    if (!is_set)
        return read_file(reading, text);
    for (decoding = begin_part(reading, text); decoding.at < text.len;)
        if (!proto_next(&decoding, &entry) || !(file = read_file(reading, entry.bytes)))
            return NULL;
    return file;
}

static int
by_number(const void *a, const void *b)
{
    const struct proto_field *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

// Each field gets its type, and those of a message are in the order of their numbers.
static void
link_fields(const struct reading *reading)
{
    for (struct proto_named *from = reading->named; from; from = from->before) {
        for (size_t i = 0; i < from->field_count; i++) {
            const struct proto_named *to = from->fields[i].type_name.len ? reading->named : NULL;
            while (to && !bytes_equal(to->name, from->fields[i].type_name))
                to = to->before;
            from->fields[i].named = to;
        }
        if (from->field_count > 0)
            qsort(from->fields, from->field_count, sizeof *from->fields, by_number);
        if (from->symbol_count > 0)
            qsort(from->symbols, from->symbol_count, sizeof *from->symbols, proto_symbols_compare);
    }
}

const struct proto_named *
proto_read(const struct bytes *texts, size_t count, struct arena *arena, struct err *err)
{
    struct reading reading = {.arena = arena, .err = err};
    struct proto_named *file = NULL;
    for (size_t i = 0; i < count; i++)
        if (!(file = read_text(&reading, texts[i]))) {
            err_context(err, "the Protobuf schema");
            return NULL;
        }
    link_fields(&reading);
    if (!file || file->nested_count == 0) {
        err_set(err, ERR_DATA, "the Protobuf schema has no message");
        return NULL;
    }
    return file;
}
