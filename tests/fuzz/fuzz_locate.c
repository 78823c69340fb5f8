// Any bytes as message, stack and payload, parted at the first two bytes 0xFE: the place that is found is in
// the payload, and its path leads there. Without parts, the message is looked for in a fixed payload.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/json/json.h"
#include "core/shape/locate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void
check_found(struct bytes payload, const struct locate_found *found)
{
    struct json_path *path;
    struct json_token value;
    require(found->from <= payload.len && found->len <= payload.len - found->from);
    require(found->path[0] == '$' && found->why);
    if (found->is_missing || !json_check(payload, NULL) || json_warnings(payload, NULL, 0) > 0)
        return;
    // A NUL within a name ends the text of its path.
    if (!json_path_parse(&path, bytes_of(found->path), NULL))
        return;
    require(json_path_find(path, payload, &value) && value.from == found->from);
    json_path_destroy(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = {(const char *)data, size};
    struct bytes message = take_part(&rest);
    struct bytes stack = take_part(&rest);
    struct bytes payload = rest.data ? rest : BYTES("{\"a\": [{\"b\": 1}, {\"c\": \"x\"}], \"b\": 2}");
    struct arena arena = {0};
    struct locate_where where;
    bool is_read = locate_read(message, stack, &arena, &where);
    require(is_read == (where.library != NULL));
    require(where.step_count <= LOCATE_STEPS && where.line >= 0);
    struct strbuf said = {0};
    locate_print(&where, &said);
    struct shape *shape = shape_create();
    for (int i = 0; i < 20; i++)
        shape_add(shape, BYTES("{\"a\": [{\"b\": 1, \"c\": \"x\"}], \"b\": 2, \"d\": 3}"));
    struct locate_found found;
    locate_in(payload, size % 2, &where, size % 3 ? shape : NULL, &arena, &found);
    check_found(payload, &found);
    shape_destroy(shape);
    strbuf_release(&said);
    arena_release(&arena);
    return 0;
}
