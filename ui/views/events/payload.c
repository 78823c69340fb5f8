#include "ui/views/events/payload.h"

#include <assert.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/hex.h"
#include "base/text.h"
#include "base/strbuf.h"
#include "core/json/json.h"
#include "ui/views/events/texts.h"

// TREE_LIMIT: bytes of lines. Each carries its whole path, so long names above many values would fill memory.
enum { LINE_SPANS = 64, HEX_LIMIT = 256 << 10, TREE_LIMIT = 16 << 20 };

const char *
payload_form_name(enum payload_form form)
{
    static const char *const names[] = {"pretty", "raw", "hex", "tree"};
    return names[form];
}

static enum role
token_role(enum json_kind kind)
{
    switch (kind) {
    case JSON_NAME:
        return ROLE_JSON_KEY;
    case JSON_STRING:
        return ROLE_JSON_STRING;
    case JSON_NUMBER:
        return ROLE_JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return ROLE_JSON_WORD;
    case JSON_ERROR:
        return ROLE_JSON_ERROR;
    default:
        return ROLE_JSON_PUNCT;
    }
}

// One line of coloured tokens while it is being put together.
struct payload_line {
    struct strbuf text;
    struct canvas_span spans[LINE_SPANS];
    size_t count;
};

static void
line_add(struct payload_line *line, struct bytes text, enum role role)
{
    if (line->count < LINE_SPANS)
        line->spans[line->count++] =
            (struct canvas_span){.from = line->text.len, .len = text.len, .role = role};
    strbuf_add(&line->text, text);
}

static void
line_end(struct pager *pager, struct payload_line *line, int depth)
{
    pager_spans(pager, ROLE_TEXT, strbuf_bytes(&line->text), line->spans, line->count);
    strbuf_reset(&line->text);
    line->count = 0;
    for (int i = 0; i < depth && i < JSON_INDENTED; i++)
        strbuf_add_text(&line->text, "  ");
}

static bool
is_begin(enum json_kind kind)
{
    return kind == JSON_OBJECT_BEGIN || kind == JSON_ARRAY_BEGIN;
}

static bool
is_end(enum json_kind kind)
{
    return kind == JSON_OBJECT_END || kind == JSON_ARRAY_END;
}

// Every token verbatim; only the white space is ours.
static void
pretty(struct pager *pager, struct bytes payload)
{
    struct json_scan scan;
    json_begin(&scan, payload);
    struct payload_line line = {0};
    enum json_kind last = JSON_END;
    struct json_token token;
    do {
        token = json_next(&scan);
        bool closes_empty = is_end(token.kind) && is_begin(last);
        bool breaks = (is_begin(last) || last == JSON_COMMA || is_end(token.kind)) && !closes_empty;
        if (breaks && token.kind != JSON_ERROR && token.kind != JSON_END)
            line_end(pager, &line, token.depth);
        if (token.kind != JSON_END && token.kind != JSON_ERROR)
            line_add(&line, json_bytes(&scan, token), token_role(token.kind));
        if (token.kind == JSON_COLON)
            strbuf_add_char(&line.text, ' ');
        last = token.kind;
    } while (token.kind != JSON_END && token.kind != JSON_ERROR);
    line_end(pager, &line, 0);
    strbuf_release(&line.text);

    if (token.kind == JSON_ERROR) {
        int row;
        int column;
        json_position(payload, token.from, &row, &column);
        pager_printf(pager, ROLE_STATUS_WARN, MSG_NOT_JSON_AT, row, column, scan.expected);
        pager_line(pager, ROLE_JSON_ERROR, json_bytes(&scan, token));
    }
}

static void
hexadecimal(struct pager *pager, struct bytes payload)
{
    size_t len = payload.len < HEX_LIMIT ? payload.len : HEX_LIMIT;
    char shown[TEXT_SHORT];
    char all[TEXT_SHORT];
    struct strbuf line = {0};
    for (size_t i = 0; i < hex_lines(len); i++) {
        strbuf_reset(&line);
        hex_line(payload, i, &line);
        pager_line(pager, ROLE_TEXT, strbuf_bytes(&line));
    }
    strbuf_release(&line);
    if (len < payload.len)
        pager_printf(pager, ROLE_DIM, MSG_HEX_CUT, text_count((int64_t)len, shown),
                     text_count((int64_t)payload.len, all));
}

// Where the walk is: for each level the length of the path so far, and the index within an array (-1: an
// object).
struct walk {
    struct strbuf path;
    size_t lengths[JSON_DEPTH + 1];
    int64_t index[JSON_DEPTH + 1];
    size_t bytes; // of the lines made so far
};

static void
step_into(struct walk *walk, int depth)
{
    assert(depth >= 0 && depth <= JSON_DEPTH);
    walk->path.len = walk->lengths[depth];
    if (walk->index[depth] >= 0)
        strbuf_printf(&walk->path, "[%lld]", (long long)walk->index[depth]);
}

static void
tree_line(struct pager *pager, struct walk *walk, struct bytes value, enum json_kind kind)
{
    struct strbuf line = {0};
    strbuf_add(&line, strbuf_bytes(&walk->path));
    struct canvas_span spans[2] = {{.from = 0, .len = line.len, .role = ROLE_JSON_KEY}};
    strbuf_add_text(&line, "  ");
    spans[1] = (struct canvas_span){.from = line.len, .len = value.len, .role = token_role(kind)};
    strbuf_add(&line, value);
    pager_spans(pager, ROLE_TEXT, strbuf_bytes(&line), spans, 2);
    walk->bytes += line.len;
    strbuf_release(&line);
}

// One line a value, with the path that a filter or a recipe would name it by.
static void
tree(struct pager *pager, struct bytes payload)
{
    struct json_scan scan;
    json_begin(&scan, payload);
    struct walk *walk = alloc_bytes(sizeof *walk);
    strbuf_add_text(&walk->path, "$");
    walk->lengths[0] = 1;
    walk->index[0] = -1;
    enum json_kind last = JSON_END;
    for (struct json_token token = json_next(&scan); token.kind != JSON_END; token = json_next(&scan)) {
        if (token.kind == JSON_ERROR) {
            pager_printf(pager, ROLE_STATUS_WARN, MSG_NOT_JSON, scan.expected);
            pager_line(pager, ROLE_JSON_ERROR, json_bytes(&scan, token));
            break;
        }
        if (walk->bytes > TREE_LIMIT) {
            pager_printf(pager, ROLE_STATUS_WARN, MSG_TREE_CUT);
            break;
        }
        struct bytes text = json_bytes(&scan, token);
        int depth = token.depth;
        if (token.kind == JSON_COMMA && walk->index[depth] >= 0) {
            walk->index[depth]++;
        } else if (token.kind == JSON_NAME) {
            walk->path.len = walk->lengths[depth];
            json_path_add_name(text, &walk->path);
        } else if (is_begin(token.kind)) {
            if (walk->index[depth] >= 0 || depth == 0)
                step_into(walk, depth);
            walk->lengths[depth + 1] = walk->path.len;
            walk->index[depth + 1] = token.kind == JSON_ARRAY_BEGIN ? 0 : -1;
        } else if (is_end(token.kind) && is_begin(last)) {
            tree_line(pager, walk, token.kind == JSON_ARRAY_END ? BYTES("[]") : BYTES("{}"), JSON_COMMA);
        } else if (token.kind >= JSON_STRING) {
            if (walk->index[depth] >= 0)
                step_into(walk, depth);
            tree_line(pager, walk, text, token.kind);
        }
        last = token.kind;
    }
    strbuf_release(&walk->path);
    free(walk);
}

void
payload_lines(struct pager *pager, struct bytes payload, enum payload_form form)
{
    struct err err = {0};
    if ((form == PAYLOAD_PRETTY || form == PAYLOAD_TREE) && !json_fits(payload, &err)) {
        pager_printf(pager, ROLE_STATUS_WARN, MSG_SHOWN_RAW, err.text);
        form = PAYLOAD_AS_IS;
    }
    switch (form) {
    case PAYLOAD_PRETTY:
        pretty(pager, payload);
        break;
    case PAYLOAD_AS_IS:
        pager_line(pager, ROLE_TEXT, payload);
        break;
    case PAYLOAD_HEX:
        hexadecimal(pager, payload);
        break;
    case PAYLOAD_TREE:
        tree(pager, payload);
        break;
    }
}
