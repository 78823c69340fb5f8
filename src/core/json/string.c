// The content of strings: decodes and writes escapes.
#include <string.h>
#include "base/utf8.h"
#include "core/json/json.h"

static uint32_t
hex4(const char *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

// The character of the \u escape at `at`; *used is its length, 12 for a pair of surrogates.
static uint32_t
escaped_point(struct bytes token, size_t at, size_t *used)
{
    uint32_t point = hex4(token.data + at + 2);
    *used = 6;
    if (point < 0xD800 || point > 0xDFFF)
        return point;
    bool has_low =
        point < 0xDC00 && at + 11 < token.len && token.data[at + 6] == '\\' && token.data[at + 7] == 'u';
    uint32_t low = has_low ? hex4(token.data + at + 8) : 0;
    if (low < 0xDC00 || low > 0xDFFF)
        return 0xFFFD;
    *used = 12;
    return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
}

static bool
is_string(struct bytes token)
{
    struct json_scan scan;
    json_begin(&scan, token);
    struct json_token first = json_next(&scan);
    return first.kind == JSON_STRING && first.len == token.len;
}

bool
json_decode(struct bytes token, struct strbuf *out)
{
    if (!is_string(token))
        return false;

    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    for (size_t at = 1; at < token.len - 1;) {
        if (token.data[at] != '\\') {
            const char *escape = memchr(token.data + at, '\\', token.len - 1 - at);
            size_t end = escape ? (size_t)(escape - token.data) : token.len - 1;
            strbuf_add(out, bytes_slice(token, at, end - at));
            at = end;
            continue;
        }
        char escape = token.data[at + 1];
        if (escape != 'u') {
            const char *known = strchr(from, escape);
            strbuf_add_char(out, known ? to[known - from] : escape);
            at += 2;
            continue;
        }
        size_t used;
        char encoded[4];
        uint32_t point = escaped_point(token, at, &used);
        strbuf_add(out, (struct bytes){encoded, utf8_encode(point, encoded)});
        at += used;
    }
    return true;
}

void
json_quote(struct bytes content, struct strbuf *out)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    strbuf_add_char(out, '"');
    for (size_t at = 0; at < content.len;) {
        uint32_t point;
        size_t len = utf8_decode(content, at, &point);
        const char *known = point && point < 0x80 ? strchr(from, (int)point) : NULL;
        if (point == UTF8_INVALID) {
            strbuf_add(out, BYTES("\xEF\xBF\xBD"));
        } else if (known) {
            strbuf_add_char(out, '\\');
            strbuf_add_char(out, to[known - from]);
        } else if (point < 0x20) {
            strbuf_printf(out, "\\u%04x", point);
        } else {
            strbuf_add(out, bytes_slice(content, at, len));
        }
        at += len;
    }
    strbuf_add_char(out, '"');
}
