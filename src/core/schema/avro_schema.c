// avro_schema: the text of an Avro schema as types.
#include <stdlib.h>
#include "core/envelope/members.h"
#include "core/json/json.h"
#include "core/schema/avro.h"

enum { NAMED_MOST = 4096 }; // each name is compared with them

struct reading {
    struct arena *arena;
    struct err *err;
    const struct avro_type *named; // the newest
    size_t named_count;
    int depth;
};

static const struct avro_type primitives[AVRO_PRIMITIVES] = {
    [AVRO_NULL] = {.kind = AVRO_NULL},   [AVRO_BOOLEAN] = {.kind = AVRO_BOOLEAN},
    [AVRO_INT] = {.kind = AVRO_INT},     [AVRO_LONG] = {.kind = AVRO_LONG},
    [AVRO_FLOAT] = {.kind = AVRO_FLOAT}, [AVRO_DOUBLE] = {.kind = AVRO_DOUBLE},
    [AVRO_BYTES] = {.kind = AVRO_BYTES}, [AVRO_STRING] = {.kind = AVRO_STRING},
};
static const char *const kind_words[] = {"null",   "boolean", "int",  "long",  "float", "double", "bytes",
                                         "string", "record",  "enum", "array", "map",   "union",  "fixed"};

static const struct avro_type *read_type(struct reading *reading, struct bytes token, struct bytes space);

static const struct avro_type *
refuse(struct reading *reading, const char *what, struct bytes where)
{
    err_set(reading->err, ERR_DATA, "the Avro schema has %s: %.*s", what,
            (int)(where.len < 80 ? where.len : 80), where.data ? where.data : "");
    return NULL;
}

// The content of a string; absent: it is none.
static struct bytes
text_of(struct reading *reading, struct bytes token)
{
    return bytes_starts(token, "\"") ? member_text(token, reading->arena) : BYTES_ABSENT;
}

static struct bytes
in_space(struct reading *reading, struct bytes name, struct bytes space)
{
    if (space.len == 0 || bytes_find(name, BYTES("."), 0) != SIZE_MAX)
        return name;
    return bytes_of(
        arena_printf(reading->arena, "%.*s.%.*s", (int)space.len, space.data, (int)name.len, name.data));
}

static const struct avro_type *
find_named(const struct reading *reading, struct bytes name)
{
    for (const struct avro_type *type = reading->named; type; type = type->before)
        if (bytes_equal(type->name, name))
            return type;
    return NULL;
}

static const struct avro_type *
read_name(struct reading *reading, struct bytes name, struct bytes space)
{
    for (size_t i = 0; i < AVRO_PRIMITIVES; i++)
        if (bytes_equal_text(name, kind_words[i]))
            return &primitives[i];
    const struct avro_type *type = find_named(reading, in_space(reading, name, space));
    if (!type)
        type = find_named(reading, name);
    return type ? type : refuse(reading, "a type that is not there", name);
}

// Enters a type under its name before its fields are read: they may be of the same type. *space becomes the
// one that its fields are in.
static bool
name_type(struct reading *reading, const struct members *members, struct avro_type *type, struct bytes *space)
{
    struct bytes name = text_of(reading, members_find(members, BYTES("name")));
    struct bytes own = text_of(reading, members_find(members, BYTES("namespace")));
    if (name.len == 0)
        return refuse(reading, "a type without a name", members->object) != NULL;
    if (bytes_present(own))
        *space = own;
    type->name = in_space(reading, name, *space);
    size_t dot = bytes_find_last(type->name, BYTES("."));
    *space = dot == SIZE_MAX ? BYTES_ABSENT : bytes_slice(type->name, 0, dot);
    if (find_named(reading, type->name))
        return refuse(reading, "two types of one name", type->name) != NULL;
    if (++reading->named_count > NAMED_MOST)
        return refuse(reading, "more types than are read", BYTES_ABSENT) != NULL;
    type->before = reading->named;
    reading->named = type;
    return true;
}

// The parts of an array of the schema. *items: their tokens.
static bool
list_parts(struct reading *reading, struct bytes array, struct avro_type *type, struct bytes **items)
{
    struct json_children children;
    struct json_token token;
    if (!json_children(&children, array) || children.is_object)
        return refuse(reading, "no list where one belongs", array) != NULL;
    while (json_child(&children, NULL, &token))
        ;
    type->part_count = children.count;
    type->parts = arena_array(reading->arena, children.count + 1, sizeof *type->parts);
    *items = arena_array(reading->arena, children.count + 1, sizeof **items);
    json_children(&children, array);
    while (json_child(&children, NULL, &token))
        (*items)[children.count - 1] = bytes_slice(array, token.from, token.len);
    return true;
}

static bool
read_fields(struct reading *reading, struct bytes array, struct bytes space, struct avro_type *type)
{
    struct bytes *items;
    struct members field;
    if (!list_parts(reading, array, type, &items))
        return false;
    for (size_t i = 0; i < type->part_count; i++) {
        struct bytes name = members_read(items[i], reading->arena, &field)
                                ? members_find(&field, BYTES("name"))
                                : BYTES_ABSENT;
        if (!bytes_starts(name, "\""))
            return refuse(reading, "a field without a name", items[i]) != NULL;
        type->parts[i].name = name;
        type->parts[i].type = read_type(reading, members_find(&field, BYTES("type")), space);
        if (!type->parts[i].type)
            return false;
    }
    return true;
}

static bool
read_symbols(struct reading *reading, struct bytes array, struct avro_type *type)
{
    struct bytes *items;
    if (!list_parts(reading, array, type, &items))
        return false;
    for (size_t i = 0; i < type->part_count; i++) {
        if (!bytes_starts(items[i], "\""))
            return refuse(reading, "a symbol that is no text", items[i]) != NULL;
        type->parts[i].name = items[i];
    }
    return true;
}

static const struct avro_type *
read_union(struct reading *reading, struct bytes array, struct bytes space)
{
    struct bytes *items;
    struct avro_type *type = arena_array(reading->arena, 1, sizeof *type);
    type->kind = AVRO_UNION;
    if (!list_parts(reading, array, type, &items))
        return NULL;
    for (size_t i = 0; i < type->part_count; i++)
        if (!(type->parts[i].type = read_type(reading, items[i], space)))
            return NULL;
    return type;
}

static bool
read_size(struct reading *reading, struct bytes token, struct avro_type *type)
{
    char text[16] = "";
    if (token.len == 0 || token.len > 9 || token.data[0] == '-')
        return refuse(reading, "a fixed type of no size", token) != NULL;
    memcpy(text, token.data, token.len);
    char *end;
    type->size = strtoull(text, &end, 10);
    return *end == '\0' || refuse(reading, "a fixed type of no size", token) != NULL;
}

static const struct avro_type *
read_complex(struct reading *reading, const struct members *members, enum avro_kind kind, struct bytes space)
{
    bool ok = true;
    struct avro_type *type = arena_array(reading->arena, 1, sizeof *type);
    type->kind = kind;
    if (kind == AVRO_RECORD)
        ok = name_type(reading, members, type, &space) &&
             read_fields(reading, members_find(members, BYTES("fields")), space, type);
    else if (kind == AVRO_ENUM)
        ok = name_type(reading, members, type, &space) &&
             read_symbols(reading, members_find(members, BYTES("symbols")), type);
    else if (kind == AVRO_FIXED)
        ok = name_type(reading, members, type, &space) &&
             read_size(reading, members_find(members, BYTES("size")), type);
    else
        ok = (type->items = read_type(
                  reading, members_find(members, kind == AVRO_ARRAY ? BYTES("items") : BYTES("values")),
                  space)) != NULL;
    return ok ? type : NULL;
}

static const struct avro_type *
read_object(struct reading *reading, struct bytes token, struct bytes space)
{
    struct members members;
    if (!members_read(token, reading->arena, &members))
        return refuse(reading, "a type that says nothing", token);
    struct bytes type = members_find(&members, BYTES("type")), word = text_of(reading, type);
    if (bytes_equal_text(word, "error"))
        return read_complex(reading, &members, AVRO_RECORD, space);
    for (enum avro_kind kind = AVRO_RECORD; kind <= AVRO_FIXED; kind++)
        if (kind != AVRO_UNION && bytes_equal_text(word, kind_words[kind]))
            return read_complex(reading, &members, kind, space);
    return read_type(reading, type, space);
}

static const struct avro_type *
read_type(struct reading *reading, struct bytes token, struct bytes space)
{
    const struct avro_type *type = NULL;
    if (++reading->depth > SCHEMA_DEPTH)
        type = refuse(reading, "types nested too deeply", BYTES_ABSENT);
    else if (bytes_starts(token, "\""))
        type = read_name(reading, text_of(reading, token), space);
    else if (bytes_starts(token, "["))
        type = read_union(reading, token, space);
    else if (bytes_starts(token, "{"))
        type = read_object(reading, token, space);
    else
        type = refuse(reading, "something else than a type", token);
    reading->depth--;
    return type;
}

const struct avro_type *
avro_read(const struct bytes *texts, size_t count, struct arena *arena, struct err *err)
{
    struct reading reading = {.arena = arena, .err = err};
    const struct avro_type *type = NULL;
    for (size_t i = 0; i < count; i++) {
        struct bytes text = bytes_trim(texts[i]);
        if (!json_check(text, err)) {
            err_context(err, "the Avro schema is no JSON");
            return NULL;
        }
        type = read_type(&reading, text, BYTES_ABSENT);
        if (!type)
            return NULL;
    }
    return type;
}
