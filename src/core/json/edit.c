// Replaces, adds and removes values without touching a byte beside them.
#include <string.h>
#include "core/json/path.h"

void
json_splice(struct bytes text, size_t from, size_t len, struct bytes b, struct strbuf *out)
{
    strbuf_add(out, bytes_slice(text, 0, from));
    strbuf_add(out, b);
    strbuf_add(out, bytes_slice(text, from + len, SIZE_MAX));
}

// The member `name` as the last of an object whose text is `object` and stands at `base` in text.
static void
add_member(struct bytes text, size_t base, struct bytes object, const struct strbuf *name, struct bytes value,
           struct strbuf *out)
{
    struct json_children children;
    struct json_token last_name = {0};
    struct json_token last = {0};
    size_t lead = 1; // where the white space before the last name begins
    if (!json_children(&children, object))
        return;
    for (size_t end = 1; json_child(&children, &last_name, &last); end = last.from + last.len) {
        const char *comma = memchr(object.data + end, ',', last_name.from - end);
        lead = comma ? (size_t)(comma - object.data) + 1 : end;
    }

    struct strbuf member = {0};
    if (children.count) {
        strbuf_add_char(&member, ',');
        strbuf_add(&member, bytes_slice(object, lead, last_name.from - lead));
    }
    json_quote(strbuf_bytes(name), &member);
    size_t colon = last_name.from + last_name.len;
    strbuf_add(&member, children.count ? bytes_slice(object, colon, last.from - colon) : BYTES(":"));
    strbuf_add(&member, value);
    json_splice(text, base + (children.count ? last.from + last.len : 1), 0, strbuf_bytes(&member), out);
    strbuf_release(&member);
}

bool
json_set(const struct json_path *path, struct bytes text, struct bytes value, struct strbuf *out)
{
    struct json_token there;
    if (json_path_find(path, text, &there)) {
        json_splice(text, there.from, there.len, value, out);
        return true;
    }
    if (path->count == 0)
        return false;
    const struct json_step *last = &path->steps[path->count - 1];
    if (last->is_index || !json_steps_find(path->steps, path->count - 1, text, &there) ||
        there.kind != JSON_OBJECT_BEGIN)
        return false;
    add_member(text, there.from, bytes_slice(text, there.from, there.len), &last->name, value, out);
    return true;
}

bool
json_remove(const struct json_path *path, struct bytes text, struct strbuf *out)
{
    struct json_token parent;
    if (path->count == 0 || !json_path_find(path, text, &parent) ||
        !json_steps_find(path->steps, path->count - 1, text, &parent))
        return false;

    struct bytes container = bytes_slice(text, parent.from, parent.len);
    struct json_children children;
    if (!json_children(&children, container))
        return false;
    strbuf_add(out, bytes_slice(text, 0, parent.from));
    struct json_token name = {0};
    struct json_token value;
    bool has_kept = false;
    // Each child goes with what stands between it and the one before; the first that stays begins where the
    // first of all began.
    size_t end = 0;
    while (json_child(&children, &name, &value)) {
        size_t from = children.is_object ? name.from : value.from;
        if (children.count == 1) {
            strbuf_add(out, bytes_slice(container, 0, from));
            end = from;
        }
        if (!json_step_is(&path->steps[path->count - 1], &children, name)) {
            size_t begin = has_kept ? end : from;
            strbuf_add(out, bytes_slice(container, begin, value.from + value.len - begin));
            has_kept = true;
        }
        end = value.from + value.len;
    }
    strbuf_add(out, bytes_slice(text, parent.from + end, SIZE_MAX));
    return true;
}
