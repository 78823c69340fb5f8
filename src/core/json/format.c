// New white space around unchanged tokens.
#include "core/json/json.h"

static void
new_line(struct strbuf *out, int depth)
{
    strbuf_add_char(out, '\n');
    for (int i = 0; i < depth && i < JSON_INDENTED; i++)
        strbuf_add_text(out, "  ");
}

static bool
is_end(enum json_kind kind)
{
    return kind == JSON_OBJECT_END || kind == JSON_ARRAY_END;
}

static bool
is_begin(enum json_kind kind)
{
    return kind == JSON_OBJECT_BEGIN || kind == JSON_ARRAY_BEGIN;
}

static bool
rewrite(struct bytes text, bool with_space, struct strbuf *out)
{
    struct json_scan scan;
    json_begin(&scan, text);
    enum json_kind last = JSON_END;
    for (;;) {
        struct json_token token = json_next(&scan);
        if (token.kind == JSON_END)
            return true;
        // An empty container stays on its line.
        bool closes_empty = is_end(token.kind) && is_begin(last);
        if (with_space && token.kind != JSON_ERROR) {
            if ((is_begin(last) || last == JSON_COMMA) && !closes_empty)
                new_line(out, token.depth);
            else if (is_end(token.kind) && !closes_empty)
                new_line(out, token.depth);
        }
        strbuf_add(out, json_bytes(&scan, token));
        if (with_space && token.kind == JSON_COLON)
            strbuf_add_char(out, ' ');
        if (token.kind == JSON_ERROR)
            return false;
        last = token.kind;
    }
}

bool
json_format(struct bytes text, struct strbuf *out)
{
    return rewrite(text, true, out);
}

bool
json_minify(struct bytes text, struct strbuf *out)
{
    return rewrite(text, false, out);
}
