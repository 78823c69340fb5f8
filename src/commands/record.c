#include "commands/record.h"

#include <string.h>
#include "base/utf8.h"

// The cursor. `at` is never beyond `len`; a missing byte reads as 0.
struct cursor {
    struct bytes text;
    size_t at;
};

static char
peek(const struct cursor *cursor)
{
    return cursor->at < cursor->text.len ? cursor->text.data[cursor->at] : '\0';
}

static bool
command_record_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->text.len && command_record_is_blank(cursor->text.data[cursor->at]))
        cursor->at++;
}

// Moves past the string at the cursor; *inner is the text between its quotes, escapes included.
static bool
skip_string(struct cursor *cursor, struct bytes *inner, bool *has_escapes)
{
    size_t from = ++cursor->at;
    *has_escapes = false;
    for (; cursor->at < cursor->text.len; cursor->at++) {
        char c = cursor->text.data[cursor->at];
        if (c == '"') {
            *inner = bytes_slice(cursor->text, from, cursor->at - from);
            cursor->at++;
            return true;
        }
        if (c == '\\') {
            *has_escapes = true;
            cursor->at++;
        }
    }
    cursor->at = cursor->text.len;
    return false;
}

// Past any value that is no string: a word or number, or brackets up to the one that closes them, however
// deep.
static bool
skip_value(struct cursor *cursor)
{
    struct bytes inner;
    bool has_escapes = false;
    size_t depth = 0, from = cursor->at;
    while (cursor->at < cursor->text.len) {
        char c = cursor->text.data[cursor->at];
        if (c == '"') {
            if (!skip_string(cursor, &inner, &has_escapes))
                return false;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        cursor->at++;
    }
    return depth == 0 && cursor->at > from;
}

static int
hex4(struct bytes text, size_t at)
{
    int value = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = i < text.len ? text.data[i] : 'x';
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

// \uXXXX at `at` (of the u), a pair of surrogates taken together; what is no character becomes U+FFFD.
// Returns its length.
static size_t
decode_unicode(struct bytes text, size_t at, struct strbuf *out)
{
    int high = hex4(text, at + 1);
    uint32_t point = high < 0 ? 0xFFFD : (uint32_t)high;
    size_t len = high < 0 ? 1 : 5;
    if (high >= 0xD800 && high < 0xDC00 && at + 6 < text.len && text.data[at + 5] == '\\' &&
        text.data[at + 6] == 'u') {
        int low = hex4(text, at + 7);
        if (low >= 0xDC00 && low < 0xE000) {
            point = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
            len = 11;
        }
    }
    if (point >= 0xD800 && point < 0xE000)
        point = 0xFFFD;
    char encoded[4];
    strbuf_add(out, (struct bytes){encoded, utf8_encode(point, encoded)});
    return len;
}

static char
unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    default:
        return c;
    }
}

static struct bytes
decode(struct bytes text, struct strbuf *out)
{
    strbuf_reset(out);
    for (size_t at = 0; at < text.len;) {
        size_t escape = bytes_find(text, BYTES("\\"), at);
        size_t plain = (escape == SIZE_MAX ? text.len : escape) - at;
        strbuf_add(out, bytes_slice(text, at, plain));
        at += plain + 1;
        if (at >= text.len)
            break;
        if (text.data[at] == 'u') {
            at += decode_unicode(text, at, out);
            continue;
        }
        strbuf_add_char(out, unescaped(text.data[at]));
        at++;
    }
    return strbuf_bytes(out);
}

static bool
read_value(struct cursor *cursor, struct strbuf *buffer, struct bytes *value)
{
    bool has_escapes = false;
    size_t from = cursor->at;
    if (peek(cursor) == '"') {
        struct bytes inner;
        if (!skip_string(cursor, &inner, &has_escapes))
            return false;
        *value = has_escapes && buffer != NULL ? decode(inner, buffer) : inner;
        return true;
    }
    if (!skip_value(cursor))
        return false;
    struct bytes word = bytes_trim(bytes_slice(cursor->text, from, cursor->at - from));
    *value = bytes_equal_text(word, "null") ? BYTES_ABSENT : word;
    return true;
}

static bool
read_member(struct cursor *cursor, struct record_reader *reader, struct fingerprint_input *input)
{
    struct bytes name, ignored;
    bool has_escapes = false;
    if (peek(cursor) != '"' || !skip_string(cursor, &name, &has_escapes))
        return false;
    skip_blanks(cursor);
    if (peek(cursor) != ':')
        return false;
    cursor->at++;
    skip_blanks(cursor);
    if (bytes_equal_text(name, "error_message"))
        return read_value(cursor, &reader->message, &input->message);
    if (bytes_equal_text(name, "stack_trace"))
        return read_value(cursor, &reader->stack, &input->stack);
    if (bytes_equal_text(name, "error_class"))
        return read_value(cursor, &reader->error_class, &input->error_class);
    return read_value(cursor, NULL, &ignored);
}

static bool
read_members(struct cursor *cursor, struct record_reader *reader, struct fingerprint_input *input)
{
    skip_blanks(cursor);
    if (peek(cursor) != '{')
        return false;
    cursor->at++;
    skip_blanks(cursor);
    while (peek(cursor) != '}') {
        if (!read_member(cursor, reader, input))
            return false;
        skip_blanks(cursor);
        if (peek(cursor) == '}')
            break;
        if (peek(cursor) != ',')
            return false;
        cursor->at++;
        skip_blanks(cursor);
    }
    cursor->at++;
    skip_blanks(cursor);
    return cursor->at == cursor->text.len;
}

bool
record_read(struct record_reader *reader, struct bytes line, struct fingerprint_input *input, struct err *err)
{
    struct cursor cursor = {.text = line};
    *input = (struct fingerprint_input){0};
    if (read_members(&cursor, reader, input))
        return true;
    err_set(err, ERR_DATA, "column %zu: this is no JSON object with error_message, stack_trace, error_class",
            cursor.at + 1);
    return false;
}

void
record_release(struct record_reader *reader)
{
    strbuf_release(&reader->message);
    strbuf_release(&reader->stack);
    strbuf_release(&reader->error_class);
}
