// Reads one term: the value behind its colon, or a $.path and its test. Every error has the column of the
// mistake.
#include "core/filter/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"

void
spelled_add(struct spelled *value, char c, size_t at)
{
    value->at = alloc_grow(value->at, value->text.len, &value->capacity, sizeof *value->at);
    value->at[value->text.len] = at;
    strbuf_add_char(&value->text, c);
}

void
spelled_release(struct spelled *value)
{
    strbuf_release(&value->text);
    free(value->at);
    *value = (struct spelled){0};
}

bool
filter_wrong(struct filter_reader *reader, size_t at, const char *sentence)
{
    err_set(reader->err, ERR_USAGE, "%s", sentence);
    if (reader->err && reader->err->column == 0) {
        int column = 1;
        for (size_t i = 0; i < at && i < reader->text.len; column++) {
            uint32_t point;
            i += utf8_decode(reader->text, i, &point);
        }
        reader->err->column = column;
    }
    return false;
}

bool
filter_ends_word(const struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    return at >= text.len || filter_is_blank(text.data[at]) || (reader->brackets && text.data[at] == ')');
}

bool
filter_read_value(struct filter_reader *reader, enum filter_form form, int *own, struct spelled *value)
{
    struct bytes text = reader->text;
    char open = reader->at < text.len ? text.data[reader->at] : '\0';
    if (open != '"' && !(open == '/' && filter_is_expression(reader, reader->at))) {
        int none = 0;
        size_t end = filter_word_end(reader, reader->at, own ? own : &none);
        for (; reader->at < end; reader->at++)
            spelled_add(value, text.data[reader->at], reader->at);
        return true;
    }

    size_t opened_at = reader->at++;
    while (reader->at < text.len && text.data[reader->at] != open) {
        bool is_escape = text.data[reader->at] == '\\' && reader->at + 1 < text.len;
        char next = is_escape ? text.data[reader->at + 1] : '\0';
        bool is_undone = next == open || (next == '\\' && form == FORM_EXACT);
        if (is_escape && !is_undone)
            spelled_add(value, '\\', reader->at);
        reader->at += is_escape;
        spelled_add(value, text.data[reader->at], reader->at);
        reader->at++;
    }
    if (reader->at >= text.len)
        return filter_wrong(reader, opened_at, "expected the \" that ends this value");
    reader->at++;
    return filter_ends_word(reader, reader->at) ||
           filter_wrong(reader, reader->at, "expected a blank after the closing quote");
}

struct filter_term *
filter_add_term(struct filter_reader *reader, enum filter_field field, bool is_inverted)
{
    struct filter *filter = reader->filter;
    filter->terms = alloc_grow(filter->terms, filter->count, &filter->capacity, sizeof *filter->terms);
    struct filter_term *term = &filter->terms[filter->count++];
    *term = (struct filter_term){.field = field, .is_inverted = is_inverted};
    return term;
}

bool
filter_compile(struct filter_reader *reader, struct filter_term *term, const struct spelled *expression)
{
    struct bytes text = strbuf_bytes(&expression->text);
    struct err why = {0};
    if (pattern_compile(&term->pattern, text, &why))
        return true;
    size_t at = 0;
    for (int column = 1; column < why.column && at < text.len; column++) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
    }
    size_t in_line = at < text.len ? expression->at[at]
                     : text.len    ? expression->at[text.len - 1] + 1
                                   : reader->at;
    return filter_wrong(reader, in_line, why.text);
}

// `=exact` or a regular expression.
static bool
read_text(struct filter_reader *reader, struct filter_term *term)
{
    term->is_exact = reader->at < reader->text.len && reader->text.data[reader->at] == '=';
    reader->at += term->is_exact;
    size_t from = reader->at;
    struct spelled value = {0};
    bool ok = filter_read_value(reader, term->is_exact ? FORM_EXACT : FORM_EXPRESSION, NULL, &value);
    if (ok && term->is_exact)
        strbuf_add(&term->exact, strbuf_bytes(&value.text));
    else if (ok && value.text.len == 0)
        ok = filter_wrong(reader, from, "expected a value: a regular expression, or = and the exact text");
    else if (ok)
        ok = filter_compile(reader, term, &value);
    spelled_release(&value);
    return ok;
}

static bool
read_range(struct filter_reader *reader, struct filter_term *term, enum filter_kind kind)
{
    size_t from = reader->at;
    struct spelled value = {0};
    struct err why = {0};
    size_t bad;
    bool ok = filter_read_value(reader, FORM_EXACT, NULL, &value);
    if (ok && !filter_range_read(strbuf_bytes(&value.text), kind, &term->range, &bad, &why))
        ok = filter_wrong(reader, bad < value.text.len ? value.at[bad] : from + bad, why.text);
    spelled_release(&value);
    return ok;
}

// A word of a fixed list.
static bool
read_word(struct filter_reader *reader, struct filter_term *term, enum filter_kind kind)
{
    size_t from = reader->at;
    struct spelled word = {0};
    struct strbuf sentence = {0};
    unsigned value = 0;
    bool ok = filter_read_value(reader, FORM_EXACT, NULL, &word);
    if (ok && !filter_value_find(term->field, strbuf_bytes(&word.text), &value)) {
        filter_value_expected(term->field, strbuf_bytes(&word.text), &sentence);
        ok = filter_wrong(reader, from, strbuf_text(&sentence));
    }
    if (kind == KIND_CATEGORY)
        term->category = (enum category)value;
    else if (kind == KIND_STATUS || kind == KIND_OUTCOME)
        term->statuses = value;
    else
        term->flag = (enum filter_flag)value;
    strbuf_release(&sentence);
    spelled_release(&word);
    return ok;
}

static int
by_low(const void *left, const void *right)
{
    const struct filter_group *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->high < b->high) - (a->high > b->high); // what contains the other first
}

// Beginnings of keys are equal or one is within the other.
static void
sort_groups(struct filter_term *term)
{
    size_t kept = 0;
    qsort(term->groups, term->group_count, sizeof *term->groups, by_low);
    for (size_t i = 0; i < term->group_count; i++)
        if (kept == 0 || term->groups[i].high > term->groups[kept - 1].high)
            term->groups[kept++] = term->groups[i];
    term->group_count = kept;
}

// One key or the beginning of one, or several with commas between.
static bool
read_group(struct filter_reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    size_t capacity = 0;
    struct spelled keys = {0};
    bool ok = filter_read_value(reader, FORM_EXACT, NULL, &keys);
    struct bytes rest = strbuf_bytes(&keys.text);
    for (bool is_last = false; ok && !is_last;) {
        size_t comma = bytes_find(rest, BYTES(","), 0);
        is_last = comma == SIZE_MAX;
        struct filter_group group;
        ok = group_parse(bytes_slice(rest, 0, is_last ? rest.len : comma), &group.low, &group.high) ||
             filter_wrong(reader, from,
                          "expected 1 to 16 hexadecimal digits of a group's key, or several with commas");
        if (!ok)
            break;
        term->groups = alloc_grow(term->groups, term->group_count, &capacity, sizeof *term->groups);
        term->groups[term->group_count++] = group;
        rest = bytes_slice(rest, is_last ? rest.len : comma + 1, SIZE_MAX);
    }
    if (ok)
        sort_groups(term);
    spelled_release(&keys);
    return ok;
}

// header:NAME=value; the value is a regular expression, or after a second = exact.
static bool
read_header(struct filter_reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    while (!filter_ends_word(reader, reader->at) && reader->text.data[reader->at] != '=')
        reader->at++;
    if (reader->at == from)
        return filter_wrong(reader, from, "expected the name of a header: header:NAME=value");
    strbuf_add(&term->header, bytes_slice(reader->text, from, reader->at - from));
    if (filter_ends_word(reader, reader->at))
        return filter_wrong(reader, reader->at, "expected = and a value: header:NAME=value");
    reader->at++;
    return read_text(reader, term);
}

// The end of a path: the first of = ~ > < ? ! outside of brackets, or a blank.
static size_t
path_end(const struct filter_reader *reader, size_t at)
{
    struct bytes text = reader->text;
    char quote = '\0';
    for (bool in_brackets = false; at < text.len; at++) {
        char c = text.data[at];
        if (quote) {
            at += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (in_brackets && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '[' || c == ']') {
            in_brackets = c == '[';
        } else if (!in_brackets && (filter_ends_word(reader, at) || (c && strchr("=~<>?!", c)))) {
            break;
        }
    }
    return at < text.len ? at : text.len;
}

static bool
read_json_test(struct filter_reader *reader, struct filter_term *term)
{
    static const struct {
        const char *text;
        enum json_test test;
    } tests[] = {{">=", JSON_AT_LEAST}, {"<=", JSON_AT_MOST}, {">", JSON_ABOVE}, {"<", JSON_BELOW},
                 {"=", JSON_EQUALS},    {"~", JSON_MATCHES},  {"?", JSON_EXISTS}};
    struct bytes rest = bytes_slice(reader->text, reader->at, SIZE_MAX);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (!bytes_starts(rest, tests[i].text))
            continue;
        reader->at += strlen(tests[i].text);
        term->test = tests[i].test;
        return true;
    }
    if (bytes_starts(rest, "!"))
        return filter_wrong(reader, reader->at, "expected the ! before the term: !$.path=value");
    return filter_wrong(
        reader, reader->at,
        "expected what to ask of the value: =value, ~expression, >number, <number, or ? that it exists");
}

static bool
is_number(struct bytes text)
{
    struct json_scan scan;
    json_begin(&scan, text);
    enum json_kind first = json_next(&scan).kind;
    enum json_kind second = json_next(&scan).kind;
    return first == JSON_NUMBER && second == JSON_END;
}

static bool
read_json_value(struct filter_reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    struct spelled value = {0};
    bool is_pattern = term->test == JSON_MATCHES;
    bool ok = filter_read_value(reader, is_pattern ? FORM_EXPRESSION : FORM_EXACT, NULL, &value);
    if (ok && is_pattern && value.text.len == 0) {
        ok = filter_wrong(reader, from, "expected a regular expression");
    } else if (ok && is_pattern) {
        ok = filter_compile(reader, term, &value);
    } else if (ok) {
        strbuf_add(&term->exact, strbuf_bytes(&value.text));
        term->is_number = is_number(strbuf_bytes(&term->exact));
        ok = term->is_number || term->test == JSON_EQUALS || filter_wrong(reader, from, "expected a number");
    }
    spelled_release(&value);
    return ok;
}

// The kind of value behind the ? of a path, if there is one.
static bool
read_path_kind(struct filter_reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    while (reader->at < reader->text.len && !filter_ends_word(reader, reader->at))
        reader->at++;
    struct bytes word = bytes_slice(reader->text, from, reader->at - from);
    return word.len == 0 || path_kind_parse(word, &term->wanted) ||
           filter_wrong(reader, from,
                        "expected a blank after ?, or null, boolean, number, text, long, object or array");
}

// $.path and its test at reader->at.
static bool
read_json(struct filter_reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    size_t end = path_end(reader, from);
    struct err why = {0};
    if (!json_path_parse(&term->path, bytes_slice(reader->text, from, end - from), &why))
        return filter_wrong(reader, from + (size_t)(why.column > 0 ? why.column - 1 : 0), why.text);
    reader->at = end;
    if (!read_json_test(reader, term))
        return false;
    if (term->test == JSON_EXISTS)
        return read_path_kind(reader, term);
    return read_json_value(reader, term);
}

bool
filter_read_term(struct filter_reader *reader, enum filter_field field, bool is_inverted)
{
    struct filter_term *term = filter_add_term(reader, field, is_inverted);
    enum filter_kind kind = filter_field_kind(field);
    switch (kind) {
    case KIND_TEXT:
        return read_text(reader, term);
    case KIND_NUMBER:
    case KIND_AGE:
    case KIND_CREATED:
        return read_range(reader, term, kind);
    case KIND_HEADER:
        return read_header(reader, term);
    case KIND_GROUP:
        return read_group(reader, term);
    case KIND_JSON:
        return read_json(reader, term);
    case KIND_CATEGORY:
    case KIND_STATUS:
    case KIND_OUTCOME:
    case KIND_FLAG:
        break;
    }
    return read_word(reader, term, kind);
}
