// Paths: parses, prints and follows them.
#include "core/json/path.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/string.h"

struct path_reader {
    struct bytes text;
    size_t at;
    bool takes_stars;
    struct err *err;
};

void
json_path_destroy(struct json_path *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < path->count; i++)
        strbuf_release(&path->steps[i].name);
    free(path->steps);
    free(path);
}

static struct json_step *
path_add_step(struct json_path *path)
{
    path->steps = alloc_grow(path->steps, path->count, &path->capacity, sizeof *path->steps);
    struct json_step *step = &path->steps[path->count++];
    *step = (struct json_step){.kind = JSON_STEP_NAME};
    return step;
}

static bool
json_path_wrong(const struct path_reader *reader, const char *expected)
{
    err_set(reader->err, ERR_USAGE, "the path cannot be read here: expected %s", expected);
    int line;
    int column;
    json_position(reader->text, reader->at, &line, &column);
    if (reader->err)
        reader->err->column = column;
    return false;
}

static bool
is_name_char(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || c == '_' || c == '-' || c == '@' || (c >= '0' && c <= '9') ||
           ((u | 0x20) >= 'a' && (u | 0x20) <= 'z');
}

static char
path_char(const struct path_reader *reader)
{
    return reader->at < reader->text.len ? reader->text.data[reader->at] : '\0';
}

// `.name`
static bool
parse_name(struct path_reader *reader, struct json_step *step)
{
    size_t from = ++reader->at;
    while (reader->at < reader->text.len && is_name_char(reader->text.data[reader->at]))
        reader->at++;
    if (reader->at == from)
        return json_path_wrong(reader, "a name");
    strbuf_add(&step->name, bytes_slice(reader->text, from, reader->at - from));
    return true;
}

// The escape at the reader: those of JSON, and of any other character that character.
static void
parse_escape(struct path_reader *reader, struct strbuf *name)
{
    struct bytes rest = bytes_slice(reader->text, reader->at, SIZE_MAX);
    size_t len = rest.len > 1 && strchr("bfnrtu", rest.data[1]) ? json_escape_length(rest) : 0;
    if (len) {
        uint32_t escaped;
        char encoded[4];
        reader->at += json_escape_point(rest, &escaped);
        strbuf_add(name, (struct bytes){encoded, utf8_encode(escaped, encoded)});
        return;
    }
    reader->at++;
    uint32_t point;
    len = utf8_decode(reader->text, reader->at, &point);
    strbuf_add(name, bytes_slice(reader->text, reader->at, len));
    reader->at += len;
}

// `'name'` or `"name"`
static bool
parse_quoted(struct path_reader *reader, struct json_step *step)
{
    char quote = reader->text.data[reader->at++];
    while (reader->at < reader->text.len && reader->text.data[reader->at] != quote) {
        if (reader->text.data[reader->at] == '\\' && reader->at + 1 < reader->text.len)
            parse_escape(reader, &step->name);
        else
            strbuf_add_char(&step->name, reader->text.data[reader->at++]);
    }
    if (reader->at == reader->text.len)
        return json_path_wrong(reader, "the quote that ends the name");
    reader->at++;
    return true;
}

static bool
parse_index(struct path_reader *reader, struct json_step *step)
{
    size_t from = reader->at;
    while (path_char(reader) >= '0' && path_char(reader) <= '9')
        reader->at++;
    int64_t index;
    if (reader->at == from ||
        !text_parse_int(bytes_slice(reader->text, from, reader->at - from), &index, NULL)) {
        reader->at = from;
        return json_path_wrong(reader, reader->takes_stars ? "an index, * for all, or a name in quotes"
                                                           : "an index, or a name in quotes");
    }
    step->kind = JSON_STEP_INDEX;
    step->index = (size_t)index;
    return true;
}

// `[…]`
static bool
parse_bracket(struct path_reader *reader, struct json_step *step)
{
    reader->at++;
    char c = path_char(reader);
    if (c == '\'' || c == '"') {
        if (!parse_quoted(reader, step))
            return false;
    } else if (c == '*' && reader->takes_stars) {
        step->kind = JSON_STEP_EVERY;
        reader->at++;
    } else if (!parse_index(reader, step)) {
        return false;
    }
    if (path_char(reader) != ']')
        return json_path_wrong(reader, "]");
    reader->at++;
    return true;
}

static bool
parse_step(struct path_reader *reader, struct json_path *path)
{
    if (path->count == JSON_DEPTH)
        return json_path_wrong(reader, "the end: a path has at most 512 steps");
    struct json_step *step = path_add_step(path);
    bool ok;
    if (path_char(reader) == '.')
        ok = parse_name(reader, step);
    else if (path_char(reader) == '[')
        ok = parse_bracket(reader, step);
    else
        ok = json_path_wrong(reader, "a dot or [");
    path->stars += step->kind == JSON_STEP_EVERY;
    return ok;
}

static bool
json_path_read(struct path_reader *reader, struct json_path **path)
{
    if (path_char(reader) != '$')
        return json_path_wrong(reader, "$");
    reader->at++;
    struct json_path *made = alloc_bytes(sizeof *made);
    while (reader->at < reader->text.len) {
        if (!parse_step(reader, made)) {
            json_path_destroy(made);
            return false;
        }
    }
    *path = made;
    return true;
}

bool
json_path_parse(struct json_path **path, struct bytes text, struct err *err)
{
    return json_path_read(&(struct path_reader){.text = text, .err = err}, path);
}

bool
json_pattern_parse(struct json_path **path, struct bytes text, struct err *err)
{
    return json_path_read(&(struct path_reader){.text = text, .takes_stars = true, .err = err}, path);
}

bool
json_path_is_pattern(const struct json_path *path)
{
    return path->stars > 0;
}

size_t
json_path_stars(const struct json_path *path)
{
    return path->stars;
}

bool
json_path_find(const struct json_path *path, struct bytes text, struct json_token *value)
{
    struct json_matches matches = {0};
    bool is_found = json_matches_find(path, text, &matches) && matches.count && !matches.items[0].is_missing;
    if (is_found)
        *value = matches.items[0].value;
    json_matches_release(&matches);
    return is_found;
}

// Characters that would end the name or its line are escaped, those of Unicode are not.
static void
path_add_quoted(struct bytes content, struct strbuf *out)
{
    strbuf_add_text(out, "['");
    for (size_t i = 0; i < content.len; i++) {
        char c = content.data[i];
        if ((unsigned char)c < 0x20) {
            strbuf_printf(out, "\\u%04x", (unsigned)c);
            continue;
        }
        if (c == '\'' || c == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, c);
    }
    strbuf_add_text(out, "']");
}

void
json_name_print(struct bytes content, struct strbuf *out)
{
    bool is_plain = content.len > 0;
    for (size_t i = 0; i < content.len; i++)
        is_plain = is_plain && is_name_char(content.data[i]);
    if (!is_plain) {
        path_add_quoted(content, out);
        return;
    }
    strbuf_add_char(out, '.');
    strbuf_add(out, content);
}

void
json_path_add_name(struct bytes token, struct strbuf *out)
{
    struct strbuf content = {0};
    (void)json_decode(token, &content);
    json_name_print(strbuf_bytes(&content), out);
    strbuf_release(&content);
}

void
json_path_print(const struct json_path *path, const size_t *indexes, struct strbuf *out)
{
    strbuf_add_char(out, '$');
    for (size_t i = 0; i < path->count; i++) {
        const struct json_step *step = &path->steps[i];
        switch (step->kind) {
        case JSON_STEP_NAME:
            json_name_print(strbuf_bytes(&step->name), out);
            break;
        case JSON_STEP_INDEX:
            strbuf_printf(out, "[%zu]", step->index);
            break;
        case JSON_STEP_EVERY:
            if (indexes)
                strbuf_printf(out, "[%zu]", *indexes++);
            else
                strbuf_add_text(out, "[*]");
            break;
        }
    }
}

struct json_path *
json_path_fill(const struct json_path *path, const size_t *indexes, size_t stars)
{
    struct json_path *filled = alloc_bytes(sizeof *filled);
    for (size_t i = 0; i < path->count; i++) {
        struct json_step *step = path_add_step(filled);
        step->kind = path->steps[i].kind;
        step->index = path->steps[i].index;
        strbuf_add(&step->name, strbuf_bytes(&path->steps[i].name));
        if (step->kind == JSON_STEP_EVERY && stars) {
            step->kind = JSON_STEP_INDEX;
            step->index = *indexes++;
            stars--;
        }
        filled->stars += step->kind == JSON_STEP_EVERY;
    }
    return filled;
}
