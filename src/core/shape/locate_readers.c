#include "core/shape/locate_readers.h"

#include <string.h>
#include "base/text.h"

enum { PART_BYTES = 512, CHAIN_BYTES = 8192 }; // of a name, a value or one step; of a chain

static char
char_at(const struct form_reader *form, size_t at)
{
    return at < form->text.len ? form->text.data[at] : '\0';
}

static bool
is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
form_starts_at(const struct form_reader *form, size_t at, const char *text)
{
    return bytes_starts(bytes_slice(form->text, at, SIZE_MAX), text);
}

// The end of the characters of a name.
static size_t
form_name_end(const struct form_reader *form, size_t at)
{
    size_t limit = at + PART_BYTES;
    while (at < form->text.len && at < limit && (unsigned char)form->text.data[at] > ' ' &&
           !is_one_of(form->text.data[at], ".[],:;|()'\"`={}<>/\x7f"))
        at++;
    return at;
}

static bool
form_read_number(const struct form_reader *form, size_t *at, size_t *number)
{
    size_t from = *at;
    size_t value = 0;
    while (is_digit(char_at(form, *at)) && *at - from < 9)
        value = value * 10 + (size_t)(form->text.data[(*at)++] - '0');
    *number = value;
    return *at > from && !is_digit(char_at(form, *at));
}

static bool
form_add_step(struct form_reader *form, struct locate_step step)
{
    struct locate_where *where = form->where;
    if (where->step_count == LOCATE_STEPS)
        return false;
    step.name = arena_copy(form->arena, step.name);
    where->steps[where->step_count++] = step;
    return true;
}

// A name that may be an index too: `2` of lines.2.amount.
static bool
form_add_name(struct form_reader *form, struct bytes name)
{
    struct form_reader digits = {.text = name};
    size_t at = 0;
    struct locate_step step = {.name = name};
    step.is_index = form_read_number(&digits, &at, &step.index) && at == name.len;
    return form_add_step(form, step);
}

// The offset of the quote that ends a text whose content begins at `at`; SIZE_MAX: too far away.
static size_t
quoted_end(const struct form_reader *form, size_t at, char quote)
{
    size_t limit = at + PART_BYTES;
    for (; at < form->text.len && at < limit; at++) {
        if (form->text.data[at] == quote)
            return at;
        at += form->text.data[at] == '\\';
    }
    return SIZE_MAX;
}

// The content of a quoted text, with backslash escapes of quotes undone.
static struct bytes
unquoted(const struct form_reader *form, size_t from, size_t end)
{
    char *out = arena_alloc(form->arena, end - from + 1);
    size_t len = 0;
    for (size_t i = from; i < end; i++) {
        bool is_escape = form->text.data[i] == '\\' && is_one_of(char_at(form, i + 1), "'\"\\");
        i += is_escape;
        out[len++] = form->text.data[i];
    }
    return (struct bytes){out, len};
}

// The text up to the quote that matches. *at is behind the opening quote before, and behind the closing one
// afterwards. false: it does not end, or is too long.
static bool
form_read_quoted(const struct form_reader *form, size_t *at, char quote, struct bytes *content)
{
    size_t end = quoted_end(form, *at, quote);
    if (end == SIZE_MAX)
        return false;
    *content = unquoted(form, *at, end);
    *at = end + 1;
    return true;
}

// `[2]` `['x']` `["x"]` `[x]` behind the bracket.
static bool
form_read_bracket(struct form_reader *form, size_t *at)
{
    char c = char_at(form, *at);
    struct locate_step step = {0};
    size_t from = *at;
    if (is_one_of(c, "'\"")) {
        size_t end = quoted_end(form, from + 1, c);
        if (end == SIZE_MAX || char_at(form, end + 1) != ']')
            return false;
        step.name = unquoted(form, from + 1, end);
        *at = end + 1;
    } else if (form_read_number(form, at, &step.index) && char_at(form, *at) == ']') {
        step.is_index = true;
    } else {
        *at = form_name_end(form, from);
        step.name = bytes_slice(form->text, from, *at - from);
        if (step.name.len == 0)
            return false;
    }
    if (char_at(form, *at) != ']')
        return false;
    (*at)++;
    return form_add_step(form, step);
}

static void
form_read_steps(struct form_reader *form, size_t at)
{
    for (bool is_first = true;; is_first = false) {
        char c = char_at(form, at);
        size_t from = at + (c == '.');
        size_t end = form_name_end(form, from);
        if (c == '[') {
            at++;
            if (!form_read_bracket(form, &at))
                return;
        } else if ((c == '.' || is_first) && end > from) {
            if (!form_add_name(form, bytes_slice(form->text, from, end - from)))
                return;
            at = end;
        } else {
            return;
        }
        form->at = at;
    }
}

// A `$` or `#` within a word is no root: Order$.apply, https://example.org/#/a.
static bool
is_within_word(const struct form_reader *form)
{
    char marker = char_at(form, form->start);
    char before = form->start ? form->text.data[form->start - 1] : ' ';
    return is_one_of(marker, "$#") && !is_one_of(before, " \t\n'\"(:=`[");
}

static bool
form_read_path(struct form_reader *form)
{
    if (is_within_word(form))
        return false;
    bool needs_steps = form->text.data[form->at - 1] == '.';
    form_read_steps(form, form->at);
    char next = char_at(form, form->at);
    bool is_root = !needs_steps && (next == '\0' || is_one_of(next, "' \n,|:;)"));
    form->where->has_path = form->where->step_count > 0 || is_root;
    return form->where->has_path;
}

static bool
form_read_brackets(struct form_reader *form)
{
    size_t at = form->at;
    if (is_within_word(form) || !form_read_bracket(form, &at))
        return false;
    form_read_steps(form, at);
    form->where->has_path = true;
    return true;
}

// com.acme.Order["lines"]->java.util.ArrayList[2]->com.acme.Line["amount"])
static bool
form_read_chain(struct form_reader *form)
{
    size_t at = form->at;
    size_t limit = at + CHAIN_BYTES;
    while (at < form->text.len && at < limit && !is_one_of(form->text.data[at], ")\n")) {
        if (form->text.data[at++] != '[')
            continue;
        if (char_at(form, at) == '\\')
            return false; // the quotes are escaped (locate_read)
        // Brackets of array types, as in Line[][2], are no steps.
        size_t inside = at;
        if ((is_digit(char_at(form, at)) || char_at(form, at) == '"') && form_read_bracket(form, &inside))
            at = inside;
    }
    form->where->has_path = form->where->step_count > 0;
    return form->where->has_path;
}

static bool
add_pointer_name(struct form_reader *form, struct bytes name)
{
    char *out = arena_alloc(form->arena, name.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        char next = i + 1 < name.len ? name.data[i + 1] : '\0';
        bool is_escape = name.data[i] == '~' && is_one_of(next, "01");
        out[len++] = is_escape ? (next == '0' ? '~' : '/') : name.data[i];
        i += is_escape;
    }
    return form_add_name(form, (struct bytes){out, len});
}

static void
form_read_pointer_steps(struct form_reader *form, size_t at)
{
    for (;;) {
        size_t end = at;
        while (end < form->text.len && (unsigned char)form->text.data[end] > ' ' &&
               !is_one_of(form->text.data[end], "/'\":,;)"))
            end++;
        if (end == at || !add_pointer_name(form, bytes_slice(form->text, at, end - at)))
            return;
        if (char_at(form, end) != '/')
            return;
        at = end + 1;
    }
}

static bool
form_read_pointer(struct form_reader *form)
{
    char c = char_at(form, form->at);
    if (is_within_word(form))
        return false;
    if (is_one_of(c, ".["))
        return form_read_path(form);
    form_read_pointer_steps(form, form->at + (c == '/'));
    form->where->has_path = form->where->step_count > 0 || is_one_of(c, "'\"");
    return form->where->has_path;
}

// Behind the model's name: in the next line, or in the next word where lines were joined.
static bool
form_read_location(struct form_reader *form)
{
    struct bytes head = bytes_slice(form->text, form->at, PART_BYTES);
    size_t line = bytes_find(head, BYTES("\n"), 0);
    size_t blank = bytes_find(head, BYTES(" "), 0);
    size_t at = line != SIZE_MAX ? line : blank;
    if (at == SIZE_MAX)
        return false;
    at += form->at + 1;
    while (char_at(form, at) == ' ')
        at++;
    for (;;) {
        size_t end = form_name_end(form, at);
        struct bytes name = bytes_slice(form->text, at, end - at);
        if (name.len == 0 || (!bytes_equal_text(name, "__root__") && !form_add_name(form, name)))
            break;
        at = end;
        if (form_starts_at(form, at, " -> "))
            at += 4;
        else if (char_at(form, at) == '.')
            at++;
        else
            break;
    }
    form->where->has_path = form->where->step_count > 0;
    form->where->is_path_missing =
        bytes_find(bytes_slice(form->text, at, 40), BYTES("ield required"), 0) != SIZE_MAX;
    return form->where->has_path;
}

// "lines", 2, "amount"]  'lines', 2, 'amount')
static bool
form_read_list(struct form_reader *form)
{
    size_t at = form->at;
    for (;;) {
        while (is_one_of(char_at(form, at), " \t\r\n,"))
            at++;
        char c = char_at(form, at);
        struct locate_step step = {0};
        if (is_one_of(c, "'\"")) {
            at++;
            if (!form_read_quoted(form, &at, c, &step.name))
                break;
        } else if (form_read_number(form, &at, &step.index)) {
            step.is_index = true;
        } else {
            break;
        }
        if (!form_add_step(form, step))
            break;
    }
    form->where->has_path = form->where->step_count > 0 && is_one_of(char_at(form, at), "])");
    return form->where->has_path;
}

// The word or quoted text that ends where the marker begins.
static struct bytes
text_before(const struct form_reader *form)
{
    size_t end = form->start;
    char quote = '\0';
    if (is_one_of(char_at(form, end), "'\"")) {
        quote = form->text.data[end];
    } else if (end && is_one_of(form->text.data[end - 1], "'\"")) {
        end--;
        quote = form->text.data[end];
    }
    size_t from = end;
    while (from > 0 && end - from < PART_BYTES) {
        char c = form->text.data[from - 1];
        bool ends = quote ? c == quote || c == '\n' : is_one_of(c, " \t\n\r,;(){}");
        if (ends)
            break;
        from--;
    }
    if (quote && (from == 0 || form->text.data[from - 1] != quote))
        return BYTES_ABSENT;
    return bytes_slice(form->text, from, end - from);
}

// The names that validators give to the whole document.
static size_t
root_length(struct bytes subject)
{
    static const char *const roots[] = {"data", "body", "instance", "root"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t len = strlen(roots[i]);
        if (bytes_starts(subject, roots[i]) && (subject.len == len || is_one_of(subject.data[len], "/.[")))
            return len;
    }
    return 0;
}

static bool
form_read_subject_path(struct form_reader *form, struct bytes subject)
{
    size_t root = root_length(subject);
    struct bytes rest = bytes_slice(subject, root, SIZE_MAX);
    if (root == 0 && !memchr(subject.data, '.', subject.len) && !memchr(subject.data, '[', subject.len) &&
        !memchr(subject.data, '/', subject.len))
        return false;
    struct form_reader inside = *form;
    inside.text = rest;
    inside.at = 0;
    if (rest.len && rest.data[0] == '/')
        form_read_pointer_steps(&inside, 1);
    else
        form_read_steps(&inside, 0);
    form->where->has_path = form->where->step_count > 0 || root == subject.len;
    form->where->is_path_missing = form->where->has_path && form->is_missing;
    return form->where->has_path;
}

static bool
form_read_subject(struct form_reader *form)
{
    struct bytes subject = text_before(form);
    if (subject.len == 0 || form->where->has_path)
        return false;
    if (form_read_subject_path(form, subject))
        return true;
    struct form_reader inside = {.text = subject};
    if (form_name_end(&inside, 0) != subject.len)
        return false;
    form->where->name = arena_copy(form->arena, subject);
    form->where->is_missing = form->is_missing;
    return true;
}

// A text in quotes, at the reader or begun by the marker.
static bool
form_read_in_quotes(struct form_reader *form, struct bytes *content)
{
    static const char quotes[] = "'\"`";
    size_t at = form->at;
    char quote = at ? form->text.data[at - 1] : '\0';
    if (!is_one_of(quote, quotes))
        quote = char_at(form, at++);
    return is_one_of(quote, quotes) && form_read_quoted(form, &at, quote, content);
}

static bool
form_read_subject_before(struct form_reader *form)
{
    struct bytes subject = text_before(form);
    return subject.len > 0 && form_read_subject_path(form, subject);
}

static bool
form_read_owner(struct form_reader *form)
{
    if (!form_read_in_quotes(form, &form->where->name))
        return false;
    form->where->is_missing = true;
    if (form_read_subject_before(form))
        form->where->is_path_missing = false;
    return true;
}

static enum json_kind
kind_named(struct bytes text)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } rows[] = {{"string", JSON_STRING},
                {"number", JSON_NUMBER},
                {"bool", JSON_TRUE},
                {"object", JSON_OBJECT_BEGIN},
                {"array", JSON_ARRAY_BEGIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bytes_starts(text, rows[i].word))
            return rows[i].kind;
    return JSON_END;
}

static bool
form_read_field(struct form_reader *form)
{
    size_t dot = form_name_end(form, form->at);
    if (char_at(form, dot) != '.')
        return false; // the type may have no name
    form_read_steps(form, dot);
    form->where->kind = kind_named(bytes_slice(form->text, form->marked, 16));
    form->where->has_path = form->where->step_count > 0;
    form->where->is_without_indexes = form->where->has_path;
    return form->where->has_path;
}

static bool
form_read_parse_fields(struct form_reader *form)
{
    size_t at = form->at;
    for (;;) {
        size_t end = form_name_end(form, at);
        if (end == at || !form_starts_at(form, end, " field: ") ||
            !form_add_name(form, bytes_slice(form->text, at, end - at)))
            break;
        at = end + strlen(" field: ");
        if (!form_starts_at(form, at, "Failed to parse "))
            break;
        at += strlen("Failed to parse ");
    }
    form->where->has_path = form->where->step_count > 0;
    form->where->is_without_indexes = form->where->has_path;
    return form->where->has_path;
}

static bool
form_take_name(struct form_reader *form, struct bytes name)
{
    if (name.len == 0)
        return false;
    form->where->name = arena_copy(form->arena, name);
    form->where->is_missing = form->is_missing;
    return true;
}

static bool
form_read_name(struct form_reader *form)
{
    struct bytes name;
    if (form_read_in_quotes(form, &name))
        return form_take_name(form, name);
    size_t from = form->at + (char_at(form, form->at) == ':');
    return form_take_name(form, bytes_slice(form->text, from, form_name_end(form, from) - from));
}

static bool
form_read_quoted_name(struct form_reader *form)
{
    struct bytes name;
    return form_read_in_quotes(form, &name) && form_take_name(form, name);
}

static bool
form_read_whole(struct form_reader *form)
{
    struct bytes name;
    size_t at = form->at;
    return form->start == 0 && form_read_quoted(form, &at, '\'', &name) && at == form->text.len &&
           form_take_name(form, name);
}

static bool
form_read_name_before(struct form_reader *form)
{
    return form_take_name(form, text_before(form));
}

static bool
form_read_words(struct form_reader *form)
{
    static const char *const verbs[] = {" can't ", " must ", " is ", " has ", " does ", " should ", " are "};
    struct bytes head = bytes_slice(form->text, form->at, 80);
    size_t end = SIZE_MAX;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t at = bytes_find(head, bytes_of(verbs[i]), 0);
        end = at < end ? at : end;
    }
    return end != SIZE_MAX && form_take_name(form, bytes_slice(head, 0, end));
}

static bool
form_read_value(struct form_reader *form)
{
    struct bytes value;
    if (!form_read_in_quotes(form, &value) || value.len == 0)
        return false;
    form->where->value = value;
    return true;
}

static bool
take_position(struct form_reader *form, size_t line, size_t column)
{
    if (form->where->line || form->where->has_offset || line == 0)
        return false;
    form->where->line = (int)line;
    form->where->column = column ? (int)column : 1;
    form->where->unit = form->unit;
    return true;
}

static bool
form_read_line(struct form_reader *form)
{
    static const char *const words[] = {"column", "position", "col", "char", ""};
    size_t at = form->at;
    size_t line;
    size_t column;
    if (!form_read_number(form, &at, &line) || !is_one_of(char_at(form, at), " ,:;"))
        return false;
    bool is_pair = char_at(form, at) == ':';
    while (is_one_of(char_at(form, at), " ,:;"))
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!form_starts_at(form, at, words[i]))
            continue;
        if (!*words[i] && !is_pair)
            return false;
        at += strlen(words[i]);
        break;
    }
    while (is_one_of(char_at(form, at), " :"))
        at++;
    return form_read_number(form, &at, &column) && take_position(form, line, column);
}

// Lines are counted from 0. The position is that of the byte behind the token, from 0: that is the column of
// the token's last byte, from 1.
static bool
form_read_line_from_0(struct form_reader *form)
{
    static const char between[] = " | BytePositionInLine: ";
    size_t at = form->at;
    size_t line;
    size_t column;
    if (!form_read_number(form, &at, &line) || !form_starts_at(form, at, between))
        return false;
    at += strlen(between);
    return form_read_number(form, &at, &column) && take_position(form, line + 1, column);
}

static bool
form_read_offset(struct form_reader *form)
{
    size_t at = form->at;
    size_t offset;
    if (form->where->line || form->where->has_offset || !form_read_number(form, &at, &offset))
        return false;
    form->where->has_offset = true;
    form->where->offset = offset;
    form->where->unit = form->unit;
    return true;
}

bool
locate_read_part(enum locate_reader reader, struct form_reader *form)
{
    switch (reader) {
    case READ_CHAIN:
        return form_read_chain(form);
    case READ_PATH:
        return form_read_path(form);
    case READ_BRACKETS:
        return form_read_brackets(form);
    case READ_POINTER:
        return form_read_pointer(form);
    case READ_LOCATION:
        return form_read_location(form);
    case READ_LIST:
        return form_read_list(form);
    case READ_OWNER:
        return form_read_owner(form);
    case READ_FIELD:
        return form_read_field(form);
    case READ_SUBJECT_PATH:
        return form_read_subject_before(form);
    case READ_PARSE_FIELDS:
        return form_read_parse_fields(form);
    case READ_SUBJECT:
        return form_read_subject(form);
    case READ_NAME:
        return form_read_name(form);
    case READ_NAME_BEFORE:
        return form_read_name_before(form);
    case READ_QUOTED_NAME:
        return form_read_quoted_name(form);
    case READ_WHOLE:
        return form_read_whole(form);
    case READ_WORDS:
        return form_read_words(form);
    case READ_VALUE:
        return form_read_value(form);
    case READ_LINE:
        return form_read_line(form);
    case READ_LINE_FROM_0:
        return form_read_line_from_0(form);
    case READ_OFFSET:
        return form_read_offset(form);
    case READ_COUNT:
        break;
    }
    return false;
}
