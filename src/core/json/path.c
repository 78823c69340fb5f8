// Paths: parses and follows them, and writes the path of a place in a text.
#include "core/json/path.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"

void
json_path_destroy(struct json_path *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < path->count; i++)
        strbuf_release(&path->steps[i].name);
    free(path);
}

static bool
json_path_wrong(struct err *err, size_t at, const char *expected)
{
    err_set(err, ERR_USAGE, "the path cannot be read here: expected %s", expected);
    if (err)
        err->column = (int)at + 1;
    return false;
}

static bool
is_name_char(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || c == '_' || c == '-' || c == '@' || (c >= '0' && c <= '9') ||
           ((u | 0x20) >= 'a' && (u | 0x20) <= 'z');
}

// `.name` at *at.
static bool
parse_name(struct json_step *step, struct bytes text, size_t *at, struct err *err)
{
    size_t from = ++*at;
    while (*at < text.len && is_name_char(text.data[*at]))
        (*at)++;
    if (*at == from)
        return json_path_wrong(err, from, "a name");
    strbuf_add(&step->name, bytes_slice(text, from, *at - from));
    return true;
}

// `'name']` or `"name"]` at *at, which is at the quote.
static bool
parse_quoted(struct json_step *step, struct bytes text, size_t *at, struct err *err)
{
    char quote = text.data[(*at)++];
    while (*at < text.len && text.data[*at] != quote) {
        if (text.data[*at] == '\\' && *at + 1 < text.len)
            (*at)++;
        strbuf_add_char(&step->name, text.data[(*at)++]);
    }
    if (*at == text.len)
        return json_path_wrong(err, *at, "the quote that ends the name");
    (*at)++;
    return true;
}

// `[…]` at *at.
static bool
parse_bracket(struct json_step *step, struct bytes text, size_t *at, struct err *err)
{
    (*at)++;
    char c = *at < text.len ? text.data[*at] : '\0';
    if (c == '\'' || c == '"') {
        if (!parse_quoted(step, text, at, err))
            return false;
    } else {
        size_t from = *at;
        while (*at < text.len && text.data[*at] >= '0' && text.data[*at] <= '9')
            (*at)++;
        int64_t index;
        if (*at == from || !text_parse_int(bytes_slice(text, from, *at - from), &index, NULL))
            return json_path_wrong(err, from, "an index, or a name in quotes");
        step->is_index = true;
        step->index = (size_t)index;
    }
    if (*at == text.len || text.data[*at] != ']')
        return json_path_wrong(err, *at, "]");
    (*at)++;
    return true;
}

bool
json_path_parse(struct json_path **path, struct bytes text, struct err *err)
{
    if (text.len == 0 || text.data[0] != '$')
        return json_path_wrong(err, 0, "$");
    struct json_path *made = alloc_bytes(sizeof *made);
    size_t at = 1;
    bool ok = true;
    while (ok && at < text.len) {
        if (made->count == JSON_PATH_STEPS) {
            ok = json_path_wrong(err, at, "the end: a path has at most 64 steps");
            break;
        }
        struct json_step *step = &made->steps[made->count++];
        if (text.data[at] == '.')
            ok = parse_name(step, text, &at, err);
        else if (text.data[at] == '[')
            ok = parse_bracket(step, text, &at, err);
        else
            ok = json_path_wrong(err, at, "a dot or [");
    }
    if (!ok) {
        json_path_destroy(made);
        return false;
    }
    *path = made;
    return true;
}

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

static bool
name_is(struct bytes token, const struct strbuf *name)
{
    struct bytes inside = bytes_slice(token, 1, token.len - 2);
    if (!memchr(inside.data, '\\', inside.len))
        return bytes_equal(inside, strbuf_bytes(name));
    struct strbuf decoded = {0};
    bool is_same = json_decode(token, &decoded) && bytes_equal(strbuf_bytes(&decoded), strbuf_bytes(name));
    strbuf_release(&decoded);
    return is_same;
}

bool
json_step_is(const struct json_step *step, const struct json_children *children, struct json_token name)
{
    if (children->is_object == step->is_index)
        return false;
    return step->is_index ? step->index == children->count - 1
                          : name_is(json_bytes(&children->scan, name), &step->name);
}

// The child of the container `text` that a step names; for names the last of equal ones.
static bool
find_child(const struct json_step *step, struct bytes text, struct json_token *child)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token value;
    bool is_found = false;
    if (!json_children(&children, text) || children.is_object == step->is_index)
        return false;
    while (json_child(&children, &name, &value)) {
        if (!json_step_is(step, &children, name))
            continue;
        *child = value;
        is_found = true;
    }
    return is_found && children.is_whole;
}

bool
json_steps_find(const struct json_step *steps, size_t count, struct bytes text, struct json_token *value)
{
    struct json_scan scan;
    json_begin(&scan, text);
    if (!whole_value(&scan, json_next(&scan), value) || json_next(&scan).kind != JSON_END)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct json_token child;
        if (!find_child(&steps[i], bytes_slice(text, value->from, value->len), &child))
            return false;
        child.from += value->from;
        *value = child;
    }
    return true;
}

bool
json_path_find(const struct json_path *path, struct bytes text, struct json_token *value)
{
    return json_steps_find(path->steps, path->count, text, value);
}

static void
add_name(struct strbuf *out, struct bytes token)
{
    struct strbuf name = {0};
    json_decode(token, &name);
    bool is_plain = name.len > 0;
    for (size_t i = 0; i < name.len; i++)
        is_plain = is_plain && is_name_char(name.data[i]);
    if (is_plain) {
        strbuf_add_char(out, '.');
        strbuf_add(out, strbuf_bytes(&name));
    } else {
        strbuf_add_text(out, "['");
        for (size_t i = 0; i < name.len; i++) {
            if (name.data[i] == '\'' || name.data[i] == '\\')
                strbuf_add_char(out, '\\');
            strbuf_add_char(out, name.data[i]);
        }
        strbuf_add_text(out, "']");
    }
    strbuf_release(&name);
}

// The child that is being read, for each container around it.
struct path_place {
    struct json_token name; // of a member; len 0: none yet
    bool is_index;
    size_t index;
};

static void
step_on(struct path_place *places, struct json_token token)
{
    struct path_place *here = &places[token.depth];
    if (token.kind == JSON_NAME)
        here->name = token;
    else if (token.kind == JSON_COMMA && here->is_index)
        here->index++;
    else if (token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN)
        places[token.depth + 1] = (struct path_place){.is_index = token.kind == JSON_ARRAY_BEGIN};
}

bool
json_path_at(struct bytes text, size_t at, struct strbuf *out)
{
    struct path_place places[JSON_DEPTH + 1];
    places[0] = (struct path_place){0};
    struct json_scan scan;
    json_begin(&scan, text);
    int depth = 0;
    struct json_token token = json_next(&scan);
    for (; token.kind != JSON_END && token.kind != JSON_ERROR && token.from <= at; token = json_next(&scan)) {
        depth = token.depth;
        if (token.kind == JSON_COMMA && token.from == at)
            break;
        step_on(places, token);
    }
    strbuf_add_char(out, '$');
    for (int i = 1; i <= depth; i++) {
        if (places[i].is_index)
            strbuf_printf(out, "[%zu]", places[i].index);
        else if (places[i].name.len)
            add_name(out, json_bytes(&scan, places[i].name));
    }
    return token.kind != JSON_ERROR || at < token.from;
}
