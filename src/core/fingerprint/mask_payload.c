// Documents: keeps the message of an error document, masks business data.
#include "core/fingerprint/maskers.h"

#include <string.h>

#include "core/fingerprint/payload.h"

// "pointer": "/data/lines/3/weight": the field at the end of the path is what the error is about.
static bool
is_pointer(struct bytes name, struct bytes value)
{
    static const char *const names[] = {"pointer", "path", "field", "property", "param", "instancePath"};
    if (value.len < 2 || value.len > 200 || (value.data[0] != '/' && value.data[0] != '#'))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_equal_text(name, names[i]))
            return true;
    }
    return false;
}

// The members that `walk` finds; behind the last of them, or `from`.
static size_t
take_members(struct mask_scan *scan, size_t from, struct payload_walk *walk)
{
    struct payload_member member;
    size_t done = from;
    while (payload_next(walk, &member)) {
        size_t value = (size_t)(member.value.data - scan->text.data);
        if (done < value)
            scan_emit_hole(scan, done, value, MASK_PAYLOAD);
        if (bytes_present(member.name)) {
            size_t name = (size_t)(member.name.data - scan->text.data);
            if (word_digits(member.name) == 0)
                scan_emit_word(scan, name, name + member.name.len);
            else
                scan_emit_path(scan, name, name + member.name.len);
        }
        scan->after = AFTER_COLON;
        if (is_pointer(member.name, member.value))
            scan_emit_path(scan, value, value + member.value.len);
        else
            scan_again(scan, value, value + member.value.len, PART_TEXT);
        done = value + member.value.len;
    }
    return done;
}

// Behind the string at `at`, or SIZE_MAX. An apostrophe within a word does not end it.
static size_t
string_end(struct bytes doc, size_t at)
{
    for (size_t i = at + 1; i < doc.len; i++) {
        if (doc.data[i] == '\\')
            i++;
        else if (doc.data[i] == doc.data[at] &&
                 (doc.data[at] == '"' || i + 1 == doc.len || (word_kind(doc.data[i + 1]) & KIND_LETTER) == 0))
            return i + 1;
    }
    return SIZE_MAX;
}

static size_t
skip_any(struct bytes doc, size_t at, const char *set)
{
    while (at < doc.len && ((word_kind(doc.data[at]) & KIND_BLANK) != 0 || word_is_one_of(doc.data[at], set)))
        at++;
    return at;
}

static bool
is_quote(struct bytes doc, size_t at)
{
    return at < doc.len && (doc.data[at] == '"' || doc.data[at] == '\'');
}

// {"email": ["is not valid"]}, {'lines': {0: {'price': ['Not a number.']}}}, {:email=>["can't be blank"]},
// %{email: [{"is invalid", []}]}: what validators say, field by field. The first text must be a sentence.
static bool
is_field_errors(struct bytes doc)
{
    size_t at = 0;
    for (unsigned depth = 0; depth < 4 && at < doc.len && doc.data[at] == '{'; depth++) {
        at = skip_any(doc, at + 1, ":\\");
        size_t end = at;
        if (is_quote(doc, at)) {
            end = string_end(doc, at);
        } else {
            while (end < doc.len && (word_is_alnum(doc.data[end]) || doc.data[end] == '_'))
                end++;
        }
        if (end == at || end >= doc.len || end - at > 100)
            return false;
        at = skip_any(doc, end, "");
        if (at >= doc.len || (doc.data[at] != ':' && doc.data[at] != '='))
            return false;
        at = skip_any(doc, at, ":=>");
    }
    if (at >= doc.len || doc.data[at] != '[')
        return false;
    at = skip_any(doc, at, "[{\\");
    if (bytes_starts(bytes_slice(doc, at, doc.len), "ErrorDetail(string="))
        at += strlen("ErrorDetail(string=");
    size_t end = is_quote(doc, at) ? string_end(doc, at) : SIZE_MAX;
    return end != SIZE_MAX && word_is_letter(doc.data[at + 1]) &&
           memchr(doc.data + at, ' ', end - at) != NULL;
}

// The words before a document that may be one: none, a colon, "Errors".
static bool
may_tell_errors(struct mask_scan *scan)
{
    static const char *const data[] = {"payload", "body",   "data",  "input",
                                       "event",   "record", "value", "headers"};
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
        if (word_equals_folded(scan->prev, data[i]))
            return false;
    }
    return scan->mask->words == 0 || scan->after == AFTER_COLON || word_equals_folded(scan->prev, "errors");
}

// Names and sentences of such a document, in the order of the text.
static void
take_field_errors(struct mask_scan *scan, size_t from, size_t to)
{
    struct bytes doc = scan_slice(scan, from, to);
    for (size_t at = 0; at < doc.len;) {
        size_t end = at;
        if (is_quote(doc, at)) {
            end = string_end(doc, at);
            if (end == SIZE_MAX)
                return;
            size_t behind = skip_any(doc, end, "\\");
            bool is_name = behind < doc.len && (doc.data[behind] == ':' || doc.data[behind] == '=');
            if (is_name)
                scan_emit_path(scan, from + at + 1, from + end - 1);
            else
                scan_again(scan, from + at + 1, from + end - 1, PART_TEXT);
        } else if (word_is_letter(doc.data[at]) || doc.data[at] == '_') {
            while (end < doc.len && (word_is_alnum(doc.data[end]) || doc.data[end] == '_'))
                end++;
            scan_emit_path(scan, from + at, from + end);
        }
        at = end > at ? end : at + 1;
    }
}

// A dump of an error, whose members tell it: the others are volatile.
static void
take_dump(struct mask_scan *scan, size_t from, size_t to)
{
    static const unsigned telling = ROLE_BODY | ROLE_CODE | ROLE_TELLING;
    struct bytes inner = scan_slice(scan, from + 1, to);
    struct payload_member member;
    size_t at = 0;
    while (payload_next_dumped(inner, &at, &member)) {
        struct bytes value = bytes_trim(member.value);
        size_t start = (size_t)(value.data - scan->text.data);
        if (value.len > 0 && (word_roles(member.name) & telling) != 0) {
            size_t name = (size_t)(member.name.data - scan->text.data);
            bool is_quoted = value.len >= 2 && (value.data[0] == '"' || value.data[0] == '\'') &&
                             value.data[value.len - 1] == value.data[0];
            scan_emit_word(scan, name, name + member.name.len);
            scan->after = AFTER_COLON;
            scan_again(scan, start + is_quoted, start + value.len - is_quoted, PART_TEXT);
        } else {
            scan_emit_hole(scan, start, start + value.len, MASK_PAYLOAD);
        }
    }
}

void
mask_members(struct mask_scan *scan, size_t from, size_t to)
{
    struct bytes json = scan_slice(scan, from, to);
    if (is_field_errors(bytes_trim(json))) {
        take_field_errors(scan, from, to);
        return;
    }
    struct payload_walk walk = {.json = json};
    size_t done = take_members(scan, from, &walk);
    size_t at = 0;
    struct bytes name = BYTES_ABSENT;
    while (done == from && payload_next_name(json, &at, &name)) {
        size_t start = (size_t)(name.data - scan->text.data);
        scan_again(scan, start, start + name.len, PART_TEXT);
    }
    if (done < to)
        scan_emit_hole(scan, done, to, MASK_PAYLOAD);
}

// The offset behind a note that a payload was cut off: {…}[truncated 120 bytes], {…}...
static size_t
truncation_end(const struct mask_scan *scan, size_t at)
{
    struct bytes rest = scan_slice(scan, at, scan->end);
    size_t dots = 0;
    while (dots < rest.len && rest.data[dots] == '.')
        dots++;
    rest = bytes_slice(rest, dots, rest.len);
    size_t close = bytes_starts(rest, "[truncated") ? bytes_find(rest, BYTES("]"), 0) : SIZE_MAX;
    return close == SIZE_MAX ? at : at + dots + close + 1;
}

void
mask_payload(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule)
{
    struct bytes json = scan_slice(scan, from, to);
    size_t done = from;
    if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && may_tell_errors(scan) && is_field_errors(json)) {
        take_field_errors(scan, from, to);
        done = to;
    } else if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && payload_is_error(json)) {
        mask_members(scan, from, to);
        done = to;
    } else if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && payload_holds_error(json)) {
        struct payload_walk walk = {.json = json, .depth = 1, .parts = {{json.len, PAYLOAD_DATA}}};
        done = take_members(scan, from, &walk);
    }
    bool may_be_dump = rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && json.len > 2 &&
                       !word_is_one_of(json.data[1], "\"\\{");
    if (done == from && may_be_dump) {
        struct bytes inner =
            bytes_slice(json, 1, json.len - 1 - (word_is_one_of(json.data[json.len - 1], ")]}") ? 1 : 0));
        if (payload_is_error_dump(scan->text, from, inner)) {
            take_dump(scan, from, from + 1 + inner.len);
            done = to;
        }
    }
    if (done < to)
        scan_emit_hole(scan, done, to, rule);
    scan->at = truncation_end(scan, to);
}
