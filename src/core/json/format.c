// New white space around unchanged tokens.
#include "core/json/json.h"

#include <string.h>

enum { FORMAT_ROOM = 4096, SHORT_TOKEN = 32 };

// What is written is collected here, because most tokens are a few bytes.
struct format_writer {
    struct strbuf *out;
    size_t len;
    char bytes[FORMAT_ROOM];
};

static void
format_flush(struct format_writer *writer)
{
    strbuf_add(writer->out, (struct bytes){writer->bytes, writer->len});
    writer->len = 0;
}

// There must be room for SHORT_TOKEN bytes and one white space, of any depth, after each flush.
static void
format_room(struct format_writer *writer)
{
    if (writer->len + SHORT_TOKEN + 2 * JSON_INDENTED + 2 > sizeof writer->bytes)
        format_flush(writer);
}

static void
format_add_token(struct format_writer *writer, struct bytes text, struct json_token token)
{
    if (token.len > SHORT_TOKEN) {
        format_flush(writer);
        strbuf_add(writer->out, bytes_slice(text, token.from, token.len));
        return;
    }
    // A copy of a fixed length is several times as quick; what it takes too much is overwritten.
    if (text.len - token.from >= SHORT_TOKEN)
        memcpy(writer->bytes + writer->len, text.data + token.from, SHORT_TOKEN);
    else
        memcpy(writer->bytes + writer->len, text.data + token.from, token.len);
    writer->len += token.len;
}

static void
format_new_line(struct format_writer *writer, int depth)
{
    size_t blanks = 2 * (size_t)(depth < JSON_INDENTED ? depth : JSON_INDENTED);
    writer->bytes[writer->len] = '\n';
    memset(writer->bytes + writer->len + 1, ' ', blanks);
    writer->len += 1 + blanks;
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
    struct format_writer writer;
    writer.out = out;
    writer.len = 0;
    struct json_scan scan;
    json_begin(&scan, text);
    enum json_kind last = JSON_END;
    struct json_token token;
    while ((token = json_next(&scan)).kind != JSON_END && token.kind != JSON_ERROR) {
        // An empty container stays on its line.
        bool closes_empty = is_end(token.kind) && is_begin(last);
        bool breaks = is_begin(last) || last == JSON_COMMA || is_end(token.kind);
        format_room(&writer);
        if (with_space && breaks && !closes_empty)
            format_new_line(&writer, token.depth);
        format_add_token(&writer, text, token);
        if (with_space && token.kind == JSON_COLON)
            writer.bytes[writer.len++] = ' ';
        last = token.kind;
    }
    format_flush(&writer);
    if (token.kind == JSON_ERROR)
        strbuf_add(out, json_bytes(&scan, token));
    return token.kind == JSON_END;
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
