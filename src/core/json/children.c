// Steps through the members of an object and the elements of an array.
#include "core/json/path.h"

#include <string.h>

// Consumes the value that begins with `first`; *value receives all of it.
static bool
whole_value(struct json_scan *scan, struct json_token first, struct json_token *value)
{
    *value = first;
    if (first.kind == JSON_ERROR || first.kind == JSON_END)
        return false;
    if (first.kind != JSON_OBJECT_BEGIN && first.kind != JSON_ARRAY_BEGIN)
        return true;
    for (;;) {
        struct json_token token = json_next(scan);
        if (token.kind == JSON_ERROR || token.kind == JSON_END)
            return false;
        bool closes = token.kind == JSON_OBJECT_END || token.kind == JSON_ARRAY_END;
        if (closes && token.depth == first.depth) {
            value->len = token.from + token.len - first.from;
            return true;
        }
    }
}

bool
json_children(struct json_children *children, struct bytes container)
{
    *children = (struct json_children){0};
    json_begin(&children->scan, container);
    enum json_kind kind = json_next(&children->scan).kind;
    children->is_object = kind == JSON_OBJECT_BEGIN;
    return kind == JSON_OBJECT_BEGIN || kind == JSON_ARRAY_BEGIN;
}

bool
json_child(struct json_children *children, struct json_token *name, struct json_token *value)
{
    struct json_token token = json_next(&children->scan);
    if (token.kind == JSON_COMMA)
        token = json_next(&children->scan);
    if (token.depth == 0 && (token.kind == JSON_OBJECT_END || token.kind == JSON_ARRAY_END)) {
        children->is_whole = json_next(&children->scan).kind == JSON_END;
        return false;
    }
    if (token.kind == JSON_NAME) {
        if (name)
            *name = token;
        json_next(&children->scan); // the colon, or the error that comes again
        token = json_next(&children->scan);
    }
    if (!whole_value(&children->scan, token, value))
        return false;
    children->count++;
    return true;
}

// Content is never longer than the bytes that spell it, and shorter where one is an escape.
bool
json_name_is(struct bytes token, const struct strbuf *name)
{
    size_t len = token.len - 2;
    bool begins_apart = name->len > 0 && token.data[1] != name->data[0] && token.data[1] != '\\';
    if (len < name->len || begins_apart ||
        (len == name->len && memcmp(token.data + 1, strbuf_text(name), len) != 0))
        return false;
    if (!memchr(token.data + 1, '\\', len))
        return len == name->len;
    struct strbuf decoded = {0};
    bool is_same = json_decode(token, &decoded) && bytes_equal(strbuf_bytes(&decoded), strbuf_bytes(name));
    strbuf_release(&decoded);
    return is_same;
}

bool
json_step_is(const struct json_step *step, const struct json_children *children, struct json_token name)
{
    switch (step->kind) {
    case JSON_STEP_NAME:
        return children->is_object && json_name_is(json_bytes(&children->scan, name), &step->name);
    case JSON_STEP_INDEX:
        return !children->is_object && step->index == children->count - 1;
    case JSON_STEP_EVERY:
        return !children->is_object;
    }
    return false;
}
