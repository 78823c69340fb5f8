// The rows: the best question of each field, those that say the same folded.
#include "core/apart/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two questions say the same where they differ in at most one of twenty events that either is true of.
enum { SAME_OF = 20 };

struct candidate {
    const struct apart_field *field;
    struct apart_question question;
    struct apart_bits bits;
    double score;
    double left;   // of it, where the rows before are known
    size_t number; // of the field
    struct apart_row *row;
};

static int
by_score(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

// Of many events chance explains little, and a small difference is sure, but no help.
static bool
is_plain_to_see(const struct apart *apart, const struct apart_bits *bits)
{
    static const double LEAST = 0.1;
    double here = (double)bits->here / (double)apart->here;
    double there = (double)bits->there / (double)(apart->count - apart->here);
    return here - there >= LEAST || here >= 2 * there;
}

static size_t
find_candidates(const struct apart *apart, struct arena *arena, struct arena *scratch,
                struct candidate *candidates)
{
    uint32_t there = (uint32_t)(apart->count - apart->here);
    double least = (APART_BITS + log2((double)apart->field_count)) /
                   ((double)apart->count * apart_entropy((uint32_t)apart->here, there));
    bool has_frame = !apart_is_one_group(apart); // else its frame is what made it one
    size_t count = 0;
    for (size_t i = 0; i < apart->field_count; i++) {
        const struct apart_field *field = &apart->fields[i];
        struct candidate *candidate = &candidates[count];
        if ((field->what == APART_FRAME && !has_frame) ||
            !apart_best(apart, field, arena, &candidate->question, &candidate->score) ||
            candidate->score < least)
            continue;
        candidate->field = field;
        candidate->number = i;
        candidate->bits.words = arena_array(scratch, apart_words(apart), sizeof *candidate->bits.words);
        apart_ask(apart, field, &candidate->question, &candidate->bits);
        count += is_plain_to_see(apart, &candidate->bits);
    }
    qsort(candidates, count, sizeof *candidates, by_score);
    return count;
}

static bool
says_same(const struct apart *apart, const struct apart_bits *a, const struct apart_bits *b)
{
    size_t differ = 0, either = 0;
    for (size_t i = 0; i < apart_words(apart); i++) {
        differ += (size_t)__builtin_popcountll(a->words[i] ^ b->words[i]);
        either += (size_t)__builtin_popcountll(a->words[i] | b->words[i]);
    }
    return differ * SAME_OF <= either;
}

// --- order ---

// Bits an event that `asked` tells of the side where the answer to `given` is known.
static double
gain_given(const struct apart *apart, const struct apart_bits *asked, const struct apart_bits *given)
{
    uint32_t both_here = 0, both = 0;
    for (size_t i = 0; i < apart_words(apart); i++) {
        uint64_t word = asked->words[i] & given->words[i];
        both += (uint32_t)__builtin_popcountll(word);
        both_here += (uint32_t)__builtin_popcountll(word & apart->sides[i]);
    }
    uint32_t all_here = (uint32_t)apart->here, all_there = (uint32_t)(apart->count - apart->here);
    uint32_t both_there = both - both_here;
    double yes = (double)given->here + given->there, all = (double)apart->count;
    return yes / all * apart_gain(both_here, given->here, both_there, given->there) +
           (all - yes) / all *
               apart_gain(asked->here - both_here, all_here - given->here, asked->there - both_there,
                          all_there - given->there);
}

// The best alone is first; then always the one that tells most where any of those before it is known. So what
// only goes along with a row stands behind what is new (Fleuret, Fast Binary Feature Selection with
// Conditional Mutual Information, 2004).
static void
order_rows(const struct apart *apart, struct candidate **kept, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kept[i]->left = kept[i]->score;
    double side = apart_entropy((uint32_t)apart->here, (uint32_t)(apart->count - apart->here));
    for (size_t placed = 1; placed < count; placed++) {
        size_t best = placed;
        for (size_t i = placed; i < count; i++) {
            double left = gain_given(apart, &kept[i]->bits, &kept[placed - 1]->bits) / side;
            kept[i]->left = fmin(kept[i]->left, left);
            if (kept[i]->left > kept[best]->left)
                best = i;
        }
        struct candidate *next = kept[best];
        memmove(&kept[placed + 1], &kept[placed], (best - placed) * sizeof(struct candidate *));
        kept[placed] = next;
    }
}

static void
add_same(struct apart_row *row, const struct apart_question *question, struct arena *arena)
{
    if (row->same_count < APART_SAME) {
        struct strbuf subject = {0};
        apart_subject(question, &subject);
        row->same[row->same_count] = arena_text(arena, strbuf_bytes(&subject));
        strbuf_release(&subject);
    }
    row->same_count++;
}

// --- classes, for the preview ---

static int
by_weight(const void *left, const void *right)
{
    const struct apart_class *a = left, *b = right;
    uint64_t weight_a = (uint64_t)a->here + a->there, weight_b = (uint64_t)b->here + b->there;
    return (weight_a < weight_b) - (weight_a > weight_b);
}

static void
value_classes(const struct apart_field *field, struct arena *arena, struct apart_row *row)
{
    struct apart_class *all = arena_array(arena, field->text_count, sizeof *all);
    for (size_t i = 0; i < field->text_count; i++)
        all[i] = (struct apart_class){field->texts[i].value, field->texts[i].here, field->texts[i].there};
    qsort(all, field->text_count, sizeof *all, by_weight);
    row->classes = all;
    row->class_count = field->text_count;
    if (field->text_count < APART_CLASSES)
        return;
    struct apart_class *others = &all[APART_CLASSES - 1];
    for (size_t i = APART_CLASSES; i < field->text_count; i++) {
        others->here += all[i].here;
        others->there += all[i].there;
    }
    others->value.text = BYTES_ABSENT;
    row->class_count = APART_CLASSES;
}

static void
kind_classes(const struct apart *apart, const struct apart_field *field, struct arena *arena,
             struct apart_row *row)
{
    row->classes = arena_array(arena, APART_KINDS, sizeof *row->classes);
    struct apart_bits bits = {.words = arena_array(arena, apart_words(apart), sizeof *bits.words)};
    for (unsigned kind = 0; kind < APART_KINDS; kind++) {
        if (!(field->kinds & 1u << kind))
            continue;
        apart_ask(apart, field, &(struct apart_question){.test = APART_IS_KIND, .kind = kind}, &bits);
        row->classes[row->class_count++] =
            (struct apart_class){{bytes_of(apart_kind_name(kind)), APART_NULL}, bits.here, bits.there};
    }
    qsort(row->classes, row->class_count, sizeof *row->classes, by_weight);
}

static void
add_row(const struct apart *apart, const struct candidate *candidate, struct arena *arena,
        struct apart_row *row)
{
    *row = (struct apart_row){.question = candidate->question,
                              .score = fmin(candidate->score, 1),
                              .here = candidate->bits.here,
                              .there = candidate->bits.there};
    struct apart_question *question = &row->question;
    question->name = arena_copy(arena, question->name);
    for (size_t i = 0; i < question->value_count; i++)
        question->values[i].text = arena_copy(arena, question->values[i].text);
    if (question->test == APART_IS)
        value_classes(candidate->field, arena, row);
    else if (question->test == APART_IS_KIND)
        kind_classes(apart, candidate->field, arena, row);
    for (size_t i = 0; i < row->class_count; i++)
        row->classes[i].value.text = arena_copy(arena, row->classes[i].value.text);
}

// The first of those that say the same, into `kept`; the others are named by its row.
static size_t
fold(const struct apart *apart, struct candidate *candidates, size_t count, struct arena *arena,
     struct candidate *kept[APART_ROWS])
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < rows && !says_same(apart, &kept[same]->bits, &candidates[i].bits))
            same++;
        if (same < rows) {
            add_same(kept[same]->row, &candidates[i].question, arena);
        } else if (rows < APART_ROWS) {
            candidates[i].row = arena_alloc(arena, sizeof *candidates[i].row);
            add_row(apart, &candidates[i], arena, candidates[i].row);
            kept[rows++] = &candidates[i];
        }
    }
    return rows;
}

void
apart_rank(struct apart *apart, struct arena *arena, struct apart_answer *answer)
{
    *answer = (struct apart_answer){.here = (uint32_t)apart->here,
                                    .there = (uint32_t)(apart->count - apart->here),
                                    .is_cut = apart->is_cut};
    if (answer->here < APART_LEAST || answer->there < APART_LEAST)
        return;
    struct arena scratch = {0};
    struct candidate *candidates = arena_array(&scratch, apart->field_count, sizeof *candidates);
    struct candidate *kept[APART_ROWS];
    apart->sides = arena_array(&scratch, apart_words(apart), sizeof *apart->sides);
    for (size_t i = 0; i < apart->count; i++)
        apart->sides[i / 64] |= (uint64_t)apart->events[i].is_here << i % 64;
    size_t count = find_candidates(apart, arena, &scratch, candidates);
    answer->row_count = fold(apart, candidates, count, arena, kept);
    order_rows(apart, kept, answer->row_count);
    answer->rows = arena_array(arena, APART_ROWS, sizeof *answer->rows);
    for (size_t i = 0; i < answer->row_count; i++)
        answer->rows[i] = *kept[i]->row;
    apart->sides = NULL;
    arena_release(&scratch);
}
