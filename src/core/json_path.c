#include "core/json.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/text.h"

enum { PATH_STEPS = 64 };

struct step {
    bool is_index;
    size_t index;
    struct strbuf name;
};

struct json_path {
    struct step steps[PATH_STEPS];
    size_t count;
};

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
wrong(struct err *err, size_t at, const char *expected)
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
parse_name(struct step *step, struct bytes text, size_t *at, struct err *err)
{
    size_t from = ++*at;
    while (*at < text.len && is_name_char(text.data[*at]))
        (*at)++;
    if (*at == from)
        return wrong(err, from, "a name");
    strbuf_add(&step->name, bytes_slice(text, from, *at - from));
    return true;
}

// `'name']` or `"name"]` at *at, which is at the quote.
static bool
parse_quoted(struct step *step, struct bytes text, size_t *at, struct err *err)
{
    char quote = text.data[(*at)++];
    while (*at < text.len && text.data[*at] != quote) {
        if (text.data[*at] == '\\' && *at + 1 < text.len)
            (*at)++;
        strbuf_add_char(&step->name, text.data[(*at)++]);
    }
    if (*at == text.len)
        return wrong(err, *at, "the quote that ends the name");
    (*at)++;
    return true;
}

// `[…]` at *at.
static bool
parse_bracket(struct step *step, struct bytes text, size_t *at, struct err *err)
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
            return wrong(err, from, "an index, or a name in quotes");
        step->is_index = true;
        step->index = (size_t)index;
    }
    if (*at == text.len || text.data[*at] != ']')
        return wrong(err, *at, "]");
    (*at)++;
    return true;
}

bool
json_path_parse(struct json_path **path, struct bytes text, struct err *err)
{
    if (text.len == 0 || text.data[0] != '$')
        return wrong(err, 0, "$");
    struct json_path *made = alloc_bytes(sizeof *made);
    size_t at = 1;
    bool ok = true;
    while (ok && at < text.len) {
        if (made->count == PATH_STEPS) {
            ok = wrong(err, at, "the end: a path has at most 64 steps");
            break;
        }
        struct step *step = &made->steps[made->count++];
        if (text.data[at] == '.')
            ok = parse_name(step, text, &at, err);
        else if (text.data[at] == '[')
            ok = parse_bracket(step, text, &at, err);
        else
            ok = wrong(err, at, "a dot or [");
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
    if (first.kind == JSON_ERROR)
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

static bool
name_is(struct bytes token, const struct strbuf *name)
{
    struct bytes inside = bytes_slice(token, 1, token.len - 2);
    if (bytes_find(inside, BYTES("\\"), 0) == SIZE_MAX)
        return bytes_equal(inside, strbuf_bytes(name));
    struct strbuf decoded = {0};
    bool is_same = json_decode(token, &decoded) && bytes_equal(strbuf_bytes(&decoded), strbuf_bytes(name));
    strbuf_release(&decoded);
    return is_same;
}

// The child of the container `text` that a step names; for names the last of equal ones.
static bool
find_child(const struct step *step, struct bytes text, struct json_token *child)
{
    struct json_scan scan;
    json_begin(&scan, text);
    struct json_token token = json_next(&scan);
    if (token.kind != (step->is_index ? JSON_ARRAY_BEGIN : JSON_OBJECT_BEGIN))
        return false;

    bool is_found = false;
    size_t index = 0;
    bool is_wanted = step->is_index && step->index == 0;
    for (token = json_next(&scan); token.kind != JSON_END && token.kind != JSON_ERROR;
         token = json_next(&scan)) {
        if (token.kind == JSON_COMMA) {
            is_wanted = step->is_index && ++index == step->index;
            continue;
        }
        if (token.kind == JSON_NAME) {
            is_wanted = name_is(json_bytes(&scan, token), &step->name);
            continue;
        }
        if (token.kind == JSON_COLON || token.depth == 0)
            continue;
        struct json_token value;
        if (!whole_value(&scan, token, &value))
            return false;
        if (!is_wanted)
            continue;
        *child = value;
        is_found = true;
        if (step->is_index)
            return true;
    }
    return is_found && token.kind == JSON_END;
}

bool
json_path_find(const struct json_path *path, struct bytes text, struct json_token *value)
{
    struct json_scan scan;
    json_begin(&scan, text);
    if (!whole_value(&scan, json_next(&scan), value))
        return false;
    for (size_t i = 0; i < path->count; i++) {
        struct json_token child;
        if (!find_child(&path->steps[i], bytes_slice(text, value->from, value->len), &child))
            return false;
        child.from += value->from;
        *value = child;
    }
    return true;
}
