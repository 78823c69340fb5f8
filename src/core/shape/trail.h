// trail: walks a JSON text value by value, and knows the path of the value it has reached. Private to the
// room.
//
// One pass over the text, whatever its depth; nothing is allocated while walking.
#ifndef REDRIVE_CORE_SHAPE_TRAIL_H
#define REDRIVE_CORE_SHAPE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/json/json.h"

struct trail_step {
    struct json_token name; // of a member
    bool is_element;
    size_t index; // of an element
};

struct trail {
    struct json_scan scan;
    struct json_token token;                 // of the place reached
    struct trail_step steps[JSON_DEPTH + 1]; // of the children that are being read; the root has none: [0]
};

enum trail_place {
    TRAIL_END,   // the text is over, or stops being JSON
    TRAIL_VALUE, // token: the value, or the bracket that opens it
    TRAIL_CLOSE, // token: the bracket that closes a container
};

void trail_begin(struct trail *trail, struct bytes text);
enum trail_place trail_next(struct trail *trail);
// The step that leads to the place reached; meaningless for the root.
static inline const struct trail_step *
trail_step(const struct trail *trail)
{
    return &trail->steps[trail->token.depth];
}

// The content of a string token or name: a view of the text, or of `scratch` where escapes had to be undone.
struct bytes trail_content(const struct trail *trail, struct json_token token, struct strbuf *scratch);
// Appends the path of the place reached. false: it would be longer than `most` bytes and ends earlier, at a
// container around the place.
bool trail_print(const struct trail *trail, size_t most, struct strbuf *out);
// Appends one step of a path: .name or ['odd name'].
void trail_print_name(struct bytes name, struct strbuf *out);

#endif
