#include "core/json/json.h"

#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/string.h"

// The tokens that may come next.
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

static const char too_deep[] = "less nesting: it is more than 512 levels deep";

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
json_take(struct json_scan *scan, enum json_kind kind, size_t len)
{
    struct json_token token = {.kind = kind, .from = scan->at, .len = len, .depth = scan->depth};
    scan->at += len;
    return token;
}

static struct json_token
open_container(struct json_scan *scan, bool is_object)
{
    if (scan->depth == JSON_DEPTH)
        return fail(scan, scan->at, too_deep);
    struct json_token token = json_take(scan, is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN, 1);
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
    struct json_token token = json_take(scan, is_object ? JSON_OBJECT_END : JSON_ARRAY_END, 1);
    after_value(scan);
    return token;
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
        if (c != '\\' && c < 0x80) {
            i++;
            continue;
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
        size_t escape = json_escape_length(bytes_slice(text, i, SIZE_MAX));
        if (escape == 0) {
            *expected = "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX";
            return 0;
        }
        i += escape;
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
    return len ? json_take(scan, kind, len) : fail(scan, bad, expected);
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
    struct json_token token = json_take(scan, JSON_NUMBER, at - scan->at);
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
            struct json_token token = json_take(scan, words[i].kind, strlen(words[i].word));
            after_value(scan);
            return token;
        }
    }
    if (scan->at == 0 && bytes_starts(scan->text, "\xEF\xBB\xBF"))
        return fail(scan, 0, "a value: an invisible byte order mark (EF BB BF) stands before it");
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
    const char *data = scan->text.data;
    size_t at = scan->at;
    while (at < scan->text.len &&
           (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r'))
        at++;
    scan->at = at;
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
        return json_take(scan, JSON_COLON, 1);
    case AT_COMMA_OR_END:
        if (c == (inside_object(scan) ? '}' : ']'))
            return close_container(scan);
        if (c != ',')
            return fail(scan, scan->at, expected_at_end(scan));
        scan->state = inside_object(scan) ? AT_NAME : AT_VALUE;
        return json_take(scan, JSON_COMMA, 1);
    default:
        return fail(scan, scan->at, "nothing more after the value");
    }
}

bool
json_find_fault(struct bytes text, struct json_fault *fault)
{
    struct json_scan scan;
    json_begin(&scan, text);
    struct json_token token;
    size_t tokens = 0;
    for (; (token = json_next(&scan)).kind != JSON_END && token.kind != JSON_ERROR; tokens++)
        ;
    *fault = (struct json_fault){.tokens = tokens};
    if (token.kind == JSON_END)
        return false;
    fault->at = token.from;
    fault->expected = scan.expected;
    fault->is_too_deep = scan.expected == too_deep;
    json_position(text, token.from, &fault->line, &fault->column);
    return true;
}

bool
json_check(struct bytes text, struct err *err)
{
    struct json_fault fault;
    if (!json_find_fault(text, &fault))
        return true;
    err_set(err, ERR_DATA, "this is not JSON: line %d, column %d: expected %s", fault.line, fault.column,
            fault.expected);
    if (err) {
        err->line = fault.line;
        err->column = fault.column;
    }
    return false;
}

bool
json_fits(struct bytes text, struct err *err)
{
    char is[TEXT_SHORT];
    char most[TEXT_SHORT];
    if (text.len > JSON_BYTES) {
        err_set(err, ERR_DATA, "this payload has %s; up to %s are taken apart as JSON",
                text_size(text.len, is), text_size(JSON_BYTES, most));
        return false;
    }
    struct json_scan scan;
    json_begin(&scan, text);
    for (int64_t count = 0; count < JSON_TOKENS; count++) {
        enum json_kind kind = json_next(&scan).kind;
        if (kind == JSON_END || kind == JSON_ERROR)
            return true;
    }
    err_set(err, ERR_DATA, "this payload has more than %s JSON tokens", text_count(JSON_TOKENS, most));
    return false;
}
