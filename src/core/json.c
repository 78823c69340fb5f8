#include "core/json.h"

#include <string.h>
#include "base/utf8.h"

// What may come next.
enum state {
    AT_VALUE,
    AT_VALUE_OR_END,
    AT_NAME,
    AT_NAME_OR_END,
    AT_COLON,
    AT_COMMA_OR_END,
    AT_DONE,
    AT_FAILED
};

void
json_begin(struct json_scan *scan, struct bytes text)
{
    *scan = (struct json_scan){.text = text, .state = AT_VALUE};
}

struct bytes
json_bytes(const struct json_scan *scan, struct json_token token)
{
    return bytes_slice(scan->text, token.from, token.len);
}

static bool
inside_object(const struct json_scan *scan)
{
    int level = scan->depth - 1;
    return level >= 0 && (scan->in_object[level / 8] >> (level % 8) & 1);
}

static void
after_value(struct json_scan *scan)
{
    scan->state = scan->depth ? AT_COMMA_OR_END : AT_DONE;
}

static struct json_token
fail(struct json_scan *scan, size_t at, const char *expected)
{
    scan->state = AT_FAILED;
    scan->expected = expected;
    scan->at = at;
    return (struct json_token){
        .kind = JSON_ERROR, .from = at, .len = scan->text.len - at, .depth = scan->depth};
}

static struct json_token
take(struct json_scan *scan, enum json_kind kind, size_t len)
{
    struct json_token token = {.kind = kind, .from = scan->at, .len = len, .depth = scan->depth};
    scan->at += len;
    return token;
}

static struct json_token
open_container(struct json_scan *scan, bool is_object)
{
    if (scan->depth == JSON_DEPTH)
        return fail(scan, scan->at, "less nesting: it is more than 1024 levels deep");
    struct json_token token = take(scan, is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN, 1);
    int level = scan->depth++;
    unsigned char bit = (unsigned char)(1u << (level % 8));
    if (is_object)
        scan->in_object[level / 8] = (unsigned char)(scan->in_object[level / 8] | bit);
    else
        scan->in_object[level / 8] = (unsigned char)(scan->in_object[level / 8] & ~bit);
    scan->state = is_object ? AT_NAME_OR_END : AT_VALUE_OR_END;
    return token;
}

static struct json_token
close_container(struct json_scan *scan)
{
    bool is_object = inside_object(scan);
    scan->depth--;
    struct json_token token = take(scan, is_object ? JSON_OBJECT_END : JSON_ARRAY_END, 1);
    after_value(scan);
    return token;
}

static bool
is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The length of the string that begins at `at`, or 0: *bad is where it is wrong, *expected what belongs
// there.
static size_t
string_length(struct bytes text, size_t at, size_t *bad, const char **expected)
{
    for (size_t i = at + 1; i < text.len;) {
        unsigned char c = (unsigned char)text.data[i];
        *bad = i;
        if (c == '"')
            return i + 1 - at;
        if (c < 0x20) {
            *expected = "an escape such as \\n: a control character cannot stand in a string";
            return 0;
        }
        if (c != '\\') {
            uint32_t point;
            i += utf8_decode(text, i, &point);
            if (point == UTF8_INVALID) {
                *expected = "UTF-8";
                return 0;
            }
            continue;
        }
        char escape = i + 1 < text.len ? text.data[i + 1] : '\0';
        bool is_short = escape && strchr("\"\\/bfnrt", escape);
        bool is_long = escape == 'u' && i + 5 < text.len && is_hex(text.data[i + 2]) &&
                       is_hex(text.data[i + 3]) && is_hex(text.data[i + 4]) && is_hex(text.data[i + 5]);
        if (!is_short && !is_long) {
            *expected = "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX";
            return 0;
        }
        i += is_long ? 6 : 2;
    }
    *bad = text.len;
    *expected = "the quote that ends the string";
    return 0;
}

static struct json_token
take_string(struct json_scan *scan, enum json_kind kind)
{
    size_t bad = scan->at;
    const char *expected = NULL;
    size_t len = string_length(scan->text, scan->at, &bad, &expected);
    return len ? take(scan, kind, len) : fail(scan, bad, expected);
}

static size_t
digits(struct bytes text, size_t at)
{
    size_t from = at;
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at - from;
}

static struct json_token
take_number(struct json_scan *scan)
{
    struct bytes text = scan->text;
    size_t at = scan->at;
    at += text.data[at] == '-';
    size_t whole = digits(text, at);
    if (whole == 0)
        return fail(scan, at, "a digit");
    if (whole > 1 && text.data[at] == '0')
        return fail(scan, at + 1, "no digit after a leading 0");
    at += whole;
    if (at < text.len && text.data[at] == '.') {
        size_t fraction = digits(text, at + 1);
        if (fraction == 0)
            return fail(scan, at + 1, "a digit after the point");
        at += 1 + fraction;
    }
    if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        if (at < text.len && (text.data[at] == '+' || text.data[at] == '-'))
            at++;
        size_t exponent = digits(text, at);
        if (exponent == 0)
            return fail(scan, at, "a digit of the exponent");
        at += exponent;
    }
    struct json_token token = take(scan, JSON_NUMBER, at - scan->at);
    after_value(scan);
    return token;
}

static struct json_token
take_value(struct json_scan *scan)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};

    char c = scan->text.data[scan->at];
    if (c == '{' || c == '[')
        return open_container(scan, c == '{');
    if (c == '-' || (c >= '0' && c <= '9'))
        return take_number(scan);
    if (c == '"') {
        struct json_token token = take_string(scan, JSON_STRING);
        if (token.kind == JSON_STRING)
            after_value(scan);
        return token;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (bytes_starts(bytes_slice(scan->text, scan->at, SIZE_MAX), words[i].word)) {
            struct json_token token = take(scan, words[i].kind, strlen(words[i].word));
            after_value(scan);
            return token;
        }
    }
    return fail(scan, scan->at, "a value");
}

static struct json_token
take_name(struct json_scan *scan, const char *expected)
{
    if (scan->text.data[scan->at] != '"')
        return fail(scan, scan->at, expected);
    struct json_token token = take_string(scan, JSON_NAME);
    if (token.kind == JSON_NAME)
        scan->state = AT_COLON;
    return token;
}

static void
skip_space(struct json_scan *scan)
{
    while (scan->at < scan->text.len && memchr(" \t\r\n", scan->text.data[scan->at], 4))
        scan->at++;
}

static const char *
expected_at_end(const struct json_scan *scan)
{
    switch (scan->state) {
    case AT_NAME:
    case AT_NAME_OR_END:
        return "a name in quotes";
    case AT_COLON:
        return "a colon";
    case AT_COMMA_OR_END:
        return inside_object(scan) ? "a comma or }" : "a comma or ]";
    default:
        return "a value";
    }
}

struct json_token
json_next(struct json_scan *scan)
{
    if (scan->state == AT_FAILED)
        return fail(scan, scan->at, scan->expected);
    skip_space(scan);
    if (scan->at >= scan->text.len) {
        if (scan->state == AT_DONE)
            return (struct json_token){.kind = JSON_END, .from = scan->text.len};
        return fail(scan, scan->text.len, expected_at_end(scan));
    }

    char c = scan->text.data[scan->at];
    switch (scan->state) {
    case AT_VALUE:
        return take_value(scan);
    case AT_VALUE_OR_END:
        return c == ']' ? close_container(scan) : take_value(scan);
    case AT_NAME:
        return take_name(scan, "a name in quotes");
    case AT_NAME_OR_END:
        return c == '}' ? close_container(scan) : take_name(scan, "a name in quotes, or }");
    case AT_COLON:
        if (c != ':')
            return fail(scan, scan->at, "a colon");
        scan->state = AT_VALUE;
        return take(scan, JSON_COLON, 1);
    case AT_COMMA_OR_END:
        if (c == (inside_object(scan) ? '}' : ']'))
            return close_container(scan);
        if (c != ',')
            return fail(scan, scan->at, expected_at_end(scan));
        scan->state = inside_object(scan) ? AT_NAME : AT_VALUE;
        return take(scan, JSON_COMMA, 1);
    default:
        return fail(scan, scan->at, "nothing more after the value");
    }
}

void
json_position(struct bytes text, size_t at, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at && i < text.len;) {
        uint32_t point;
        i += utf8_decode(text, i, &point);
        if (point == '\n') {
            (*line)++;
            *column = 1;
        } else {
            (*column)++;
        }
    }
}

bool
json_check(struct bytes text, struct err *err)
{
    struct json_scan scan;
    json_begin(&scan, text);
    for (;;) {
        struct json_token token = json_next(&scan);
        if (token.kind == JSON_END)
            return true;
        if (token.kind != JSON_ERROR)
            continue;
        int line;
        int column;
        json_position(text, token.from, &line, &column);
        err_set(err, ERR_DATA, "this is not JSON: line %d, column %d: expected %s", line, column,
                scan.expected);
        if (err) {
            err->line = line;
            err->column = column;
        }
        return false;
    }
}

static void
new_line(struct strbuf *out, int depth)
{
    strbuf_add_char(out, '\n');
    for (int i = 0; i < depth; i++)
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

bool
json_decode(struct bytes token, struct strbuf *out)
{
    size_t bad;
    const char *expected;
    if (token.len < 2 || token.data[0] != '"' || string_length(token, 0, &bad, &expected) != token.len)
        return false;

    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    for (size_t at = 1; at < token.len - 1;) {
        if (token.data[at] != '\\') {
            strbuf_add_char(out, token.data[at++]);
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
json_splice(struct bytes text, size_t from, size_t len, struct bytes b, struct strbuf *out)
{
    strbuf_add(out, bytes_slice(text, 0, from));
    strbuf_add(out, b);
    strbuf_add(out, bytes_slice(text, from + len, SIZE_MAX));
}
