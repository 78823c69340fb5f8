#include "core/filter_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"

enum kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_AGE,
    KIND_CREATED,
    KIND_GROUP,
    KIND_KIND,
    KIND_STATUS,
    KIND_FLAG,
    KIND_HEADER
};

static const struct field_row {
    const char *name;
    enum kind kind;
    unsigned needs;
    const char *help;
} fields[] = {
#define FIELD(id, name, kind, needs, help) {name, KIND_##kind, needs, help},
#include "core/filter_fields.def"
#undef FIELD
};
enum { NAMED_FIELDS = sizeof fields / sizeof *fields };

static const struct flag_row {
    enum filter_field field;
    const char *word;
    enum filter_flag flag;
    unsigned needs;
} flags[] = {
    {FIELD_IS, "edited", FLAG_EDITED, EVENT_KNOWN},
    {FIELD_IS, "back", FLAG_BACK, EVENT_KNOWN},
    {FIELD_IS, "quarantined", FLAG_QUARANTINED, EVENT_KNOWN},
    {FIELD_IS, "new", FLAG_NEW, EVENT_NARROW},
    {FIELD_IS, "busy", FLAG_BUSY, EVENT_KNOWN},
    {FIELD_HAS, "stack", FLAG_STACK, EVENT_STACK},
    {FIELD_HAS, "raw", FLAG_RAW, EVENT_RAW},
};

// The text being read. Positions are bytes of it; errors give characters.
struct reader {
    struct bytes text;
    size_t at;
    struct filter *filter;
    struct err *err;
    struct strbuf bare; // the words that are no terms, joined by single blanks
    struct bare_word {
        size_t in_bare, in_text;
    } words[64]; // where each of them came from
    size_t word_count;
};

static bool
wrong(struct reader *reader, size_t at, const char *sentence)
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

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// A value at reader->at: "…", /…/ or up to the next blank. The quote's escapes are undone.
static bool
read_value(struct reader *reader, struct strbuf *value, bool *is_quoted)
{
    struct bytes text = reader->text;
    char open = reader->at < text.len ? text.data[reader->at] : '\0';
    *is_quoted = open == '"' || open == '/';
    if (!*is_quoted) {
        size_t from = reader->at;
        while (reader->at < text.len && !is_blank(text.data[reader->at]))
            reader->at++;
        strbuf_add(value, bytes_slice(text, from, reader->at - from));
        return true;
    }

    size_t opened_at = reader->at++;
    while (reader->at < text.len && text.data[reader->at] != open) {
        bool is_escape = text.data[reader->at] == '\\' && reader->at + 1 < text.len;
        char next = is_escape ? text.data[reader->at + 1] : '\0';
        if (is_escape && (next == open || (open == '"' && next == '\\')))
            reader->at++;
        else if (is_escape)
            strbuf_add_char(value, text.data[reader->at++]);
        strbuf_add_char(value, text.data[reader->at++]);
    }
    if (reader->at == text.len)
        return wrong(reader, opened_at,
                     open == '"' ? "expected the \" that ends this value"
                                 : "expected the / that ends this expression");
    reader->at++;
    if (reader->at < text.len && !is_blank(text.data[reader->at]))
        return wrong(reader, reader->at, "expected a blank after the closing quote");
    return true;
}

static struct filter_term *
add_term(struct reader *reader, enum filter_field field, bool is_inverted)
{
    struct filter *filter = reader->filter;
    filter->terms = alloc_grow(filter->terms, filter->count, &filter->capacity, sizeof *filter->terms);
    struct filter_term *term = &filter->terms[filter->count++];
    *term = (struct filter_term){.field = field, .is_inverted = is_inverted};
    return term;
}

static bool
compile(struct reader *reader, struct filter_term *term, struct bytes expression, size_t at)
{
    struct err why = {0};
    if (pattern_compile(&term->pattern, expression, &why))
        return true;
    // The column within the expression, moved to where it stands in the line.
    struct bytes before = bytes_slice(reader->text, 0, at);
    int column = why.column;
    for (size_t i = 0; i < before.len; column++) {
        uint32_t point;
        i += utf8_decode(before, i, &point);
    }
    if (reader->err)
        reader->err->column = column;
    return wrong(reader, at, why.text);
}

// `=exact` or a regular expression.
static bool
read_text(struct reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    term->is_exact = from < reader->text.len && reader->text.data[from] == '=';
    reader->at += term->is_exact;
    bool is_quoted;
    struct strbuf value = {0};
    size_t value_at = reader->at;
    bool ok = read_value(reader, &value, &is_quoted);
    if (ok && value.len == 0 && !term->is_exact)
        ok = wrong(reader, value_at, "expected a value: a regular expression, or = and the exact text");
    if (ok && term->is_exact)
        strbuf_add(&term->exact, strbuf_bytes(&value));
    else if (ok)
        ok = compile(reader, term, strbuf_bytes(&value), value_at + is_quoted);
    strbuf_release(&value);
    return ok;
}

// One end of a range or comparison, in the units of its field.
typedef bool read_bound_fn(struct bytes text, int64_t *low, int64_t *high, struct err *err);

static bool
number_bound(struct bytes text, int64_t *low, int64_t *high, struct err *err)
{
    if (!text_parse_int(text, low, err))
        return false;
    *high = *low;
    return true;
}

static bool
age_bound(struct bytes text, int64_t *low, int64_t *high, struct err *err)
{
    if (!text_parse_duration(text, low, err))
        return false;
    *high = *low;
    return true;
}

static bool
created_bound(struct bytes text, int64_t *low, int64_t *high, struct err *err)
{
    bool is_date;
    if (!time_parse_wall(text, low, &is_date, err))
        return false;
    // A bare date is the whole day, a time without seconds the whole minute, else the whole second.
    size_t colons = 0;
    for (size_t i = 0; i < text.len; i++)
        colons += text.data[i] == ':';
    bool has_fraction = bytes_find(text, BYTES("."), 0) != SIZE_MAX;
    int64_t length = is_date ? 86400 * US_PER_SECOND : colons < 2 ? 60 * US_PER_SECOND : US_PER_SECOND;
    *high = has_fraction ? *low : *low + length - 1;
    return true;
}

// `n`, `>n`, `>=n`, `<n`, `<=n`, `a..b`, `a..`, `..b`.
static bool
read_range(struct bytes value, read_bound_fn *bound, int64_t *low, int64_t *high, struct err *err)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    int64_t from;
    int64_t to;
    size_t dots = bytes_find(value, BYTES(".."), 0);
    if (dots != SIZE_MAX) {
        struct bytes left = bytes_slice(value, 0, dots);
        struct bytes right = bytes_slice(value, dots + 2, SIZE_MAX);
        if (left.len && !bound(left, low, &to, err))
            return false;
        if (right.len && !bound(right, &from, high, err))
            return false;
        return left.len || right.len ||
               err_set(err, ERR_USAGE, "expected a number or time on at least one side of ..");
    }
    bool is_above = bytes_starts(value, ">");
    bool is_below = bytes_starts(value, "<");
    bool is_equal = value.len > 1 && value.data[1] == '=' && (is_above || is_below);
    struct bytes rest = bytes_slice(value, (size_t)(is_above || is_below) + is_equal, SIZE_MAX);
    if (!bound(rest, &from, &to, err))
        return false;
    if (is_above)
        *low = is_equal ? from : to == INT64_MAX ? to : to + 1;
    else if (is_below)
        *high = is_equal ? to : from == INT64_MIN ? from : from - 1;
    else {
        *low = from;
        *high = to;
    }
    return true;
}

static bool
read_bounds(struct reader *reader, struct filter_term *term, enum kind kind)
{
    size_t from = reader->at;
    struct strbuf value = {0};
    bool is_quoted;
    struct err why = {0};
    bool ok = read_value(reader, &value, &is_quoted);
    struct bytes text = strbuf_bytes(&value);
    bool is_bare_age = kind == KIND_AGE && text.len && text.data[0] != '<' && text.data[0] != '>' &&
                       bytes_find(text, BYTES(".."), 0) == SIZE_MAX;
    read_bound_fn *bound = kind == KIND_AGE ? age_bound : kind == KIND_CREATED ? created_bound : number_bound;
    if (ok && is_bare_age)
        ok = wrong(reader, from,
                   "expected < or > before the age: age:<2h is younger, age:>2h older than two hours");
    else if (ok && !read_range(text, bound, &term->low, &term->high, &why))
        ok = wrong(reader, from, why.text);
    strbuf_release(&value);
    return ok;
}

// A word of a fixed list; says which there are, and which is nearest.
static bool
unknown_word(struct reader *reader, size_t at, const char *word, const char *const *words, size_t count)
{
    struct strbuf sentence = {0};
    const char *near = text_suggest(word, words, count);
    strbuf_add_text(&sentence, "expected one of");
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&sentence, "%s %s", i ? "," : "", words[i]);
    if (near)
        strbuf_printf(&sentence, "; did you mean %s?", near);
    wrong(reader, at, strbuf_text(&sentence));
    strbuf_release(&sentence);
    return false;
}

static bool
set_kind(struct reader *reader, struct filter_term *term, const char *word, size_t at)
{
    if (category_parse(bytes_of(word), &term->category))
        return true;
    const char *words[CATEGORY_COUNT];
    for (int i = 0; i < CATEGORY_COUNT; i++)
        words[i] = category_name((enum category)i);
    return unknown_word(reader, at, word, words, CATEGORY_COUNT);
}

static bool
set_status(struct reader *reader, struct filter_term *term, const char *word, size_t at)
{
    static const char *const words[] = {"pending", "resolved", "discarded", "all"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0)
            term->statuses = 1u << i;
    if (strcmp(word, "all") == 0)
        term->statuses =
            1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER;
    return term->statuses || unknown_word(reader, at, word, words, sizeof words / sizeof *words);
}

static bool
set_flag(struct reader *reader, struct filter_term *term, const char *word, size_t at)
{
    const char *words[sizeof flags / sizeof *flags];
    size_t count = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].field != term->field)
            continue;
        words[count++] = flags[i].word;
        if (strcmp(word, flags[i].word) == 0) {
            term->flag = flags[i].flag;
            return true;
        }
    }
    return unknown_word(reader, at, word, words, count);
}

static bool
set_group(struct reader *reader, struct filter_term *term, const char *word, size_t at)
{
    return group_parse(bytes_of(word), &term->group_low, &term->group_high) ||
           wrong(reader, at, "expected 1 to 16 hexadecimal digits of a group's key");
}

static bool
read_word(struct reader *reader, struct filter_term *term, enum kind kind)
{
    size_t from = reader->at;
    struct strbuf value = {0};
    bool is_quoted;
    bool ok = read_value(reader, &value, &is_quoted);
    const char *word = strbuf_text(&value);
    if (ok && kind == KIND_KIND)
        ok = set_kind(reader, term, word, from);
    else if (ok && kind == KIND_STATUS)
        ok = set_status(reader, term, word, from);
    else if (ok && kind == KIND_FLAG)
        ok = set_flag(reader, term, word, from);
    else if (ok)
        ok = set_group(reader, term, word, from);
    strbuf_release(&value);
    return ok;
}

// header:NAME=value; the value is a regular expression, or after a second = exact.
static bool
read_header(struct reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    while (reader->at < reader->text.len && reader->text.data[reader->at] != '=' &&
           !is_blank(reader->text.data[reader->at]))
        reader->at++;
    if (reader->at == from)
        return wrong(reader, from, "expected the name of a header: header:NAME=value");
    strbuf_add(&term->header, bytes_slice(reader->text, from, reader->at - from));
    if (reader->at == reader->text.len || reader->text.data[reader->at] != '=')
        return wrong(reader, reader->at, "expected = and a value: header:NAME=value");
    reader->at++;
    return read_text(reader, term);
}

// The end of a path: the first of = ~ > < ? outside of brackets, or a blank.
static size_t
path_end(struct bytes text, size_t at)
{
    char quote = '\0';
    for (bool in_brackets = false; at < text.len; at++) {
        char c = text.data[at];
        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (in_brackets && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '[' || c == ']') {
            in_brackets = c == '[';
        } else if (!in_brackets && (is_blank(c) || strchr("=~<>?", c))) {
            break;
        }
    }
    return at;
}

static bool
read_json_test(struct reader *reader, struct filter_term *term)
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
    return wrong(
        reader, reader->at,
        "expected what to ask of the value: =value, ~expression, >number, <number, or ? that it exists");
}

static bool
is_number(struct bytes text)
{
    struct json_scan scan;
    json_begin(&scan, text);
    return json_next(&scan).kind == JSON_NUMBER && json_next(&scan).kind == JSON_END;
}

// $.path and its test at reader->at.
static bool
read_json(struct reader *reader, struct filter_term *term)
{
    size_t from = reader->at;
    size_t end = path_end(reader->text, from);
    struct err why = {0};
    if (!json_path_parse(&term->path, bytes_slice(reader->text, from, end - from), &why))
        return wrong(reader, from + (size_t)(why.column > 0 ? why.column - 1 : 0), why.text);
    reader->at = end;
    if (!read_json_test(reader, term))
        return false;

    size_t value_at = reader->at;
    if (term->test == JSON_EXISTS)
        return reader->at == reader->text.len || is_blank(reader->text.data[reader->at]) ||
               wrong(reader, reader->at, "expected a blank after ?");
    bool is_quoted;
    if (!read_value(reader, &term->exact, &is_quoted))
        return false;
    if (term->test == JSON_MATCHES)
        return compile(reader, term, strbuf_bytes(&term->exact), value_at + is_quoted);
    bool compares = term->test != JSON_EQUALS;
    return !compares || is_number(strbuf_bytes(&term->exact)) || wrong(reader, value_at, "expected a number");
}

static bool
read_term(struct reader *reader, enum filter_field field, bool is_inverted)
{
    struct filter_term *term = add_term(reader, field, is_inverted);
    enum kind kind = fields[field].kind;
    switch (kind) {
    case KIND_TEXT:
        return read_text(reader, term);
    case KIND_NUMBER:
    case KIND_AGE:
    case KIND_CREATED:
        return read_bounds(reader, term, kind);
    case KIND_HEADER:
        return read_header(reader, term);
    case KIND_GROUP:
    case KIND_KIND:
    case KIND_STATUS:
    case KIND_FLAG:
        break;
    }
    return read_word(reader, term, kind);
}

// The name before a colon at `at`, lower-case letters and dashes; len 0: there is none.
static struct bytes
field_name(struct bytes text, size_t at)
{
    size_t end = at;
    while (end < text.len && ((text.data[end] >= 'a' && text.data[end] <= 'z') || text.data[end] == '-'))
        end++;
    bool is_name = end > at && end < text.len && text.data[end] == ':';
    return bytes_slice(text, at, is_name ? end - at : 0);
}

// One letter wrong, missing, doubled or swapped: a field mistyped. Farther words are text, such as host:443.
static bool
is_near(struct bytes name, const char *field)
{
    size_t la = name.len;
    size_t lb = strlen(field);
    if (la < 3 || la + 1 < lb || lb + 1 < la)
        return false;
    size_t head = 0;
    while (head < la && head < lb && name.data[head] == field[head])
        head++;
    size_t tail = 0;
    while (tail < la - head && tail < lb - head && name.data[la - 1 - tail] == field[lb - 1 - tail])
        tail++;
    size_t left_a = la - head - tail;
    size_t left_b = lb - head - tail;
    bool is_swap = left_a == 2 && left_b == 2 && name.data[head] == field[head + 1] &&
                   name.data[head + 1] == field[head];
    return is_swap || (left_a <= 1 && left_b <= 1);
}

// Does the slash at `at` begin an expression, that is, does its closing slash end a word? /api/v1 is text.
static bool
is_expression(struct bytes text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '/'; at++)
        if (text.data[at] == '\\')
            at++;
    return at < text.len && (at + 1 == text.len || is_blank(text.data[at + 1]));
}

static bool
read_bare(struct reader *reader, bool is_inverted)
{
    size_t from = reader->at;
    bool is_quoted;
    struct strbuf value = {0};
    bool is_path =
        from < reader->text.len && reader->text.data[from] == '/' && !is_expression(reader->text, from);
    if (is_path) {
        while (reader->at < reader->text.len && !is_blank(reader->text.data[reader->at]))
            reader->at++;
        strbuf_add(&value, bytes_slice(reader->text, from, reader->at - from));
        is_quoted = false;
    } else if (!read_value(reader, &value, &is_quoted)) {
        strbuf_release(&value);
        return false;
    }
    bool ok = true;
    if (is_inverted) {
        struct filter_term *term = add_term(reader, FIELD_ERROR, true);
        ok = value.len ? compile(reader, term, strbuf_bytes(&value), from + is_quoted)
                       : wrong(reader, from, "expected an expression after !");
    } else {
        if (reader->bare.len)
            strbuf_add_char(&reader->bare, ' ');
        if (reader->word_count < sizeof reader->words / sizeof *reader->words)
            reader->words[reader->word_count++] = (struct bare_word){reader->bare.len, from + is_quoted};
        strbuf_add(&reader->bare, strbuf_bytes(&value));
    }
    strbuf_release(&value);
    return ok;
}

static bool
read_one(struct reader *reader)
{
    struct bytes text = reader->text;
    bool is_inverted =
        text.data[reader->at] == '!' && reader->at + 1 < text.len && !is_blank(text.data[reader->at + 1]);
    size_t from = reader->at + is_inverted;
    struct bytes name = field_name(text, from);
    for (int i = 0; name.len && i < NAMED_FIELDS; i++) {
        if (!bytes_equal_text(name, fields[i].name))
            continue;
        reader->at = from + name.len + 1;
        return read_term(reader, (enum filter_field)i, is_inverted);
    }
    for (int i = 0; name.len && i < NAMED_FIELDS; i++) {
        char sentence[160];
        snprintf(sentence, sizeof sentence,
                 "there is no field %.*s; did you mean %s: ? (in quotes it is text)", (int)name.len,
                 name.data, fields[i].name);
        if (is_near(name, fields[i].name))
            return wrong(reader, from, sentence);
    }
    reader->at = from;
    bool is_path = text.data[from] == '$' && from + 1 < text.len &&
                   (text.data[from + 1] == '.' || text.data[from + 1] == '[');
    if (is_path)
        return read_json(reader, add_term(reader, FIELD_JSON, is_inverted));
    return read_bare(reader, is_inverted);
}

// The joined bare words become one term; a mistake in it is shown where its word stands.
static bool
finish_bare(struct reader *reader)
{
    if (reader->bare.len == 0)
        return true;
    struct filter_term *term = add_term(reader, FIELD_ERROR, false);
    struct err why = {0};
    if (pattern_compile(&term->pattern, strbuf_bytes(&reader->bare), &why))
        return true;
    size_t at = 0;
    for (int column = 1; column < why.column && at < reader->bare.len; column++) {
        uint32_t point;
        at += utf8_decode(strbuf_bytes(&reader->bare), at, &point);
    }
    size_t in_text = at;
    for (size_t i = 0; i < reader->word_count && reader->words[i].in_bare <= at; i++)
        in_text = reader->words[i].in_text + (at - reader->words[i].in_bare);
    return wrong(reader, in_text, why.text);
}

bool
filter_parse(struct filter **filter, struct bytes text, const struct filter_context *context, struct err *err)
{
    struct filter *made = alloc_bytes(sizeof *made);
    made->context = *context;
    if (made->context.new_after == TIME_ABSENT)
        made->context.new_after = context->now - 3600 * US_PER_SECOND;
    struct reader reader = {.text = text, .filter = made, .err = err};
    bool ok = utf8_valid(text) || err_set(err, ERR_USAGE, "a filter is written in UTF-8");
    while (ok) {
        while (reader.at < text.len && is_blank(text.data[reader.at]))
            reader.at++;
        if (reader.at == text.len)
            break;
        ok = read_one(&reader);
    }
    ok = ok && finish_bare(&reader);
    strbuf_release(&reader.bare);
    if (!ok) {
        filter_destroy(made);
        return false;
    }
    *filter = made;
    return true;
}

void
filter_destroy(struct filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++) {
        struct filter_term *term = &filter->terms[i];
        pattern_destroy(term->pattern);
        json_path_destroy(term->path);
        strbuf_release(&term->exact);
        strbuf_release(&term->header);
    }
    free(filter->terms);
    strbuf_release(&filter->scratch);
    free(filter);
}

bool
filter_is_empty(const struct filter *filter)
{
    return filter->count == 0;
}

unsigned
filter_needs(const struct filter *filter)
{
    unsigned needs = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const struct filter_term *term = &filter->terms[i];
        if (term->field == FIELD_JSON)
            needs |= EVENT_PAYLOAD;
        else if (fields[term->field].kind != KIND_FLAG)
            needs |= fields[term->field].needs;
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            if (flags[f].field == term->field && flags[f].flag == term->flag)
                needs |= flags[f].needs;
    }
    return needs;
}

unsigned
filter_statuses(const struct filter *filter)
{
    unsigned all = 1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER;
    unsigned statuses = all;
    bool has_term = false;
    for (size_t i = 0; i < filter->count; i++) {
        const struct filter_term *term = &filter->terms[i];
        if (term->field != FIELD_STATUS)
            continue;
        has_term = true;
        statuses &= term->is_inverted ? all & ~term->statuses : term->statuses;
    }
    return has_term ? statuses : 0;
}

// "is:edited" and the like, in the order of the fields.
static const char *const values[] = {
    "kind:transient",  "kind:data",        "kind:system", "kind:permanent", "kind:unknown", "status:pending",
    "status:resolved", "status:discarded", "status:all",  "is:edited",      "is:back",      "is:quarantined",
    "is:new",          "is:busy",          "has:stack",   "has:raw"};
static const char *const names[] = {
#define FIELD(id, name, kind, needs, help) name ":",
#include "core/filter_fields.def"
#undef FIELD
};

const char *
filter_complete(struct bytes text, size_t i)
{
    size_t from = text.len;
    while (from > 0 && !is_blank(text.data[from - 1]))
        from--;
    struct bytes word = bytes_slice(text, from, SIZE_MAX);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (word.len < strlen(names[n]) && memcmp(names[n], word.data, word.len) == 0 && i-- == 0)
            return names[n];
    for (size_t n = 0; word.len && n < sizeof values / sizeof *values; n++)
        if (word.len < strlen(values[n]) && memchr(word.data, ':', word.len) &&
            memcmp(values[n], word.data, word.len) == 0 && i-- == 0)
            return values[n];
    return NULL;
}

bool
filter_field_help(size_t i, const char **name, const char **sentence)
{
    if (i < NAMED_FIELDS) {
        *name = names[i];
        *sentence = fields[i].help;
        return true;
    }
    *name = "$.path";
    *sentence = "a value in the payload: $.a.b=text, $.a~expression, $.a>10, $.a[0].b?";
    return i == NAMED_FIELDS;
}
