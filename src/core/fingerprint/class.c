#include "core/fingerprint/class.h"

#include <string.h>

#include "core/fingerprint/cause.h"
#include "core/fingerprint/word.h"

// Classes

static bool
has_class_ending(struct bytes word)
{
    static const char *const endings[] = {"Exception", "Error",     "Fault",     "Failure", "Timeout",
                                          "Throwable", "Interrupt", "Violation", "Exit",    "Iteration",
                                          "Refused",   "Invalid",   "NotFound",  "Warning"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (bytes_ends(word, endings[i]))
            return true;
    }
    return false;
}

size_t
class_length(struct bytes text)
{
    size_t end = 0;
    size_t part = 0; // where the last part of a qualified name begins
    unsigned digits = 0;
    while (end < text.len && end < CLASS_NAME_MAX) {
        char c = text.data[end];
        if (word_is_alnum(c) || c == '_' || c == '$' || c == '`') {
            digits += word_is_digit(c);
            end++;
            continue;
        }
        bool is_pair =
            c == ':' && end + 2 < text.len && text.data[end + 1] == ':' && word_is_letter(text.data[end + 2]);
        if (!is_pair && c != '.' && c != '\\')
            break;
        end += is_pair ? 2 : 1;
        part = end;
    }
    char next = end < text.len ? text.data[end] : '\n';
    if (!word_is_one_of(next, ":\n\r ") ||
        (next == ' ' && !(end + 1 < text.len && word_is_one_of(text.data[end + 1], "([-"))))
        return 0;
    while (part < end && text.data[part] == '_')
        part++;
    if (end <= part || end >= CLASS_NAME_MAX || (word_kind(text.data[part]) & KIND_UPPER) == 0 || digits > 6)
        return 0;
    struct bytes name = bytes_slice(text, 0, end);
    if (!word_is_letter(name.data[0]) && name.data[0] != '_' && name.data[0] != '\\')
        return 0;
    bool is_camel = false;
    for (size_t i = part; i < end; i++)
        is_camel |= (word_kind(text.data[i]) & KIND_LOWER) != 0;
    bool is_errno = bytes_starts(name, "Errno::");
    if (!is_camel && !is_errno)
        return 0;
    return part > 1 || has_class_ending(name) ? end : 0;
}

// Where the text begins behind a class name of `len` bytes: behind ":", "(0x80131904):", "[ERR_X]:" or at the
// end; 0 where something else stands there, so that it was no class.
static size_t
behind_class(struct bytes text, size_t len)
{
    size_t at = len;
    if (at + 1 < text.len && text.data[at] == ' ' && (text.data[at + 1] == '(' || text.data[at + 1] == '[')) {
        const char *close = memchr(text.data + at, text.data[at + 1] == '(' ? ')' : ']',
                                   text.len - at < 48 ? text.len - at : 48);
        if (close == NULL)
            return 0;
        at = (size_t)(close - text.data) + 1;
    }
    if (at == text.len || text.data[at] == '\n' || text.data[at] == '\r')
        return at;
    if (text.data[at] != ':')
        return 0;
    at++;
    if (at < text.len && (word_kind(text.data[at]) & KIND_BLANK) == 0)
        return 0;
    return at;
}

bool
class_begins(struct bytes text, size_t *length, size_t *text_from)
{
    *length = class_length(text);
    *text_from = *length == 0 ? 0 : behind_class(text, *length);
    return *text_from != 0;
}

// thread 'main' panicked at 'text', src/quote.rs:12:9
// thread 'main' panicked at src/quote.rs:12:9:\ntext
static struct bytes
skip_rust_panic(struct bytes text)
{
    size_t head = bytes_find(text, BYTES("' panicked at "), 0);
    if (head == SIZE_MAX)
        return text;
    struct bytes rest = bytes_slice(text, head + strlen("' panicked at "), text.len);
    if (bytes_starts(rest, "'")) {
        size_t close = bytes_find_last(rest, BYTES("', "));
        return close == SIZE_MAX || close == 0 ? rest : bytes_slice(rest, 1, close - 1);
    }
    size_t place = bytes_find(rest, BYTES(":\n"), 0);
    rest = place == SIZE_MAX ? rest : bytes_slice(rest, place + 2, rest.len);
    return bytes_trim(bytes_slice(rest, 0, bytes_find(rest, BYTES("\nnote: "), 0)));
}

struct bytes
class_skip_preface(struct bytes text)
{
    static const char *const prefaces[] = {
        "Unhandled exception. ",
        "Unhandled Exception: ",
        "Uncaught exception: ",
        "PHP Fatal error:  Uncaught ",
        "Fatal error: Uncaught ",
        "Uncaught ",
        "panic: ",
        "Error: Uncaught ",
        "(Inner Exception #0) ",
        "[object Error] ",
    };
    char first = text.len > 0 ? text.data[0] : ' ';
    if (!word_is_one_of(first, "UpPtEF([")) // as the prefaces below do
        return text;
    if (bytes_starts(text, "panic: ")) { // Go prints the signal on a line of its own
        size_t newline = bytes_find(text, BYTES("\n"), 0);
        return bytes_trim(bytes_slice(text, 7, newline == SIZE_MAX ? text.len : newline - 7));
    }
    if (first == 't' && bytes_starts(text, "thread '"))
        return skip_rust_panic(text);
    if (bytes_starts(text, "Exception in thread ")) {
        size_t quote = bytes_find(text, BYTES("\" "), 0);
        return quote == SIZE_MAX ? text : bytes_trim(bytes_slice(text, quote + 2, text.len));
    }
    for (size_t i = 0; i < sizeof prefaces / sizeof prefaces[0]; i++) {
        if (prefaces[i][0] == first && bytes_starts(text, prefaces[i]))
            return bytes_trim(bytes_slice(text, strlen(prefaces[i]), text.len));
    }
    return text;
}

bool
class_is_ruby_place(struct bytes text)
{
    const char *colon = text.len == 0 ? NULL : memchr(text.data, ':', text.len);
    size_t at = colon == NULL ? text.len : (size_t)(colon - text.data);
    if (at + 1 >= text.len || !word_is_digit(text.data[at + 1]))
        return false;
    while (at > 0 && (word_kind(text.data[at - 1]) & KIND_BLANK) == 0)
        at--;
    return at == 0;
}

// Ruby's first line: app/order.rb:12:in `total': undefined method … (NoMethodError)
static bool
split_ruby(struct bytes text, struct cause_link *link)
{
    if (!class_is_ruby_place(text))
        return false;
    const char *newline = memchr(text.data, '\n', text.len);
    struct bytes line = bytes_slice(text, 0, newline == NULL ? text.len : (size_t)(newline - text.data));
    size_t in = bytes_find(line, BYTES(":in "), 0);
    if (in == SIZE_MAX || in == 0 || !word_is_digit(line.data[in - 1]))
        return false;
    size_t behind = bytes_find(line, BYTES("': "), in);
    if (behind == SIZE_MAX)
        return false;

    link->text = bytes_trim(bytes_slice(line, behind + 3, line.len));
    size_t open = bytes_find_last(link->text, BYTES(" ("));
    if (open != SIZE_MAX && bytes_ends(link->text, ")")) {
        link->class_name = bytes_slice(link->text, open + 2, link->text.len - open - 3);
        link->text.len = open;
    }
    return true;
}

// Elixir's first line: ** (ArithmeticError) bad argument in arithmetic expression
static bool
split_elixir(struct bytes text, struct cause_link *link)
{
    static const char open[] = "** (";
    size_t close = bytes_starts(text, open) ? bytes_find(text, BYTES(") "), 0) : SIZE_MAX;
    if (close == SIZE_MAX || close > CLASS_NAME_MAX)
        return false;
    link->class_name = bytes_slice(text, strlen(open), close - strlen(open));
    link->text = bytes_trim(bytes_slice(text, close + 2, text.len));
    return true;
}

// Python's repr: KeyError('email'), ValueError("no such rate"). The text is what stands in the brackets.
static bool
split_repr(struct bytes text, struct cause_link *link)
{
    if (!bytes_ends(text, ")"))
        return false;
    size_t open = 0;
    while (open < text.len && (word_is_alnum(text.data[open]) || word_is_one_of(text.data[open], "._")))
        open++;
    struct bytes name = bytes_slice(text, 0, open);
    if (open == 0 || text.data[open] != '(' || class_length(name) != open || !has_class_ending(name))
        return false;

    struct bytes inner = bytes_slice(text, open + 1, text.len - open - 2);
    char quote = inner.len > 1 ? inner.data[0] : ' ';
    bool is_quoted = (quote == '\'' || quote == '"') && inner.data[inner.len - 1] == quote;
    if (is_quoted && !bytes_ends(name, "KeyError"))
        inner = bytes_slice(inner, 1, inner.len - 2);
    link->class_name = name;
    link->text = inner;
    return true;
}

struct cause_link
cause_split(struct bytes text)
{
    struct cause_link link = {.class_name = BYTES_ABSENT, .text = bytes_trim(text), .frames = BYTES_ABSENT};
    if (link.text.len == 0 || split_ruby(link.text, &link) || split_elixir(link.text, &link) ||
        split_repr(link.text, &link))
        return link;
    link.text = class_skip_preface(link.text);
    // A class that stands before another one says only that it wrapped it.
    for (unsigned i = 0; i < CAUSE_DEPTH; i++) {
        size_t len = 0;
        size_t behind = 0;
        if (!class_begins(link.text, &len, &behind))
            break;
        link.class_name = bytes_slice(link.text, 0, len);
        link.text = bytes_trim(bytes_slice(link.text, behind, link.text.len));
    }
    return link;
}
