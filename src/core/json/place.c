// Where a place in a text is: line, column, path.
#include "core/json/path.h"

#include <string.h>
#include "base/utf8.h"

void
json_position(struct bytes text, size_t at, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at && i < text.len;) {
        uint32_t point;
        i += utf8_decode(text, i, &point);
        if (i > at) // within a character
            return;
        if (point == '\n') {
            (*line)++;
            *column = 1;
        } else {
            (*column)++;
        }
    }
}

// The \n at or behind `at`, or the end of the text.
static size_t
place_line_end(struct bytes text, size_t at)
{
    const char *end = text.len > at ? memchr(text.data + at, '\n', text.len - at) : NULL;
    return end ? (size_t)(end - text.data) : text.len;
}

size_t
json_offset(struct bytes text, int line, int column)
{
    size_t at = 0;
    for (; line > 1; line--) {
        at = place_line_end(text, at);
        if (at == text.len)
            return at;
        at++;
    }
    size_t end = place_line_end(text, at);
    if (end < text.len && end > at && text.data[end - 1] == '\r')
        end--;
    for (; column > 1 && at < end; column--) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
    }
    return at;
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
    bool is_beyond = token.kind == JSON_ERROR && token.from <= at;
    if (is_beyond)
        depth = token.depth;
    strbuf_add_char(out, '$');
    for (int i = 1; i <= depth; i++) {
        if (places[i].is_index)
            strbuf_printf(out, "[%zu]", places[i].index);
        else if (places[i].name.len)
            json_path_add_name(json_bytes(&scan, places[i].name), out);
    }
    return !is_beyond;
}
