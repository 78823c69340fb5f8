#include "core/backlog/path_values.h"

#include <stdbool.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/intern.h"

// An event and the number of its value.
struct path_place {
    int64_t id;
    uint32_t number;
};

struct path_name {
    enum path_kind kind;
    struct bytes text;
};

struct path_values {
    struct keys hashes; // of kind and name; a number of a value is its index
    struct path_name *names;
    size_t name_capacity;
    struct arena texts;
    struct strbuf scratch;
    struct path_place *places; // sorted by id, each id once; or in the order in which they were put
    size_t count, capacity;
    bool is_unsorted;
    size_t cursor; // where the last one that was asked for stands
};

static bool
is_name(const struct path_name *name, enum path_kind kind, struct bytes text)
{
    return name->kind == kind && bytes_equal(name->text, text);
}

// Two values may have one hash; the next one is taken then.
static uint32_t
number_of(struct path_values *values, enum path_kind kind, struct bytes text)
{
    uint64_t hash = bytes_hash(text) * PATH_KINDS + (uint64_t)kind;
    for (;; hash++) {
        size_t before = values->hashes.count;
        uint32_t number = keys_index(&values->hashes, hash);
        if (number < before && !is_name(&values->names[number], kind, text))
            continue;
        if (number == before) {
            values->names = alloc_grow(values->names, number, &values->name_capacity, sizeof *values->names);
            values->names[number] =
                (struct path_name){.kind = kind, .text = arena_copy(&values->texts, text)};
        }
        return number;
    }
}

struct path_values *
path_values_create(void)
{
    struct path_values *values = alloc_bytes(sizeof *values);
    (void)number_of(values, PATH_MISSING, BYTES(""));
    return values;
}

void
path_values_destroy(struct path_values *values)
{
    if (!values)
        return;
    keys_release(&values->hashes);
    free(values->names);
    arena_release(&values->texts);
    strbuf_release(&values->scratch);
    free(values->places);
    free(values);
}

// By id, those of one id in the order in which they were put: byte by byte of what ids differ in, from the
// lowest up. Rows of several processes of the server come in runs, a million of them, and comparing takes
// four times as long.
static void
sort_places(struct path_values *values)
{
    enum { BYTE = 256, BYTES = 8 };
    const uint64_t sign = (uint64_t)1 << 63; // negative ids come first
    uint64_t differs = 0;
    for (size_t i = 1; i < values->count; i++)
        differs |= (uint64_t)values->places[i].id ^ (uint64_t)values->places[0].id;
    struct path_place *from = values->places, *to = alloc_array(values->capacity, sizeof *to);
    for (unsigned shift = 0; shift < 8 * BYTES; shift += 8) {
        size_t starts[BYTE + 1] = {0};
        if (!(differs >> shift & 0xff))
            continue;
        for (size_t i = 0; i < values->count; i++)
            starts[(((uint64_t)from[i].id ^ sign) >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < BYTE; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < values->count; i++)
            to[starts[((uint64_t)from[i].id ^ sign) >> shift & 0xff]++] = from[i];
        struct path_place *sorted = to;
        to = from;
        from = sorted;
    }
    values->places = from;
    free(to);
}

static void
path_values_sort(struct path_values *values)
{
    if (!values->is_unsorted)
        return;
    sort_places(values);
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++) {
        if (kept && values->places[kept - 1].id == values->places[i].id)
            kept--;
        values->places[kept++] = values->places[i];
    }
    values->count = kept;
    values->is_unsorted = false;
    values->cursor = 0;
}

// Where the id stands among the sorted, or where it would be put. Looks near the cursor first.
static size_t
path_values_position(const struct path_values *values, int64_t id)
{
    const struct path_place *places = values->places;
    size_t low = 0, high = values->count, at = values->cursor;
    for (size_t step = 1; at < high && places[at].id < id; step *= 2) {
        low = at + 1;
        at += step;
    }
    if (at < high)
        high = at + 1;
    for (size_t step = 1; low == 0 && at > 0 && at < high && places[at].id > id; step *= 2) {
        high = at;
        at -= at < step ? at : step;
        if (places[at].id < id)
            low = at + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Most are asked for in descending order, some of them twice, and none is left out.
static bool
path_values_find(struct path_values *values, int64_t id)
{
    size_t at = values->cursor;
    if (at > 0 && at < values->count && values->places[at].id > id)
        at--;
    if (at >= values->count || values->places[at].id != id)
        at = path_values_position(values, id);
    bool is_there = at < values->count && values->places[at].id == id;
    values->cursor = at < values->count ? at : 0;
    return is_there;
}

void
path_values_put(struct path_values *values, int64_t id, struct bytes token)
{
    enum path_kind kind = path_value_of(token, &values->scratch);
    uint32_t number = number_of(values, kind, strbuf_bytes(&values->scratch));
    if (!values->is_unsorted && values->count && id <= values->places[values->count - 1].id &&
        path_values_find(values, id)) {
        values->places[values->cursor].number = number;
        return;
    }
    values->is_unsorted |= values->count && values->places[values->count - 1].id > id;
    values->places = alloc_grow(values->places, values->count, &values->capacity, sizeof *values->places);
    values->places[values->count++] = (struct path_place){.id = id, .number = number};
}

uint32_t
path_values_of(struct path_values *values, int64_t id)
{
    path_values_sort(values);
    return path_values_find(values, id) ? values->places[values->cursor].number : PATH_UNREAD;
}

enum path_kind
path_values_value(const struct path_values *values, uint32_t number, struct bytes *name)
{
    *name = values->names[number].text;
    return values->names[number].kind;
}

uint64_t
path_values_key(const struct path_values *values, uint32_t number)
{
    return values->hashes.keys[number];
}

size_t
path_values_unread(struct path_values *values, const int64_t *ids, size_t count, int64_t *unread)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (path_values_of(values, ids[i]) == PATH_UNREAD)
            unread[found++] = ids[i];
    return found;
}

size_t
path_values_count(const struct path_values *values)
{
    return values->hashes.count;
}
