// The words of the filter language: fields, fixed values, misspelt names, completion and help.
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "core/filter/parse.h"

static const struct field_row {
    const char *name;
    enum filter_kind kind;
    unsigned needs;
    const char *help;
} fields[] = {
#define FIELD(id, name, kind, needs, help) {name, KIND_##kind, needs, help},
#include "core/filter/fields.def"
#undef FIELD
    [FIELD_JSON] = {"$.path", KIND_JSON, EVENT_PAYLOAD,
                    "a value in the payload: $.a.b=text, $.a~expression, $.a>10, $.a[0].b?, $.a?null"},
};
enum { FIELDS = sizeof fields / sizeof *fields };

// The values of category: status: is: and has:, as completion writes them.
static const struct value_row {
    const char *text;
    enum filter_field field;
    unsigned value; // enum category, set of 1 << enum event_status, enum filter_flag
    unsigned needs; // of flags, which differ
} values[] = {
    {"!category:transient", FIELD_CATEGORY, CATEGORY_TRANSIENT, 0},
    {"!category:data", FIELD_CATEGORY, CATEGORY_DATA, 0},
    {"!category:system", FIELD_CATEGORY, CATEGORY_SYSTEM, 0},
    {"!category:permanent", FIELD_CATEGORY, CATEGORY_PERMANENT, 0},
    {"!category:unknown", FIELD_CATEGORY, CATEGORY_UNKNOWN, 0},
    {"!status:pending", FIELD_STATUS, 1u << EVENT_PENDING, 0},
    {"!status:resolved", FIELD_STATUS, 1u << EVENT_RESOLVED, 0},
    {"!status:discarded", FIELD_STATUS, 1u << EVENT_DISCARDED, 0},
    {"!status:all", FIELD_STATUS, FILTER_ALL_STATUSES, 0},
    {"!outcome:sent", FIELD_OUTCOME, EVENT_WAS_SENT, 0},
    {"!outcome:taken", FIELD_OUTCOME, EVENT_WAS_TAKEN, 0},
    {"!outcome:waiting", FIELD_OUTCOME, EVENT_IS_WAITING, 0},
    {"!outcome:stayed", FIELD_OUTCOME, EVENT_STAYED, 0},
    {"!outcome:returned", FIELD_OUTCOME, EVENT_RETURNED, 0},
    {"!outcome:refused", FIELD_OUTCOME, EVENT_WAS_REFUSED, 0},
    {"!outcome:skipped", FIELD_OUTCOME, EVENT_WAS_SKIPPED, 0},
    {"!outcome:doubt", FIELD_OUTCOME, EVENT_IS_IN_DOUBT, 0},
    {"!outcome:unsent", FIELD_OUTCOME, EVENT_IS_UNSENT, 0},
    {"!is:edited", FIELD_IS, FLAG_EDITED, EVENT_KNOWN},
    {"!is:returned", FIELD_IS, FLAG_RETURNED, EVENT_KNOWN},
    {"!is:quarantined", FIELD_IS, FLAG_QUARANTINED, EVENT_KNOWN},
    {"!is:new", FIELD_IS, FLAG_NEW, EVENT_NARROW},
    {"!is:busy", FIELD_IS, FLAG_BUSY, EVENT_KNOWN},
    {"!has:stack", FIELD_HAS, FLAG_STACK, EVENT_STACK},
    {"!has:raw", FIELD_HAS, FLAG_RAW, EVENT_RAW},
};
enum { VALUES = sizeof values / sizeof *values };

// The field names as completion writes them.
static const char *const prompts[] = {
#define FIELD(id, name, kind, needs, help) "!" name ":",
#include "core/filter/fields.def"
#undef FIELD
};
enum { PROMPTS = sizeof prompts / sizeof *prompts };

bool
filter_field_find(struct bytes name, enum filter_field *field)
{
    if (bytes_equal_text(name, "kind")) // a synonym that is never suggested
        name = bytes_of("category");
    if (bytes_equal_text(name, "dlq-topic")) // likewise
        name = bytes_of("queue");
    for (int i = 0; i < PROMPTS; i++) {
        if (!bytes_equal_text(name, fields[i].name))
            continue;
        *field = (enum filter_field)i;
        return true;
    }
    return false;
}

enum filter_kind
filter_field_kind(enum filter_field field)
{
    return fields[field].kind;
}

// Is `name` the field with one letter wrong, missing, doubled, or two swapped? The first letter is seldom
// mistyped, and short words are near to too many: bind: page: pid: are text.
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
    return is_swap || (lb >= 4 && head > 0 && left_a <= 1 && left_b <= 1);
}

const char *
filter_field_near(struct bytes name)
{
    for (int i = 0; i < PROMPTS; i++)
        if (is_near(name, fields[i].name))
            return fields[i].name;
    return NULL;
}

// The word itself, behind the colon.
static const char *
value_word(const struct value_row *row)
{
    return strchr(row->text, ':') + 1;
}

bool
filter_value_find(enum filter_field field, struct bytes word, unsigned *value)
{
    if (field == FIELD_IS && bytes_equal_text(word, "back")) // likewise
        word = bytes_of("returned");
    for (int i = 0; i < VALUES; i++) {
        if (values[i].field != field || !bytes_equal_text(word, value_word(&values[i])))
            continue;
        *value = values[i].value;
        return true;
    }
    return false;
}

void
filter_value_expected(enum filter_field field, struct bytes word, struct strbuf *sentence)
{
    const char *words[VALUES];
    size_t count = 0;
    strbuf_add_text(sentence, "expected one of");
    for (int i = 0; i < VALUES; i++) {
        if (values[i].field != field)
            continue;
        strbuf_printf(sentence, "%s %s", count ? "," : "", value_word(&values[i]));
        words[count++] = value_word(&values[i]);
    }
    struct strbuf typed = {0};
    strbuf_add(&typed, word);
    const char *near = text_suggest(strbuf_text(&typed), words, count);
    if (near)
        strbuf_printf(sentence, "; did you mean %s?", near);
    strbuf_release(&typed);
}

unsigned
filter_term_needs(const struct filter *filter, size_t n)
{
    const struct filter_term *term = &filter->terms[n];
    if (fields[term->field].kind != KIND_FLAG)
        return fields[term->field].needs;
    for (int i = 0; i < VALUES; i++)
        if (values[i].field == term->field && values[i].value == (unsigned)term->flag)
            return values[i].needs;
    return fields[term->field].needs;
}

const char *
filter_term_name(const struct filter *filter, size_t i)
{
    return fields[filter->terms[i].field].name;
}

unsigned
filter_needs(const struct filter *filter)
{
    unsigned needs = 0;
    for (size_t i = 0; i < filter->count; i++)
        needs |= filter_term_needs(filter, i);
    return needs;
}

// Does `text`, written with its "!", continue `word`?
static bool
continues(const char *text, struct bytes word)
{
    size_t len = strlen(text);
    bool is_inverted = word.len && word.data[0] == '!';
    size_t from = is_inverted ? 0 : 1;
    return word.len < len - from && memcmp(text + from, word.data, word.len) == 0;
}

const char *
filter_complete(struct bytes text, size_t i)
{
    size_t from = text.len;
    while (from > 0 && !filter_is_blank(text.data[from - 1]))
        from--;
    struct bytes word = bytes_slice(text, from, SIZE_MAX);
    size_t skip = word.len && word.data[0] == '!' ? 0 : 1;
    for (size_t n = 0; n < PROMPTS; n++)
        if (continues(prompts[n], word) && i-- == 0)
            return prompts[n] + skip;
    if (bytes_find(word, BYTES(":"), 0) == SIZE_MAX)
        return NULL;
    for (size_t n = 0; n < VALUES; n++)
        if (continues(values[n].text, word) && i-- == 0)
            return values[n].text + skip;
    return NULL;
}

bool
filter_field_help(size_t i, const char **name, const char **sentence)
{
    if (i >= FIELDS)
        return false;
    *name = i < PROMPTS ? prompts[i] + 1 : fields[i].name;
    *sentence = fields[i].help;
    return true;
}

bool
filter_join_help(size_t i, const char **name, const char **sentence)
{
    static const char *const joins[][2] = {
        {"or", "either side: topic:orders or topic:payments; else it is text"},
        {"( )", "together, around terms: (topic:orders or is:new) timeout"},
        {"not !", "the opposite: not (topic:orders timeout), !topic:orders"},
    };
    if (i >= sizeof joins / sizeof *joins)
        return false;
    *name = joins[i][0];
    *sentence = joins[i][1];
    return true;
}
