// Any bytes as payloads, parted at bytes 0xFE: the first is asked for its departures from a shape of the
// others, each of which was added often enough to count. A departure is within the payload, and its path
// leads there.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/json/json.h"
#include "core/shape/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TIMES = 12 };

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static struct bytes
take_part(struct bytes *rest)
{
    size_t at = bytes_find(*rest, BYTES("\xFE"), 0);
    struct bytes part = at == SIZE_MAX ? *rest : bytes_slice(*rest, 0, at);
    *rest = at == SIZE_MAX ? BYTES_ABSENT : bytes_slice(*rest, at + 1, rest->len);
    return part;
}

// Of equal names a path means the last one, and a long path ends early; else it leads to the place.
static void
check_path(struct bytes payload, const struct shape_departure *departure)
{
    struct json_path *path;
    struct json_token value;
    if (departure->reason == SHAPE_MISSING || departure->reason == SHAPE_UNKNOWN ||
        json_warnings(payload, NULL, 0) > 0 || strlen(departure->path) > SHAPE_PATH_BYTES / 2)
        return;
    if (!json_path_parse(&path, bytes_of(departure->path), NULL))
        return; // more than 64 steps
    require(json_path_find(path, payload, &value) && value.from == departure->from);
    json_path_destroy(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16)
        return 0;
    struct bytes rest = {(const char *)data, size};
    struct bytes payload = take_part(&rest);
    struct shape *shape = shape_create();
    while (rest.data) {
        struct bytes sample = take_part(&rest);
        for (int i = 0; i < TIMES; i++)
            require(shape_add(shape, sample) == json_check(sample, NULL));
    }
    require(shape_paths(shape) <= SHAPE_PATHS);
    struct arena arena = {0};
    struct shape_departure *list;
    size_t count;
    shape_departures(shape, payload, &arena, &list, &count);
    require(count <= SHAPE_DEPARTURES);
    bool is_json = json_check(payload, NULL);
    for (size_t i = 0; i < count; i++) {
        require(list[i].from + list[i].len <= payload.len && list[i].len > 0);
        require(list[i].path[0] == '$' && strlen(list[i].sentence) < 1000);
        require(list[i].chance > 0 && list[i].chance < 1);
        if (is_json)
            check_path(payload, &list[i]);
    }
    // An event that was learned often enough departs in nothing that it alone decides.
    for (int i = 0; is_json && i < TIMES * 60; i++)
        shape_add(shape, payload);
    if (is_json && shape_events(shape) == TIMES * 60) {
        shape_departures(shape, payload, &arena, &list, &count);
        require(count == 0);
    }
    arena_release(&arena);
    shape_destroy(shape);
    return 0;
}
