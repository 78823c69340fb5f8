#include "core/envelope/members.h"

#include "core/json/json.h"

static struct bytes
content(struct bytes token, struct arena *arena)
{
    struct bytes inside = bytes_slice(token, 1, token.len - 2);
    if (!memchr(inside.data, '\\', inside.len))
        return inside;
    struct strbuf text = {0};
    struct bytes decoded = BYTES_ABSENT;
    if (json_decode(token, &text))
        decoded = arena_copy(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return decoded;
}

// Fills the first `room` items; returns how many members there are.
static size_t
walk(struct bytes text, struct arena *arena, struct member *items, size_t room)
{
    struct json_children children;
    struct json_token name, value;
    if (!json_children(&children, text) || !children.is_object)
        return 0;
    while (json_child(&children, &name, &value))
        if (children.count <= room)
            items[children.count - 1] =
                (struct member){.name = content(bytes_slice(text, name.from, name.len), arena),
                                .value = bytes_slice(text, value.from, value.len)};
    return children.is_whole ? children.count : 0;
}

static uint64_t
length_bit(struct bytes name)
{
    return UINT64_C(1) << (name.len < 63 ? name.len : 63);
}

bool
members_read(struct bytes text, struct arena *arena, struct members *members)
{
    // Most objects have few members, and one walk fills them. Of many, a second one: no list grows.
    enum { FEW = 32 };
    struct member few[FEW];
    *members = (struct members){0};
    text = bytes_trim(text);
    if (!bytes_starts(text, "{"))
        return false;
    members->count = walk(text, arena, few, FEW);
    members->object = members->count > 0 ? text : BYTES_ABSENT;
    if (members->count == 0)
        return false;
    members->items = arena_array(arena, members->count, sizeof *members->items);
    if (members->count <= FEW)
        memcpy(members->items, few, members->count * sizeof *few);
    else
        walk(text, arena, members->items, members->count);
    for (size_t i = 0; i < members->count; i++)
        members->lengths |= length_bit(members->items[i].name);
    return true;
}

struct bytes
members_find(const struct members *members, struct bytes name)
{
    if (!(members->lengths & length_bit(name)))
        return BYTES_ABSENT;
    for (size_t i = members->count; i-- > 0;)
        if (bytes_equal(members->items[i].name, name))
            return members->items[i].value;
    return BYTES_ABSENT;
}

struct bytes
members_at(const struct members *members, const char *path, struct arena *arena)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return members_find(members, bytes_of(path));
    struct members below;
    struct bytes value = members_find(members, (struct bytes){path, (size_t)(dot - path)});
    if (!members_read(value, arena, &below))
        return BYTES_ABSENT;
    return members_at(&below, dot + 1, arena);
}

static bool
is_avro_type(struct bytes name)
{
    static const char *const types[] = {"string", "int", "long", "bytes", "boolean"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (bytes_equal_text(name, types[i]))
            return true;
    return false;
}

struct bytes
member_text(struct bytes token, struct arena *arena)
{
    struct members branch;
    if (bytes_starts(token, "{") && members_read(token, arena, &branch) && branch.count == 1 &&
        is_avro_type(branch.items[0].name))
        token = branch.items[0].value;
    if (!bytes_present(token) || bytes_equal_text(token, "null"))
        return BYTES_ABSENT;
    return bytes_starts(token, "\"") ? content(token, arena) : token;
}
