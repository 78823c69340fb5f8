// What joins terms, and what is text. Error messages have brackets and the words or, and and not in them, so
// each of these joins only where a term is near; elsewhere it belongs to a regular expression.
#include "core/filter/reader.h"

#include <string.h>

struct bytes
filter_field_name(struct bytes text, size_t at)
{
    size_t end = at;
    while (end < text.len && ((text.data[end] >= 'a' && text.data[end] <= 'z') || text.data[end] == '-'))
        end++;
    bool is_name = end > at && end < text.len && text.data[end] == ':';
    return bytes_slice(text, at, is_name ? end - at : 0);
}

// Is a word inverted at `at`? `!=` is text.
static bool
begins_inverted(struct bytes text, size_t at)
{
    return at + 1 < text.len && text.data[at] == '!' && !filter_is_blank(text.data[at + 1]) &&
           !strchr("=!)", text.data[at + 1]);
}

// Does a term begin at `at`, without its `!`? A misspelt one too, which is refused later.
static bool
begins_term(struct bytes text, size_t at)
{
    struct bytes rest = bytes_slice(text, at, SIZE_MAX);
    struct bytes name = filter_field_name(text, at);
    enum filter_field field;
    return bytes_starts(rest, "$.") || bytes_starts(rest, "$[") ||
           (name.len && (filter_field_find(name, &field) || filter_field_near(name)));
}

bool
filter_is_expression(const struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    for (at++; at < text.len && text.data[at] != '/'; at++)
        if (text.data[at] == '\\')
            at++;
    return at < text.len && filter_ends_word(reader, at + 1);
}

// The end of a class of characters that begins at `at` and ends within its word; else `at`.
static size_t
class_end(struct bytes text, size_t at)
{
    size_t end = at + 1;
    while (end < text.len && !filter_is_blank(text.data[end]) && text.data[end] != ']')
        end++;
    return end < text.len && text.data[end] == ']' ? end : at;
}

size_t
filter_word_end(const struct filter_reader *reader, size_t at, int *own)
{
    struct bytes text = reader->text;
    for (; at < text.len && !filter_is_blank(text.data[at]); at++) {
        if (!reader->brackets)
            continue;
        char c = text.data[at];
        if (c == '\\' && at + 1 < text.len && !filter_is_blank(text.data[at + 1]))
            at++;
        else if (c == '[')
            at = class_end(text, at);
        else if (c == ')' && *own == 0)
            break;
        else
            *own += (c == '(') - (c == ')');
    }
    return at;
}

// Behind the closing quote of what begins at `at`.
static size_t
quoted_end(struct bytes text, size_t at)
{
    char open = text.data[at];
    for (at++; at < text.len && text.data[at] != open; at++)
        if (text.data[at] == '\\')
            at++;
    return at < text.len ? at + 1 : text.len;
}

// One pass; brackets within brackets are looked into as well.
bool
filter_is_bracket(struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    size_t from = at;
    int open = 0;
    bool begins = true;
    if (at >= text.len || text.data[at] != '(' || (at >= reader->plain_from && at < reader->plain_until))
        return false;
    while (at < text.len) {
        char c = text.data[at];
        if (begins && (begins_term(text, at) || begins_inverted(text, at)))
            return true;
        if (begins && c == '"') {
            at = quoted_end(text, at);
            begins = false;
            continue;
        }
        bool is_alone = at + 1 >= text.len || filter_is_blank(text.data[at + 1]);
        if (c == '\\' && !is_alone)
            at++;
        else if (c == '[')
            at = class_end(text, at);
        open += (c == '(') - (c == ')');
        begins = filter_is_blank(c) || (begins && (c == '(' || c == '!'));
        at++;
        if (open == 0)
            break;
    }
    reader->plain_from = from;
    reader->plain_until = at;
    return false;
}

bool
filter_has_term(struct bytes text)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "(%.*s)", BYTES_ARGS(text));
    struct filter_reader reader = {.text = strbuf_bytes(&line)};
    bool has_term = filter_is_bracket(&reader, 0);
    strbuf_release(&line);
    return has_term;
}

bool
filter_is_word(const struct filter_reader *reader, size_t at, const char *word)
{
    return bytes_starts(bytes_slice(reader->text, at, SIZE_MAX), word) &&
           filter_ends_word(reader, at + strlen(word));
}

static size_t
skip_blanks(struct bytes text, size_t at)
{
    while (at < text.len && filter_is_blank(text.data[at]))
        at++;
    return at;
}

// A term or a bracket, after its `!` where it has one.
static bool
begins_operand(struct filter_reader *reader, size_t at)
{
    at += at < reader->text.len && reader->text.data[at] == '!';
    return begins_term(reader->text, at) || filter_is_bracket(reader, at);
}

bool
filter_is_not(struct filter_reader *reader, size_t at, size_t *next)
{
    if (!filter_is_word(reader, at, "not"))
        return false;
    *next = skip_blanks(reader->text, at + 3);
    return begins_operand(reader, *next);
}

// The end of a value, where what is quoted in it may hold blanks.
static size_t
term_end(const struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    int own = 0;
    bool is_path = text.data[at] == '$';
    bool may_open = false;
    for (; at < text.len && !filter_is_blank(text.data[at]); at++) {
        char c = text.data[at];
        char next = at + 1 < text.len ? text.data[at + 1] : '\0';
        if (may_open && (c == '"' || (c == '/' && filter_is_expression(reader, at))))
            return quoted_end(text, at);
        may_open = c == ':' || c == '=' || c == '~';
        if (is_path && c == '[' && (next == '"' || next == '\''))
            at = quoted_end(text, at + 1) - 1;
        else if (c == ')' && reader->brackets && own == 0)
            break;
        else
            own += (c == '(') - (c == ')');
    }
    return at;
}

// Behind the bracket that closes the one at `at`, or the end of the line.
static size_t
bracket_end(struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    int open = 0;
    for (bool begins = true; at < text.len; at++) {
        char c = text.data[at];
        if (begins && c == '"') {
            at = quoted_end(text, at) - 1;
            begins = false;
            continue;
        }
        if (c == '\\' && at + 1 < text.len)
            at++;
        else if (c == '[')
            at = class_end(text, at);
        open += (c == '(') - (c == ')');
        if (open == 0)
            return at + 1;
        begins = filter_is_blank(c) || c == '(' || c == ':' || c == '=' || c == '~' || c == '!';
    }
    return text.len;
}

enum word_kind { WORD_NONE, WORD_BARE, WORD_TERM, WORD_OR };

// Steps over the next word of this level.
static enum word_kind
next_word(struct filter_reader *reader, size_t *at, int *own)
{
    struct bytes text = reader->text;
    *at = skip_blanks(text, *at);
    if (*at >= text.len || (text.data[*at] == ')' && reader->brackets && *own == 0))
        return WORD_NONE;
    if (filter_is_word(reader, *at, "or")) {
        *at += 2;
        return WORD_OR;
    }
    size_t next;
    bool is_not = filter_is_not(reader, *at, &next);
    *at = is_not ? next : *at;
    bool is_inverted = text.data[*at] == '!' && !filter_ends_word(reader, *at + 1);
    *at += is_inverted;
    if (filter_is_bracket(reader, *at)) {
        *at = bracket_end(reader, *at);
        return WORD_TERM;
    }
    if (begins_term(text, *at)) {
        *at = term_end(reader, *at);
        return WORD_TERM;
    }
    bool is_quoted = text.data[*at] == '"' || (text.data[*at] == '/' && filter_is_expression(reader, *at));
    *at = is_quoted ? quoted_end(text, *at) : filter_word_end(reader, *at, own);
    return is_inverted ? WORD_TERM : WORD_BARE;
}

bool
filter_or_joins(struct filter_reader *reader)
{
    size_t at = reader->at;
    int own = 0;
    enum word_kind before = WORD_NONE;
    bool is_after_or = false;
    for (;;) {
        enum word_kind kind = next_word(reader, &at, &own);
        if (kind == WORD_NONE)
            return false;
        if ((kind == WORD_OR && before == WORD_TERM) || (kind == WORD_TERM && is_after_or))
            return true;
        is_after_or = kind == WORD_OR;
        before = kind;
    }
}
