// One question, answered for every event of the samples.
#include "core/apart/private.h"

#include <stdlib.h>

enum { BEGINNING_MOST = 12 };

bool
apart_is_one_group(const struct apart *apart)
{
    uint64_t group = 0;
    bool has_group = false;
    for (size_t i = 0; i < apart->count; i++) {
        if (!apart->events[i].is_here)
            continue;
        if (has_group && apart->events[i].group != group)
            return false;
        has_group = true;
        group = apart->events[i].group;
    }
    return true;
}

size_t
apart_words(const struct apart *apart)
{
    return (apart->count + 63) / 64;
}

size_t
apart_beginning(struct bytes text)
{
    size_t len = 0;
    while (len < text.len && !(text.data[len] >= '0' && text.data[len] <= '9'))
        len++;
    return len < text.len && len <= BEGINNING_MOST ? len : 0;
}

static double
limit_of(struct bytes token)
{
    char text[64];
    size_t len = token.len < sizeof text ? token.len : sizeof text - 1;
    memcpy(text, token.data ? token.data : "", len);
    text[len] = '\0';
    return strtod(text, NULL);
}

// What is asked, ready to be compared.
struct asked {
    const struct apart_field *field;
    const struct apart_question *question;
    uint32_t texts[APART_VALUES];
    double low, high;
};

static void
asked_limits(struct asked *asked)
{
    const struct apart_question *question = asked->question;
    bool is_time = question->what == APART_CREATED;
    asked->low = is_time ? (double)question->low_time : limit_of(question->low);
    asked->high = is_time ? (double)question->high_time : limit_of(question->high);
}

static void
asked_texts(struct asked *asked)
{
    const struct apart_field *field = asked->field;
    const struct apart_question *question = asked->question;
    for (size_t i = 0; i < question->value_count; i++) {
        asked->texts[i] = APART_NONE;
        for (size_t t = 0; t < field->text_count && asked->texts[i] == APART_NONE; t++) {
            const struct apart_value *value = &field->texts[t].value;
            if (value->kind == question->values[i].kind && bytes_equal(value->text, question->values[i].text))
                asked->texts[i] = (uint32_t)t;
        }
    }
}

static bool
is_one_of(const struct asked *asked, const struct apart_seen *seen)
{
    for (size_t i = 0; i < asked->question->value_count; i++)
        if (seen->text != APART_NONE && seen->text == asked->texts[i])
            return true;
    return false;
}

static bool
begins(const struct asked *asked, const struct apart_seen *seen)
{
    if (seen->text == APART_NONE || seen->kind != APART_TEXT)
        return false;
    struct bytes text = asked->field->texts[seen->text].value.text;
    return bytes_equal(bytes_slice(text, 0, asked->question->values[0].text.len),
                       asked->question->values[0].text);
}

static bool
holds(const struct asked *asked, const struct apart_seen *seen)
{
    switch (asked->question->test) {
    case APART_IS:
        return is_one_of(asked, seen);
    case APART_IS_KIND:
        return seen->kind == asked->question->kind;
    case APART_MISSING:
    case APART_THERE:
        return true;
    case APART_FROM:
        return seen->kind == APART_NUMBER && seen->number >= asked->low;
    case APART_UPTO:
        return seen->kind == APART_NUMBER && seen->number <= asked->high;
    case APART_BETWEEN:
        return seen->kind == APART_NUMBER && seen->number >= asked->low && seen->number <= asked->high;
    case APART_LONG:
        return seen->kind == APART_TEXT && seen->length >= asked->question->length;
    case APART_BEGINS:
        return begins(asked, seen);
    }
    return false;
}

static void
invert(const struct apart *apart, struct apart_bits *bits)
{
    for (size_t i = 0; i < apart->count; i++)
        bits->words[i / 64] ^= 1ull << i % 64;
}

static void
count_bits(const struct apart *apart, struct apart_bits *bits)
{
    bits->here = bits->there = 0;
    for (size_t i = 0; i < apart->count; i++) {
        if (!(bits->words[i / 64] >> i % 64 & 1))
            continue;
        if (apart->events[i].is_here)
            bits->here++;
        else
            bits->there++;
    }
}

void
apart_ask(const struct apart *apart, const struct apart_field *field, const struct apart_question *question,
          struct apart_bits *bits)
{
    struct asked asked = {.field = field, .question = question};
    asked_limits(&asked);
    asked_texts(&asked);
    memset(bits->words, 0, apart_words(apart) * sizeof *bits->words);
    for (size_t i = 0; i < field->seen_count; i++) {
        const struct apart_seen *seen = &field->seen[i];
        if (holds(&asked, seen))
            bits->words[seen->event / 64] |= 1ull << seen->event % 64;
    }
    if (question->test == APART_MISSING)
        invert(apart, bits);
    count_bits(apart, bits);
}

void
apart_count(const struct apart *apart, const struct apart_question *question, uint32_t *here, uint32_t *there)
{
    const struct apart_field *field = apart_field_find(apart, question->what, question->name);
    struct arena arena = {0};
    struct apart_bits bits = {.words = arena_array(&arena, apart_words(apart) + 1, sizeof *bits.words)};
    const struct apart_field none = {.what = question->what};
    apart_ask(apart, field ? field : &none, question, &bits);
    *here = bits.here;
    *there = bits.there;
    arena_release(&arena);
}
