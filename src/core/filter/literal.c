#include "core/filter/literal.h"

#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "core/filter/required_literals.h"

struct literal_reader {
    struct bytes text;
    size_t at;
    struct strbuf run;     // literal characters that follow each other
    struct strbuf longest; // of the runs that have ended
    struct strbuf required;
    bool is_only; // nothing but literal characters so far
    bool has_alternatives;
};

static char
peek(const struct literal_reader *reader, size_t ahead)
{
    size_t at = reader->at + ahead;
    return at < reader->text.len ? reader->text.data[at] : '\0';
}

static void
end_run(struct literal_reader *reader)
{
    if (reader->run.len > reader->longest.len) {
        struct strbuf longer = reader->run;
        reader->run = reader->longest;
        reader->longest = longer;
    }
    strbuf_reset(&reader->run);
}

static bool
is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Over a class, with its ] : the first of the class is itself, [:alpha:] has one of its own.
static bool
skip_class(struct literal_reader *reader)
{
    reader->at += peek(reader, 1) == '^' ? 2 : 1;
    reader->at += peek(reader, 0) == ']';
    for (; reader->at < reader->text.len; reader->at++) {
        char c = peek(reader, 0);
        if (c == '\\') {
            if (strchr("QE", peek(reader, 1)))
                return false;
            reader->at++;
        } else if (c == '[' && strchr(":.=", peek(reader, 1)) && peek(reader, 1)) {
            char kind = peek(reader, 1);
            size_t end = reader->at + 2;
            while (end + 1 < reader->text.len && reader->text.data[end] != ']')
                end++;
            if (reader->text.data[end - 1] == kind)
                reader->at = end;
        } else if (c == ']') {
            reader->at++;
            return true;
        }
    }
    return false;
}

// Over \p{…}, \x{…} and the like, behind the letter.
static void
skip_braces(struct literal_reader *reader)
{
    if (peek(reader, 0) != '{')
        return;
    while (reader->at < reader->text.len && peek(reader, 0) != '}')
        reader->at++;
    reader->at++;
}

// The text that a part of an expression other than a literal character matches.
enum width { NOTHING, ONE_CHARACTER, ANYTHING };

static enum width
width_of_escape(char letter)
{
    return strchr("bBAzZG", letter) ? NOTHING : strchr("RX", letter) ? ANYTHING : ONE_CHARACTER;
}

// Over an escape that is no literal character. False: what it means for the rest is not known here.
static bool
skip_escape(struct literal_reader *reader)
{
    char letter = peek(reader, 1);
    reader->at += 2;
    if (letter && strchr("dDwWsSbBAzZhHvVRtnrfaeGXN", letter))
        return letter != 'N' || peek(reader, 0) != '{';
    if (letter == 'p' || letter == 'P') {
        if (peek(reader, 0) == '{')
            skip_braces(reader);
        else
            reader->at++;
        return true;
    }
    if (letter != 'x')
        return false; // \Q \K \1 \g \k \o \c and what may come
    if (peek(reader, 0) == '{') {
        skip_braces(reader);
        return true;
    }
    for (int i = 0; i < 2 && peek(reader, 0) && strchr("0123456789abcdefABCDEF", peek(reader, 0)); i++)
        reader->at++;
    return true;
}

// Over a group at the top level. False: it sets options for what follows, is a comment, or cannot be read.
static bool
skip_group(struct literal_reader *reader)
{
    int depth = 0;
    while (reader->at < reader->text.len) {
        char c = peek(reader, 0);
        if (c == '\\') {
            if (strchr("QE", peek(reader, 1)))
                return false;
            reader->at += 2;
            continue;
        }
        if (c == '[') {
            if (!skip_class(reader))
                return false;
            continue;
        }
        if (c == '(' && peek(reader, 1) == '?' && !strchr(":=!<>P|&(R'+0123456789", peek(reader, 2)))
            return false;
        depth += c == '(';
        depth -= c == ')';
        reader->at++;
        if (depth == 0)
            return true;
    }
    return false;
}

// The quantifier at the place, if there is one: *least is how often what stands before it has to be there.
static bool
quantifier(struct literal_reader *reader, unsigned *least)
{
    char c = peek(reader, 0);
    *least = c == '+' ? 1 : 0;
    if (c == '*' || c == '?' || c == '+') {
        reader->at++;
    } else if (c == '{') {
        size_t end = reader->at + 1;
        while (end < reader->text.len && reader->text.data[end] >= '0' && reader->text.data[end] <= '9')
            end++;
        // `{` that begins no quantifier is itself; which is which is pcre2's to know.
        *least = 0;
        if (end > reader->at + 1 && reader->text.data[reader->at + 1] != '0')
            *least = 1;
        while (reader->at < reader->text.len && peek(reader, 0) != '}')
            reader->at++;
        reader->at++;
    } else {
        return false;
    }
    if (peek(reader, 0) == '+' || peek(reader, 0) == '?') // possessive, lazy
        reader->at++;
    return true;
}

static void
add_character(struct literal_reader *reader, size_t from, size_t len)
{
    unsigned least;
    reader->at = from + len;
    bool is_repeated = quantifier(reader, &least);
    if (!is_repeated || least > 0) {
        strbuf_add(&reader->run, bytes_slice(reader->text, from, len));
        strbuf_add(&reader->required, bytes_slice(reader->text, from, len));
    }
    if (is_repeated) {
        reader->is_only = false;
        end_run(reader);
        required_add_gap(&reader->required, REQUIRED_ANY);
    }
}

static void
begin_alternative(struct literal_reader *reader)
{
    reader->at++;
    reader->is_only = false;
    reader->has_alternatives = true;
    end_run(reader);
    required_end_alternative(&reader->required);
    required_begin_alternative(&reader->required);
}

static void
add_piece(struct literal_reader *reader, enum width width)
{
    unsigned least;
    bool is_repeated = quantifier(reader, &least);
    if (width == ONE_CHARACTER && (!is_repeated || least > 0))
        required_add_gap(&reader->required, REQUIRED_ONE);
    if (width == ANYTHING || (width == ONE_CHARACTER && is_repeated))
        required_add_gap(&reader->required, REQUIRED_ANY);
}

// One piece of the expression. False: give up.
static bool
read_piece(struct literal_reader *reader)
{
    char c = peek(reader, 0);
    if (c == ')' || c == '\0')
        return false;
    if (c == '|') {
        begin_alternative(reader);
        return true;
    }
    bool is_escape = c == '\\';
    if (is_escape && peek(reader, 1) && (unsigned char)peek(reader, 1) < 0x80 && !is_word(peek(reader, 1))) {
        add_character(reader, reader->at + 1, 1);
        return true;
    }
    if (!is_escape && !strchr("([.^$*+?{", c)) {
        uint32_t point;
        add_character(reader, reader->at, utf8_decode(reader->text, reader->at, &point));
        return true;
    }

    reader->is_only = false;
    end_run(reader);
    enum width width = is_escape              ? width_of_escape(peek(reader, 1))
                       : c == '^' || c == '$' ? NOTHING
                       : c == '(' || c == '{' ? ANYTHING
                                              : ONE_CHARACTER;
    if (is_escape  ? !skip_escape(reader)
        : c == '(' ? !skip_group(reader)
        : c == '[' ? !skip_class(reader)
                   : (reader->at++, c == '*' || c == '+' || c == '?' || c == '{'))
        return false;
    add_piece(reader, width);
    return true;
}

bool
pattern_literal(struct bytes expression, struct strbuf *literal, struct strbuf *required)
{
    struct literal_reader reader = {.text = expression, .is_only = true};
    bool is_read = bytes_find(expression, BYTES("(*"), 0) == SIZE_MAX;
    while (is_read && reader.at < expression.len)
        is_read = read_piece(&reader);
    end_run(&reader);
    required_end_alternative(&reader.required);
    if (is_read && !reader.has_alternatives)
        strbuf_add(literal, strbuf_bytes(&reader.longest));
    if (is_read)
        strbuf_add(required, strbuf_bytes(&reader.required));
    bool is_plain = is_read && reader.is_only && reader.longest.len > 0;
    strbuf_release(&reader.required);
    strbuf_release(&reader.run);
    strbuf_release(&reader.longest);
    return is_plain;
}
