// The best question about one field. Each kind of question offers its best; a later one has to be better by
// a margin, since the earlier ones say more to people.
#include "core/apart/private.h"

#include <math.h>
#include <stdlib.h>
#include "core/apart/places.h"

static const double MARGIN = 0.01;

struct search {
    const struct apart *apart;
    const struct apart_field *field;
    struct apart_question *best;
    double score;
    uint32_t all_here, all_there;
    struct arena *kept; // of the question
    struct arena arena; // until it is found
};

static double
score_of(const struct search *search, uint32_t here, uint32_t there, double alternatives)
{
    double n = (double)search->all_here + search->all_there;
    double gain = apart_gain(here, search->all_here, there, search->all_there);
    double side = apart_entropy(search->all_here, search->all_there);
    double price = (log2(alternatives > 1 ? alternatives : 1) + log2(n) / 2) / n;
    return side > 0 ? (gain - price) / side : 0;
}

static bool
is_more_here(const struct search *search, uint32_t here, uint32_t there)
{
    return (uint64_t)here * search->all_there > (uint64_t)there * search->all_here;
}

// Takes the question if it is better than what there is; its what and name are the field's.
static bool
offer(struct search *search, const struct apart_question *question, uint32_t here, uint32_t there,
      double alternatives)
{
    if (!is_more_here(search, here, there))
        return false;
    double score = score_of(search, here, there, alternatives);
    if (score <= search->score + (search->score > 0 ? MARGIN : 0))
        return false;
    search->score = score;
    *search->best = *question;
    search->best->what = search->field->what;
    search->best->name = search->field->name;
    return true;
}

static void
offer_asked(struct search *search, const struct apart_question *question, double alternatives)
{
    struct apart_bits bits = {
        .words = arena_array(&search->arena, apart_words(search->apart), sizeof *bits.words)};
    apart_ask(search->apart, search->field, question, &bits);
    (void)offer(search, question, bits.here, bits.there, alternatives);
}

// --- types, and whether it is there ---

static void
offer_kinds(struct search *search)
{
    unsigned kinds = search->field->kinds;
    offer_asked(search, &(struct apart_question){.test = APART_MISSING}, 2);
    offer_asked(search, &(struct apart_question){.test = APART_THERE}, 2);
    if ((kinds & (kinds - 1)) == 0)
        return; // of one type wherever it is there
    for (unsigned kind = 0; kind < APART_KINDS; kind++)
        if (kinds & 1u << kind)
            offer_asked(search, &(struct apart_question){.test = APART_IS_KIND, .kind = kind},
                        (double)APART_KINDS);
}

// --- values ---

struct share {
    const struct apart_text *text;
    double here, there;
};

static int
by_most(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    double most_a = fmax(a->here, a->there), most_b = fmax(b->here, b->there);
    return (most_a < most_b) - (most_a > most_b);
}

static int
by_difference(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    double ratio_a = a->here / (a->here + a->there), ratio_b = b->here / (b->here + b->there);
    if (ratio_a != ratio_b)
        return ratio_a < ratio_b ? 1 : -1;
    return (a->here < b->here) - (a->here > b->here);
}

// Ways to choose `few` of `many`.
static double
choices(size_t many, size_t few)
{
    double ways = 1;
    for (size_t i = 0; i < few; i++)
        ways *= (double)(many - i) / (double)(i + 1);
    return ways;
}

// "3000" of "timed out after 3000 ms": a number that is in every message of one group and nowhere else is
// part of what made it a group.
static bool
is_of_form(const struct search *search, const struct apart_text *text)
{
    struct bytes word = text->value.text;
    if (search->field->what != APART_WORD || text->here < search->all_here || text->there > 0)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] < '0' || word.data[i] > '9')
            return false;
    return apart_is_one_group(search->apart);
}

// The most frequent values of either side.
static struct share *
value_classes(struct search *search, size_t *classes)
{
    const struct apart_field *field = search->field;
    size_t count = 0;
    struct share *shares = arena_array(&search->arena, field->text_count + 1, sizeof *shares);
    for (size_t i = 0; i < field->text_count; i++)
        if (!is_of_form(search, &field->texts[i]))
            shares[count++] =
                (struct share){&field->texts[i], (double)field->texts[i].here / search->all_here,
                               (double)field->texts[i].there / search->all_there};
    qsort(shares, count, sizeof *shares, by_most);
    *classes = count < APART_CLASSES - 1 ? count : APART_CLASSES - 1;
    return shares;
}

static void
offer_values(struct search *search)
{
    size_t classes;
    const struct share *shares = value_classes(search, &classes);
    for (size_t i = 0; i < classes; i++) {
        struct apart_question question = {.value_count = 1, .values = {shares[i].text->value}};
        (void)offer(search, &question, shares[i].text->here, shares[i].text->there,
                    (double)search->field->text_count);
    }
}

// Several values at once: those with the largest share here.
static void
offer_sets(struct search *search)
{
    size_t classes;
    struct share *shares = value_classes(search, &classes);
    qsort(shares, classes, sizeof *shares, by_difference);
    struct apart_question question = {0};
    for (size_t i = 0; i < classes && i < APART_VALUES; i++) {
        question.values[question.value_count++] = shares[i].text->value;
        if (i > 0)
            offer_asked(search, &question, choices(search->field->text_count, i + 1));
    }
}

// --- numbers and times ---

// Are the numbers an id, or a clock? Then a limit says only when the events came.
static bool
is_named_id(struct bytes name)
{
    static const char *const ends[] = {"Id", "ID", "_id", "-id", ".id", "_no", "Number", "_number"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (bytes_ends(name, ends[i]))
            return true;
    return false;
}

static void
offer_limits(struct search *search, const struct place *places, size_t count, bool is_upper,
             double alternatives)
{
    for (size_t i = 0; i < count; i++) {
        struct apart_question question = {.test = is_upper ? APART_UPTO : APART_FROM};
        uint32_t here = places[i].here, there = places[i].there;
        if (is_upper) {
            here = places[count].here - here;
            there = places[count].there - there;
        }
        if (!is_more_here(search, here, there) ||
            score_of(search, here, there, alternatives) <= search->score + MARGIN)
            continue;
        place_limit(search->field->what, &places[i], is_upper, search->kept, &question);
        (void)offer(search, &question, here, there, alternatives);
    }
}

static void
offer_numbers(struct search *search)
{
    const struct apart_field *field = search->field;
    if (!(field->kinds & 1u << APART_NUMBER))
        return;
    enum place_choice choice = places_choice(search->apart, field);
    if (choice == PLACES_NONE || (choice == PLACES_ROUND && is_named_id(field->name)))
        return;
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        size_t count;
        struct place *places = places_find(search->apart, field, choice, is_upper, &search->arena, &count);
        offer_limits(search, places, count, is_upper, (double)count * 2);
    }
}

// A stretch of time, of both ends among at most TIMES places.
static void
offer_stretch(struct search *search)
{
    enum { TIMES = 64 };
    size_t count;
    struct place *all = places_find(search->apart, search->field, PLACES_ALL, false, &search->arena, &count);
    struct place few[TIMES + 1];
    size_t kept = 0;
    for (size_t i = 0; i < TIMES && i < count; i++)
        few[kept++] = all[count <= TIMES ? i : i * count / TIMES];
    double alternatives = (double)count * (double)(count ? count : 1);
    for (size_t i = 0; i < kept; i++) {
        for (size_t j = i + 1; j < kept; j++) {
            uint32_t here = few[i].here - few[j].here, there = few[i].there - few[j].there;
            if (score_of(search, here, there, alternatives) <= search->score + MARGIN ||
                !is_more_here(search, here, there))
                continue;
            struct apart_question question = {.test = APART_BETWEEN};
            place_limit(APART_CREATED, &few[i], false, NULL, &question);
            place_limit(APART_CREATED, &few[j], true, NULL, &question);
            question.test = APART_BETWEEN;
            (void)offer(search, &question, here, there, alternatives);
        }
    }
}

// --- texts that hardly repeat ---

static void
offer_lengths(struct search *search)
{
    size_t count;
    struct place *places =
        places_find(search->apart, search->field, PLACES_LENGTH, false, &search->arena, &count);
    for (size_t i = 0; i < count; i++) {
        struct apart_question question = {.test = APART_LONG, .length = (uint32_t)places[i].from};
        (void)offer(search, &question, places[i].here, places[i].there, (double)count * 4);
    }
}

static int
by_text(const void *left, const void *right)
{
    return bytes_compare(*(const struct bytes *)left, *(const struct bytes *)right);
}

static void
offer_beginnings(struct search *search)
{
    const struct apart_field *field = search->field;
    struct bytes *beginnings = arena_array(&search->arena, field->text_count + 1, sizeof *beginnings);
    size_t count = 0, different = 0;
    for (size_t i = 0; i < field->text_count; i++) {
        struct bytes text = field->texts[i].value.text;
        size_t len = field->texts[i].value.kind == APART_TEXT ? apart_beginning(text) : 0;
        if (len > 0)
            beginnings[count++] = bytes_slice(text, 0, len);
    }
    if (count > 1)
        qsort(beginnings, count, sizeof *beginnings, by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !bytes_equal(beginnings[i], beginnings[different - 1]))
            beginnings[different++] = beginnings[i];
    if (different > APART_CLASSES)
        return; // no more a kind than the texts themselves
    for (size_t i = 0; i < different; i++)
        offer_asked(search,
                    &(struct apart_question){
                        .test = APART_BEGINS, .value_count = 1, .values = {{beginnings[i], APART_TEXT}}},
                    (double)different * 4);
}

// Do texts hardly repeat, or are they too long to be values?
static bool
is_varied(const struct apart_field *field)
{
    size_t texts = 0, different = 0;
    for (size_t i = 0; i < field->seen_count; i++) {
        texts += field->seen[i].kind == APART_TEXT;
        different += field->seen[i].kind == APART_TEXT && field->seen[i].text == APART_NONE;
    }
    for (size_t i = 0; i < field->text_count; i++)
        different += field->texts[i].value.kind == APART_TEXT;
    return different > APART_CLASSES && different * 2 > texts;
}

bool
apart_best(const struct apart *apart, const struct apart_field *field, struct arena *arena,
           struct apart_question *best, double *score)
{
    struct search search = {.apart = apart,
                            .field = field,
                            .best = best,
                            .kept = arena,
                            .all_here = (uint32_t)apart->here,
                            .all_there = (uint32_t)(apart->count - apart->here)};
    if (field->what == APART_CREATED) {
        offer_numbers(&search);
        offer_stretch(&search);
    } else {
        if (field->what != APART_WORD && field->what != APART_FRAME)
            offer_kinds(&search);
        offer_values(&search);
        offer_numbers(&search);
        offer_sets(&search);
        bool has_texts = field->what == APART_PATH || field->what == APART_KEY;
        if (has_texts && is_varied(field)) {
            if (field->what == APART_PATH)
                offer_lengths(&search);
            offer_beginnings(&search);
        }
    }
    arena_release(&search.arena);
    *score = search.score;
    return search.score > 0;
}
