#include "core/json/json.h"

#include <endian.h>
#include <string.h>
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

// What follows takes one token each: moves scan->at behind it and returns its kind, or fails.
// Inlined into next_kind, because a call a token is a seventh of the time that a text takes.

static enum json_kind
json_fail(struct json_scan *scan, size_t at, const char *expected)
{
    scan->state = AT_FAILED;
    scan->expected = expected;
    scan->at = at;
    return JSON_ERROR;
}

__attribute__((always_inline)) static inline enum json_kind
open_container(struct json_scan *scan, bool is_object)
{
    if (scan->depth == JSON_DEPTH)
        return json_fail(scan, scan->at, too_deep);
    scan->at++;
    int level = scan->depth++;
    unsigned char bit = (unsigned char)(1u << (level % 8));
    if (is_object)
        scan->in_object[level / 8] = (unsigned char)(scan->in_object[level / 8] | bit);
    else
        scan->in_object[level / 8] = (unsigned char)(scan->in_object[level / 8] & ~bit);
    scan->state = is_object ? AT_NAME_OR_END : AT_VALUE_OR_END;
    return is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
}

__attribute__((always_inline)) static inline enum json_kind
close_container(struct json_scan *scan)
{
    bool is_object = inside_object(scan);
    scan->depth--;
    scan->at++;
    after_value(scan);
    return is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

// Bytes of strings that need no look: neither controls, quote, backslash nor beyond ASCII.
static bool
json_is_plain(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

// How many of eight bytes are plain, up to the first that is not. The top bit of each byte of `special`
// tells; where a subtraction borrows from the next byte, an earlier one is special already.
static size_t
count_plain(const char *eight)
{
    static const uint64_t ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, eight, sizeof word);
    word = le64toh(word); // the first byte lowest
    uint64_t quotes = word ^ ones * '"';
    uint64_t backslashes = word ^ ones * '\\';
    uint64_t special = ((word - ones * 0x20) | (quotes - ones) | (backslashes - ones) | word) & ones * 0x80;
    return special ? (size_t)__builtin_ctzll(special) / 8 : 8;
}

// The first byte at or behind `at` that is not plain, or the end of the text.
__attribute__((always_inline)) static inline size_t
skip_plain(struct bytes text, size_t at)
{
    while (text.len - at >= 8) {
        size_t count = count_plain(text.data + at);
        at += count;
        if (count < 8)
            return at;
    }
    while (at < text.len && json_is_plain(text.data[at]))
        at++;
    return at;
}

// Goes on in a string at a byte that is not plain, to the quote that ends it. SIZE_MAX: failed. Apart,
// because most strings end with their plain bytes.
__attribute__((noinline)) static size_t
string_end(struct json_scan *scan, size_t at)
{
    struct bytes text = scan->text;
    while (at < text.len) {
        unsigned char c = (unsigned char)text.data[at];
        if (json_is_plain(text.data[at])) {
            at = skip_plain(text, at);
        } else if (c == '"') {
            return at;
        } else if (c == '\\') {
            size_t len = json_escape_length(bytes_slice(text, at, SIZE_MAX));
            if (len == 0) {
                json_fail(scan, at, "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
                return SIZE_MAX;
            }
            at += len;
        } else if (c < 0x20) {
            json_fail(scan, at, "an escape such as \\n: a control character is not allowed in a string");
            return SIZE_MAX;
        } else {
            uint32_t point;
            size_t len = utf8_decode(text, at, &point);
            if (point == UTF8_INVALID) {
                json_fail(scan, at, "UTF-8");
                return SIZE_MAX;
            }
            at += len;
        }
    }
    json_fail(scan, text.len, "the quote that ends the string");
    return SIZE_MAX;
}

__attribute__((always_inline)) static inline bool
json_take_string(struct json_scan *scan)
{
    size_t end = skip_plain(scan->text, scan->at + 1);
    if (end == scan->text.len || scan->text.data[end] != '"')
        end = string_end(scan, end);
    if (end == SIZE_MAX)
        return false;
    scan->at = end + 1;
    return true;
}

static size_t
digits(struct bytes text, size_t at)
{
    size_t from = at;
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at - from;
}

// The end of the number at `at`. Where it is none, *expected says what was, and the result is where.
__attribute__((always_inline)) static inline size_t
number_end(struct bytes text, size_t at, const char **expected)
{
    at += text.data[at] == '-';
    size_t whole = digits(text, at);
    if (whole == 0) {
        *expected = "a digit";
        return at;
    }
    if (whole > 1 && text.data[at] == '0') {
        *expected = "no digit after a leading 0";
        return at + 1;
    }
    at += whole;
    if (at < text.len && text.data[at] == '.') {
        size_t fraction = digits(text, at + 1);
        if (fraction == 0) {
            *expected = "a digit after the point";
            return at + 1;
        }
        at += 1 + fraction;
    }
    if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        if (at < text.len && (text.data[at] == '+' || text.data[at] == '-'))
            at++;
        size_t exponent = digits(text, at);
        if (exponent == 0)
            *expected = "a digit of the exponent";
        at += exponent;
    }
    return at;
}

__attribute__((always_inline)) static inline enum json_kind
json_take_number(struct json_scan *scan)
{
    const char *expected = NULL;
    size_t end = number_end(scan->text, scan->at, &expected);
    if (expected)
        return json_fail(scan, end, expected);
    scan->at = end;
    after_value(scan);
    return JSON_NUMBER;
}

static enum json_kind
json_take_word(struct json_scan *scan, struct bytes word, enum json_kind kind)
{
    if (!bytes_equal(bytes_slice(scan->text, scan->at, word.len), word))
        return json_fail(scan, scan->at, "a value");
    scan->at += word.len;
    after_value(scan);
    return kind;
}

__attribute__((always_inline)) static inline enum json_kind
json_take_value(struct json_scan *scan, char c)
{
    switch (c) {
    case '"':
        if (!json_take_string(scan))
            return JSON_ERROR;
        after_value(scan);
        return JSON_STRING;
    case '{':
    case '[':
        return open_container(scan, c == '{');
    case 't':
        return json_take_word(scan, BYTES("true"), JSON_TRUE);
    case 'f':
        return json_take_word(scan, BYTES("false"), JSON_FALSE);
    case 'n':
        return json_take_word(scan, BYTES("null"), JSON_NULL);
    default:
        break;
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return json_take_number(scan);
    if (scan->at == 0 && bytes_starts(scan->text, "\xEF\xBB\xBF"))
        return json_fail(scan, 0, "a value: an invisible byte order mark (EF BB BF) precedes it");
    return json_fail(scan, scan->at, "a value");
}

__attribute__((always_inline)) static inline enum json_kind
json_take_name(struct json_scan *scan, char c, const char *expected)
{
    if (c != '"')
        return json_fail(scan, scan->at, expected);
    if (!json_take_string(scan))
        return JSON_ERROR;
    scan->state = AT_COLON;
    return JSON_NAME;
}

__attribute__((always_inline)) static inline enum json_kind
json_take_mark(struct json_scan *scan, enum json_kind kind, int state)
{
    scan->at++;
    scan->state = state;
    return kind;
}

__attribute__((always_inline)) static inline size_t
space_end(struct bytes text, size_t at)
{
    const char *data = text.data;
    while (at < text.len && (unsigned char)data[at] <= ' ' &&
           (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r'))
        at++;
    return at;
}

__attribute__((always_inline)) static inline void
skip_space(struct json_scan *scan)
{
    scan->at = space_end(scan->text, scan->at);
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

__attribute__((always_inline)) static inline enum json_kind
next_kind(struct json_scan *scan)
{
    if (scan->at >= scan->text.len) {
        if (scan->state == AT_DONE)
            return JSON_END;
        return json_fail(scan, scan->text.len, expected_at_end(scan));
    }
    char c = scan->text.data[scan->at];
    switch (scan->state) {
    case AT_VALUE:
        return json_take_value(scan, c);
    case AT_VALUE_OR_END:
        return c == ']' ? close_container(scan) : json_take_value(scan, c);
    case AT_NAME:
        return json_take_name(scan, c, "a name in quotes");
    case AT_NAME_OR_END:
        return c == '}' ? close_container(scan) : json_take_name(scan, c, "a name in quotes, or }");
    case AT_COLON:
        return c == ':' ? json_take_mark(scan, JSON_COLON, AT_VALUE) : json_fail(scan, scan->at, "a colon");
    case AT_COMMA_OR_END:
        if (c == ',')
            return json_take_mark(scan, JSON_COMMA, inside_object(scan) ? AT_NAME : AT_VALUE);
        if (c == (inside_object(scan) ? '}' : ']'))
            return close_container(scan);
        return json_fail(scan, scan->at, expected_at_end(scan));
    default:
        return json_fail(scan, scan->at, "nothing more after the value");
    }
}

void
json_read(struct json_scan *scan, struct json_token *token)
{
    enum json_kind kind = JSON_ERROR;
    int depth = scan->depth;
    size_t from = scan->at;
    if (scan->state != AT_FAILED) {
        skip_space(scan);
        from = scan->at;
        kind = next_kind(scan);
    }
    if (kind == JSON_OBJECT_END || kind == JSON_ARRAY_END)
        depth--;
    token->kind = kind;
    token->depth = depth;
    token->from = kind == JSON_ERROR ? scan->at : from;
    token->len = (kind == JSON_ERROR ? scan->text.len : scan->at) - token->from;
}

// The end of the string at `at`, if all its bytes are plain; else 0.
__attribute__((always_inline)) static inline size_t
plain_string_end(struct bytes text, size_t at)
{
    size_t end = skip_plain(text, at + 1);
    return end < text.len && text.data[end] == '"' ? end + 1 : 0;
}

// The end of the value at `at`, if it is a plain string, a number or a word; else 0.
__attribute__((always_inline)) static inline size_t
plain_value_end(struct bytes text, size_t at)
{
    if (at >= text.len)
        return 0;
    char c = text.data[at];
    if (c == '"')
        return plain_string_end(text, at);
    if (c == '-' || (c >= '0' && c <= '9')) {
        const char *expected = NULL;
        size_t end = number_end(text, at, &expected);
        return expected ? 0 : end;
    }
    struct bytes word = c == 't' ? BYTES("true") : c == 'f' ? BYTES("false") : BYTES("null");
    return bytes_equal(bytes_slice(text, at, word.len), word) ? at + word.len : 0;
}

// A member's name at `at` and its colon, if all is plain; else 0. The result is where the value may begin.
__attribute__((always_inline)) static inline size_t
plain_name_end(struct bytes text, size_t at, size_t *name_end)
{
    if (at >= text.len || text.data[at] != '"')
        return 0;
    *name_end = plain_string_end(text, at);
    if (*name_end == 0)
        return 0;
    size_t colon = space_end(text, *name_end);
    return colon < text.len && text.data[colon] == ':' ? space_end(text, colon + 1) : 0;
}

bool
json_pass_members(struct json_scan *scan, uint64_t lengths, struct json_token *name)
{
    struct bytes text = scan->text;
    size_t from = scan->at, at = space_end(text, from);
    if (scan->state == AT_COMMA_OR_END) {
        if (!inside_object(scan) || at >= text.len || text.data[at] != ',')
            return false;
        scan->state = AT_NAME;
        from = at + 1;
        at = space_end(text, from);
    } else if (scan->state != AT_NAME && scan->state != AT_NAME_OR_END) {
        return false;
    }
    for (;;) {
        size_t end, value = plain_name_end(text, at, &end);
        if (value == 0)
            break;
        if (lengths & json_length_bit(end - at - 2)) {
            *name = (struct json_token){.kind = JSON_NAME, .from = at, .len = end - at, .depth = scan->depth};
            scan->at = value;
            scan->state = AT_VALUE;
            return true;
        }
        end = plain_value_end(text, value);
        if (end == 0)
            break;
        at = space_end(text, end);
        if (at >= text.len || text.data[at] != ',') {
            // What follows says whether that was all of the value.
            from = at;
            scan->state = AT_COMMA_OR_END;
            break;
        }
        scan->state = AT_NAME;
        from = at + 1;
        at = space_end(text, from);
    }
    scan->at = from;
    return false;
}

// The elements that are next, in the same way.
static void
pass_elements(struct json_scan *scan)
{
    struct bytes text = scan->text;
    if (inside_object(scan) || (scan->state != AT_VALUE && scan->state != AT_VALUE_OR_END))
        return;
    for (;;) {
        size_t end = plain_value_end(text, space_end(text, scan->at));
        if (end == 0)
            return;
        size_t at = space_end(text, end);
        if (at >= text.len || text.data[at] != ',') {
            scan->at = at;
            scan->state = AT_COMMA_OR_END;
            return;
        }
        scan->at = at + 1;
        scan->state = AT_VALUE;
    }
}

void
json_pass(struct json_scan *scan)
{
    int depth = scan->depth;
    bool is_value;
    enum json_kind kind;
    do {
        skip_space(scan);
        is_value = scan->state != AT_COLON;
        kind = next_kind(scan);
        if (scan->depth > depth && kind != JSON_ERROR) {
            struct json_token none;
            (void)json_pass_members(scan, 0, &none);
            pass_elements(scan);
        }
    } while ((!is_value || scan->depth > depth) && kind != JSON_ERROR);
}

struct json_token
json_next(struct json_scan *scan)
{
    struct json_token token;
    json_read(scan, &token);
    return token;
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
