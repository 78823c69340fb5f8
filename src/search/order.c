#include "search/order.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/intern.h"

static const uint32_t LAST = UINT32_MAX; // the rank of an unknown value

enum event_text
list_order_text(enum list_order order)
{
    return order == ORDER_ERROR ? EVENT_TEXT_ERROR : order == ORDER_KEY ? EVENT_TEXT_KEY : EVENT_TEXT_COUNT;
}

// --- ranks of texts ---

struct beginning {
    char bytes[ORDER_BYTES];
    uint32_t number;
};

static int
by_bytes(const void *left, const void *right)
{
    return memcmp(((const struct beginning *)left)->bytes, ((const struct beginning *)right)->bytes,
                  ORDER_BYTES);
}

// The rank of each text by its number; equal beginnings have the same rank. Heap.
static uint32_t *
rank_texts(const struct texts *texts)
{
    struct text_room room = {0};
    size_t count = texts_count(texts);
    struct beginning *all = alloc_array(count, sizeof *all);
    uint32_t *ranks = alloc_array(count, sizeof *ranks);
    for (uint32_t number = 0; number < count;) {
        struct text_block block = texts_block(texts, number, &room);
        for (uint32_t i = 0; i < block.count; i++, number++) {
            struct bytes text = text_block_at(&block, i);
            memcpy(all[number].bytes, text.data, text.len < ORDER_BYTES ? text.len : ORDER_BYTES);
            all[number].number = number;
        }
    }
    text_room_release(&room);
    if (count)
        qsort(all, count, sizeof *all, by_bytes);
    for (size_t i = 0; i < count; i++) {
        bool is_equal = i > 0 && by_bytes(&all[i - 1], &all[i]) == 0;
        ranks[all[i].number] = is_equal ? ranks[all[i - 1].number] : (uint32_t)i;
    }
    free(all);
    return ranks;
}

static void
rank_by_text(struct column *column, const int64_t *ids, size_t count, uint32_t *ranks)
{
    uint32_t *of_text = rank_texts(column->texts);
    size_t hint = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        bool is_known = column_find(column, ids[i], &hint, &number) && number < TEXT_ELSEWHERE;
        ranks[i] = is_known ? of_text[number] : LAST;
    }
    free(of_text);
}

// --- ranks of short columns ---

static int
order_by_name(const void *left, const void *right)
{
    return bytes_compare(bytes_of(*(char *const *)left), bytes_of(*(char *const *)right));
}

// Replaces numbers of interned names by the ranks of the names.
static void
rank_words(const struct intern *words, size_t count, uint32_t *numbers)
{
    char **names = alloc_array(words->count + 1, sizeof *names);
    uint32_t *rank_of = alloc_array((size_t)WORDS_OTHER + 1, sizeof *rank_of);
    if (words->count) {
        memcpy(names, words->names, words->count * sizeof *names);
        qsort(names, words->count, sizeof *names, order_by_name);
    }
    for (size_t i = 0; i < words->count; i++)
        rank_of[intern_find(words, bytes_of(names[i]))] = (uint32_t)i;
    rank_of[0] = rank_of[WORDS_OTHER] = LAST;
    for (size_t i = 0; i < count; i++)
        numbers[i] = numbers[i] == LAST ? LAST : rank_of[numbers[i]];
    free(rank_of);
    free(names);
}

static void
rank_by_row(const struct backlog *backlog, enum list_order order, const int64_t *ids, size_t count,
            uint32_t *ranks)
{
    struct intern words = {0};
    size_t hint = 0;
    for (size_t i = 0; i < count; i++) {
        struct event event;
        if (!backlog_event(backlog, ids[i], &hint, &event))
            ranks[i] = LAST;
        else if (order == ORDER_TYPE)
            ranks[i] = intern_number(&words, event.event_type);
        else
            ranks[i] = (uint32_t)event.retries.count;
    }
    if (order == ORDER_TYPE)
        rank_words(&words, count, ranks);
    intern_release(&words);
}

// --- ranks of values at a path ---

struct valued {
    struct bytes name;
    enum path_kind kind;
    uint32_t number;
};

static int
by_value(const void *left, const void *right)
{
    static const int places[PATH_KINDS] = {
        [PATH_NUMBER] = 0, [PATH_TEXT] = 1,   [PATH_BOOLEAN] = 2, [PATH_LONG] = 3,
        [PATH_ARRAY] = 4,  [PATH_OBJECT] = 5, [PATH_NULL] = 6,    [PATH_MISSING] = 7};
    const struct valued *a = left, *b = right;
    if (a->kind != b->kind)
        return places[a->kind] - places[b->kind];
    return a->kind == PATH_NUMBER ? json_number_compare(a->name, b->name) : bytes_compare(a->name, b->name);
}

// The rank of each value by its number. Heap.
static uint32_t *
rank_values(const struct path_values *values)
{
    size_t count = path_values_count(values);
    struct valued *all = alloc_array(count, sizeof *all);
    uint32_t *ranks = alloc_array(count, sizeof *ranks);
    for (uint32_t number = 0; number < count; number++) {
        all[number].kind = path_values_value(values, number, &all[number].name);
        all[number].number = number;
    }
    qsort(all, count, sizeof *all, by_value);
    for (size_t i = 0; i < count; i++)
        ranks[all[i].number] = all[i].kind == PATH_NULL || all[i].kind == PATH_MISSING ? LAST : (uint32_t)i;
    free(all);
    return ranks;
}

static void
rank_by_path(struct path_values *values, const int64_t *ids, size_t count, uint32_t *ranks)
{
    uint32_t *of_value = rank_values(values);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = path_values_of(values, ids[i]);
        ranks[i] = number == PATH_UNREAD ? LAST : of_value[number];
    }
    free(of_value);
}

// --- sorting ---

struct ranked {
    uint64_t key;
    int64_t id;
};

// Radix sort from the lowest digit: it is stable, and takes a few passes over a million.
static void
sort_ranked(struct ranked *all_ranked, size_t count)
{
    enum { DIGIT = 11, DIGITS = 1 << DIGIT };
    struct ranked *other = alloc_array(count, sizeof *other);
    size_t *starts = alloc_array(DIGITS, sizeof *starts);
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= all_ranked[i].key;
    struct ranked *from = all_ranked;
    struct ranked *to = other;
    for (int shift = 0; shift < 64 && all >> shift; shift += DIGIT) {
        memset(starts, 0, DIGITS * sizeof *starts);
        for (size_t i = 0; i < count; i++)
            starts[from[i].key >> shift & (DIGITS - 1)]++;
        for (size_t digit = 0, at = 0; digit < DIGITS; digit++) {
            size_t many = starts[digit];
            starts[digit] = at;
            at += many;
        }
        for (size_t i = 0; i < count; i++)
            to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
        struct ranked *filled = to;
        to = from;
        from = filled;
    }
    if (from != all_ranked)
        memcpy(all_ranked, from, count * sizeof *all_ranked);
    free(other);
    free(starts);
}

// The rank of each event; NULL: the ids are the order. Heap.
static uint32_t *
rank_events(const struct list_ordering *by, const int64_t *ids, size_t count)
{
    enum event_text text = list_order_text(by->order);
    if (by->order == ORDER_ID)
        return NULL;
    uint32_t *ranks = alloc_array(count, sizeof *ranks);
    if (by->order == ORDER_PATH)
        rank_by_path(by->values, ids, count, ranks);
    else if (text != EVENT_TEXT_COUNT)
        rank_by_text(text_cache_column(by->cache, text), ids, count, ranks);
    else
        rank_by_row(by->backlog, by->order, ids, count, ranks);
    return ranks;
}

void
list_order_ids(const struct list_ordering *by, int64_t *ids, size_t count)
{
    if (by->order == ORDER_WHEN || count == 0)
        return;
    uint32_t *ranks = rank_events(by, ids, count);
    struct ranked *all_ranked = alloc_array(count, sizeof *all_ranked);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = ranks ? ranks[i] : (uint64_t)ids[i] ^ 1ull << 63;
        // Unknown values stay last in both directions.
        if (by->is_reversed && !ranks)
            key = ~key;
        else if (by->is_reversed && key != LAST)
            key = LAST - 1 - key;
        all_ranked[i] = (struct ranked){.key = key, .id = ids[i]};
    }
    sort_ranked(all_ranked, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = all_ranked[i].id;
    free(all_ranked);
    free(ranks);
}
