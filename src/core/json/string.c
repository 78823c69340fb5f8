// The content of strings: decodes and writes escapes.
#include <string.h>
#include "base/utf8.h"
#include "core/json/string.h"

static const char escape_letters[] = "\"\\/bfnrt";
static const char escape_points[] = "\"\\/\b\f\n\r\t";

static bool
is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

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

size_t
json_escape_length(struct bytes at)
{
    if (at.len < 2)
        return 0;
    if (at.data[1] != 'u')
        return at.data[1] && strchr(escape_letters, at.data[1]) ? 2 : 0;
    if (at.len < 6)
        return 0;
    return is_hex(at.data[2]) && is_hex(at.data[3]) && is_hex(at.data[4]) && is_hex(at.data[5]) ? 6 : 0;
}

char
json_escape_letter(uint32_t point)
{
    const char *known = point && point < 0x80 ? strchr(escape_points, (int)point) : NULL;
    return known ? escape_letters[known - escape_points] : '\0';
}

size_t
json_escape_point(struct bytes at, uint32_t *point)
{
    if (at.data[1] != 'u') {
        *point = (unsigned char)escape_points[strchr(escape_letters, at.data[1]) - escape_letters];
        return 2;
    }
    *point = hex4(at.data + 2);
    if (*point < 0xD800 || *point > 0xDFFF)
        return 6;
    struct bytes next = bytes_slice(at, 6, SIZE_MAX);
    bool has_low = *point < 0xDC00 && next.len && next.data[0] == '\\' && json_escape_length(next) == 6;
    uint32_t low = has_low ? hex4(next.data + 2) : 0;
    if (low < 0xDC00 || low > 0xDFFF) {
        *point = 0xFFFD;
        return 6;
    }
    *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
    return 12;
}

static bool
is_string(struct bytes token)
{
    struct json_scan scan;
    json_begin(&scan, token);
    struct json_token first = json_next(&scan);
    return first.kind == JSON_STRING && first.len == token.len;
}

// places may be NULL.
static void
decode(struct bytes token, struct strbuf *out, size_t *places)
{
    size_t first = out->len;
    for (size_t at = 1; at < token.len - 1;) {
        size_t from = at;
        size_t made = out->len;
        bool is_escape = token.data[at] == '\\';
        if (is_escape) {
            uint32_t point;
            char encoded[4];
            at += json_escape_point(bytes_slice(token, at, SIZE_MAX), &point);
            strbuf_add(out, (struct bytes){encoded, utf8_encode(point, encoded)});
        } else {
            const char *escape = memchr(token.data + at, '\\', token.len - 1 - at);
            at = escape ? (size_t)(escape - token.data) : token.len - 1;
            strbuf_add(out, bytes_slice(token, from, at - from));
        }
        for (size_t i = made; places && i < out->len; i++)
            places[i - first] = is_escape ? from : from + (i - made);
    }
    if (places)
        places[out->len - first] = token.len - 1;
}

bool
json_decode(struct bytes token, struct strbuf *out)
{
    if (!is_string(token))
        return false;
    decode(token, out, NULL);
    return true;
}

bool
json_decode_places(struct bytes token, struct strbuf *out, size_t *places)
{
    if (!is_string(token))
        return false;
    decode(token, out, places);
    return true;
}

void
json_quote(struct bytes content, struct strbuf *out)
{
    strbuf_add_char(out, '"');
    for (size_t at = 0; at < content.len;) {
        uint32_t point;
        size_t len = utf8_decode(content, at, &point);
        char letter = point == '/' ? '\0' : json_escape_letter(point);
        if (point == UTF8_INVALID) {
            strbuf_add(out, BYTES("\xEF\xBF\xBD"));
        } else if (letter) {
            strbuf_add_char(out, '\\');
            strbuf_add_char(out, letter);
        } else if (point < 0x20) {
            strbuf_printf(out, "\\u%04x", point);
        } else {
            strbuf_add(out, bytes_slice(content, at, len));
        }
        at += len;
    }
    strbuf_add_char(out, '"');
}
