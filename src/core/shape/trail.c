#include "core/shape/trail.h"

#include <string.h>

void
trail_begin(struct trail *trail, struct bytes text)
{
    json_begin(&trail->scan, text);
    trail->token = (struct json_token){0};
    trail->steps[0] = (struct trail_step){0};
}

enum trail_place
trail_next(struct trail *trail)
{
    for (;;) {
        struct json_token token = json_next(&trail->scan);
        struct trail_step *step = &trail->steps[token.depth];
        trail->token = token;
        switch (token.kind) {
        case JSON_END:
        case JSON_ERROR:
            return TRAIL_END;
        case JSON_OBJECT_END:
        case JSON_ARRAY_END:
            return TRAIL_CLOSE;
        case JSON_NAME:
            step->name = token;
            break;
        case JSON_COLON:
            break;
        case JSON_COMMA:
            step->index++;
            break;
        case JSON_OBJECT_BEGIN:
        case JSON_ARRAY_BEGIN:
            trail->steps[token.depth + 1] = (struct trail_step){.is_element = token.kind == JSON_ARRAY_BEGIN};
            return TRAIL_VALUE;
        case JSON_STRING:
        case JSON_NUMBER:
        case JSON_TRUE:
        case JSON_FALSE:
        case JSON_NULL:
            return TRAIL_VALUE;
        }
    }
}

struct bytes
trail_content(const struct trail *trail, struct json_token token, struct strbuf *scratch)
{
    struct bytes quoted = json_bytes(&trail->scan, token);
    struct bytes inside = bytes_slice(quoted, 1, quoted.len - 2);
    if (!memchr(inside.data, '\\', inside.len))
        return inside;
    strbuf_reset(scratch);
    json_decode(quoted, scratch);
    return strbuf_bytes(scratch);
}

static bool
is_plain_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];
        bool is_word = c >= 0x80 || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                       memchr("_-@", c, 3);
        if (!is_word)
            return false;
    }
    return name.len > 0;
}

void
trail_print_name(struct bytes name, struct strbuf *out)
{
    if (is_plain_name(name)) {
        strbuf_add_char(out, '.');
        strbuf_add(out, name);
        return;
    }
    strbuf_add_text(out, "['");
    for (size_t i = 0; i < name.len; i++) {
        if (memchr("'\\", name.data[i], 2))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, name.data[i]);
    }
    strbuf_add_text(out, "']");
}

bool
trail_print(const struct trail *trail, size_t most, struct strbuf *out)
{
    struct strbuf scratch = {0};
    size_t limit = out->len + most;
    bool is_whole = true;
    strbuf_add_char(out, '$');
    for (int i = 1; is_whole && i <= trail->token.depth; i++) {
        const struct trail_step *step = &trail->steps[i];
        size_t before = out->len;
        if (step->is_element)
            strbuf_printf(out, "[%zu]", step->index);
        else if (step->name.len <= most) // each byte of the token gives at most two of the path
            trail_print_name(trail_content(trail, step->name, &scratch), out);
        is_whole = out->len <= limit && out->len > before;
        if (!is_whole)
            strbuf_splice(out, before, out->len - before, BYTES(""));
    }
    strbuf_release(&scratch);
    return is_whole;
}
