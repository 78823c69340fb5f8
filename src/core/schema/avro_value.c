// avro_value: the bytes of an Avro value as JSON.
#include <inttypes.h>
#include "core/schema/avro.h"

static bool
read_long(struct decoding *decoding, int64_t *number)
{
    uint64_t raw;
    if (!decoding_varint(decoding, &raw))
        return false;
    *number = decoding_zigzag(raw);
    return true;
}

static bool
take_bytes(struct decoding *decoding, const char *what, struct bytes *taken)
{
    int64_t len;
    if (!read_long(decoding, &len))
        return false;
    if (len < 0) {
        (void)decoding_fail(decoding, "%s of a negative length", what);
        return false;
    }
    return decoding_take(decoding, (uint64_t)len, what, taken);
}

static bool
add_whole(struct decoding *decoding, enum avro_kind kind)
{
    int64_t number;
    if (!read_long(decoding, &number))
        return false;
    if (kind == AVRO_INT && (number < INT32_MIN || number > INT32_MAX))
        return decoding_fail(decoding, "an int of more than 32 bits");
    strbuf_printf(decoding->out, "%" PRId64, number);
    return true;
}

static bool
add_real(struct decoding *decoding, enum avro_kind kind)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (kind == AVRO_DOUBLE ? !decoding_fixed64(decoding, &wide) : !decoding_fixed32(decoding, &narrow))
        return false;
    double big;
    float small;
    memcpy(&big, &wide, sizeof big);
    memcpy(&small, &narrow, sizeof small);
    if (kind == AVRO_DOUBLE)
        decoding_add_double(decoding, big);
    else
        decoding_add_float(decoding, small);
    return true;
}

static bool
add_boolean(struct decoding *decoding)
{
    struct bytes byte;
    if (!decoding_take(decoding, 1, "a boolean", &byte))
        return false;
    if (byte.data[0] != 0 && byte.data[0] != 1)
        return decoding_fail(decoding, "a boolean that is neither 0 nor 1");
    strbuf_add_text(decoding->out, byte.data[0] ? "true" : "false");
    return true;
}

// The next number, which counts the parts of a type.
static bool
read_index(struct decoding *decoding, const struct avro_type *type, const char *what, size_t *index)
{
    int64_t number;
    if (!read_long(decoding, &number))
        return false;
    if (number < 0 || (uint64_t)number >= type->part_count) {
        (void)decoding_fail(decoding, "%s %" PRId64 " of %zu", what, number, type->part_count);
        return false;
    }
    *index = (size_t)number;
    return true;
}

static bool
add_record(struct decoding *decoding, const struct avro_type *type)
{
    strbuf_add_char(decoding->out, '{');
    for (size_t i = 0; i < type->part_count; i++) {
        if (i > 0)
            strbuf_add_char(decoding->out, ',');
        strbuf_add(decoding->out, type->parts[i].name);
        strbuf_add_char(decoding->out, ':');
        if (!avro_decode(type->parts[i].type, decoding))
            return false;
    }
    strbuf_add_char(decoding->out, '}');
    return true;
}

// How many items the next block has; 0: there is none. A negative number has the block's bytes behind it.
static bool
read_block(struct decoding *decoding, uint64_t *count)
{
    int64_t number, size;
    if (!read_long(decoding, &number))
        return false;
    if (number < 0 && !read_long(decoding, &size))
        return false;
    *count = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    return true;
}

static bool
add_items(struct decoding *decoding, const struct avro_type *type)
{
    uint64_t count;
    struct bytes name;
    bool is_first = true;
    strbuf_add_char(decoding->out, type->kind == AVRO_MAP ? '{' : '[');
    do {
        if (!read_block(decoding, &count))
            return false;
        for (uint64_t i = 0; i < count; i++, is_first = false) {
            if (!is_first)
                strbuf_add_char(decoding->out, ',');
            if (type->kind == AVRO_MAP) {
                if (!take_bytes(decoding, "a key", &name))
                    return false;
                decoding_add_text(decoding, name);
                strbuf_add_char(decoding->out, ':');
            }
            if (!avro_decode(type->items, decoding))
                return false;
        }
    } while (count > 0);
    strbuf_add_char(decoding->out, type->kind == AVRO_MAP ? '}' : ']');
    return true;
}

static bool
add_bytes(struct decoding *decoding, const struct avro_type *type)
{
    struct bytes raw;
    bool ok = type->kind == AVRO_FIXED ? decoding_take(decoding, type->size, "a fixed value", &raw)
                                       : take_bytes(decoding, "a value", &raw);
    if (!ok)
        return false;
    if (type->kind == AVRO_STRING)
        decoding_add_text(decoding, raw);
    else
        decoding_add_base64(decoding, raw);
    return true;
}

static bool
add_value(struct decoding *decoding, const struct avro_type *type)
{
    size_t index;
    switch (type->kind) {
    case AVRO_NULL:
        strbuf_add_text(decoding->out, "null");
        return true;
    case AVRO_BOOLEAN:
        return add_boolean(decoding);
    case AVRO_INT:
    case AVRO_LONG:
        return add_whole(decoding, type->kind);
    case AVRO_FLOAT:
    case AVRO_DOUBLE:
        return add_real(decoding, type->kind);
    case AVRO_BYTES:
    case AVRO_STRING:
    case AVRO_FIXED:
        return add_bytes(decoding, type);
    case AVRO_RECORD:
        return add_record(decoding, type);
    case AVRO_ENUM:
        if (!read_index(decoding, type, "symbol", &index))
            return false;
        strbuf_add(decoding->out, type->parts[index].name);
        return true;
    case AVRO_ARRAY:
    case AVRO_MAP:
        return add_items(decoding, type);
    case AVRO_UNION:
        return read_index(decoding, type, "branch", &index) && avro_decode(type->parts[index].type, decoding);
    }
    return false;
}

bool
avro_decode(const struct avro_type *type, struct decoding *decoding)
{
    if (!decoding_enter(decoding))
        return false;
    bool ok = add_value(decoding, type) && decoding_room(decoding);
    decoding_leave(decoding);
    return ok;
}
