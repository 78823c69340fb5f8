#include "core/fingerprint/merge.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/fingerprint/word.h"

enum { WORDS_MOST = 64, LITERALS_LEAST = 2 };

// A place in a pattern that may hold another word: all patterns with the same hash are the same elsewhere.
struct merge_place {
    uint64_t rest; // hash of class, number of words, place, and all other words
    uint64_t word; // hash of the word there
    uint64_t key;  // of the group
    size_t group;
    struct bytes text; // of the word
};

// Groups that differ in one place, as a stretch of the sorted places.
struct set {
    size_t from, to;
    size_t words; // different ones
    uint64_t key; // smallest
};

static uint64_t
group_merge_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static bool
group_merge_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

// Of letters, none but the first a capital, longer than one.
static bool
is_plain(struct bytes word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!is_letter(word.data[i]) || (i > 0 && word.data[i] >= 'A' && word.data[i] <= 'Z'))
            return false;
    return word.len > 1;
}

// Without the full stop or comma behind it.
static struct bytes
without_stop(struct bytes word)
{
    while (word.len > 0 && (word.data[word.len - 1] == ',' || word.data[word.len - 1] == '.' ||
                            word.data[word.len - 1] == ';' || word.data[word.len - 1] == ':'))
        word.len--;
    return word;
}

static size_t
group_merge_split(struct bytes text, struct bytes words[WORDS_MOST])
{
    size_t count = 0;
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        while (at < text.len && !group_merge_is_blank(text.data[at]))
            at++;
        if (at > from && count == WORDS_MOST)
            return 0; // too long to be looked at word by word
        if (at > from)
            words[count++] = bytes_slice(text, from, at - from);
        while (at < text.len && group_merge_is_blank(text.data[at]))
            at++;
    }
    return count;
}

struct places {
    struct merge_place *list;
    size_t count, capacity;
};

static void
add_places(struct places *places, const struct merge_input *group, size_t index)
{
    struct bytes words[WORDS_MOST];
    uint64_t hashes[WORDS_MOST];
    size_t count = group_merge_split(group->pattern, words);
    size_t literals = 0;
    uint64_t all = group_merge_mix(bytes_hash(group->error_class), count);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = group_merge_mix(bytes_hash(words[i]), i + 1);
        all += hashes[i]; // a sum, so that one word can be taken out again
        literals += is_plain(without_stop(words[i]));
    }
    if (literals < LITERALS_LEAST + 1)
        return;
    for (size_t i = 0; i < count; i++) {
        struct bytes word = without_stop(words[i]);
        bool names = i > 0 && (word_roles(without_stop(words[i - 1])) & (ROLE_NAME | ROLE_VERB)) != 0;
        if (!is_plain(word) || names || (word_roles(word) & ROLE_VERB) != 0)
            continue;
        struct bytes stop = bytes_slice(words[i], word.len, SIZE_MAX);
        places->list = alloc_grow(places->list, places->count, &places->capacity, sizeof *places->list);
        places->list[places->count++] = (struct merge_place){
            .rest = group_merge_mix(group_merge_mix(all - hashes[i], i), bytes_hash(stop)),
            .word = bytes_hash(word),
            .key = group->key,
            .group = index,
            .text = word};
    }
}

static int
group_merge_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int
by_rest(const void *left, const void *right)
{
    const struct merge_place *a = left, *b = right;
    int order = group_merge_compare(a->rest, b->rest);
    if (order == 0)
        order = group_merge_compare(a->word, b->word);
    return order ? order : group_merge_compare(a->key, b->key);
}

static int
by_size(const void *left, const void *right)
{
    const struct set *a = left, *b = right;
    if (a->words != b->words)
        return a->words < b->words ? 1 : -1;
    return group_merge_compare(a->key, b->key);
}

// Only those that are not taken yet.
static struct set
measure(const struct places *places, size_t from, size_t to, const struct merge *merges)
{
    struct set set = {.from = from, .to = to, .key = UINT64_MAX};
    const struct merge_place *before = NULL;
    for (size_t i = from; i < to; i++) {
        const struct merge_place *place = &places->list[i];
        if (bytes_present(merges[place->group].word))
            continue;
        set.words += !before || before->word != place->word;
        set.key = place->key < set.key ? place->key : set.key;
        before = place;
    }
    return set;
}

static struct set *
find_sets(const struct places *places, const struct merge *merges, size_t *count)
{
    struct set *sets = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t from = 0, to; from < places->count; from = to) {
        for (to = from + 1; to < places->count && places->list[to].rest == places->list[from].rest;)
            to++;
        if (to - from < MERGE_WORDS)
            continue;
        struct set set = measure(places, from, to, merges);
        if (set.words < MERGE_WORDS)
            continue;
        sets = alloc_grow(sets, *count, &capacity, sizeof *sets);
        sets[(*count)++] = set;
    }
    return sets;
}

static void
group_merge_take(const struct places *places, const struct set *set, struct merge *merges)
{
    size_t leader = SIZE_MAX;
    for (size_t i = set->from; i < set->to; i++)
        if (places->list[i].key == set->key)
            leader = places->list[i].group;
    size_t taken = 1;
    for (size_t i = set->from; i < set->to; i++) {
        const struct merge_place *place = &places->list[i];
        if (bytes_present(merges[place->group].word))
            continue;
        bool is_leader = place->group == leader;
        if (is_leader || taken < MERGE_MOST)
            merges[place->group] = (struct merge){.leader = leader, .word = place->text};
        taken += !is_leader;
    }
}

void
group_merge(const struct merge_input *groups, size_t count, struct merge *merges)
{
    struct places places = {0};
    for (size_t i = 0; i < count; i++) {
        merges[i] = (struct merge){.leader = i};
        if (bytes_present(groups[i].pattern))
            add_places(&places, &groups[i], i);
    }
    if (places.count)
        qsort(places.list, places.count, sizeof *places.list, by_rest);

    size_t set_count;
    struct set *sets = find_sets(&places, merges, &set_count);
    if (set_count)
        qsort(sets, set_count, sizeof *sets, by_size);
    for (size_t i = 0; i < set_count; i++) {
        // Groups that a larger set took are missing here.
        struct set left = measure(&places, sets[i].from, sets[i].to, merges);
        if (left.words >= MERGE_WORDS)
            group_merge_take(&places, &left, merges);
    }
    free(sets);
    free(places.list);
}
