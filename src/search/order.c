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
            ranks[i] = (uint32_t)event.retry_count;
    }
    if (order == ORDER_TYPE)
        rank_words(&words, count, ranks);
    intern_release(&words);
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

void
list_order_ids(const struct backlog *backlog, struct text_cache *cache, enum list_order order,
               bool is_reversed, int64_t *ids, size_t count)
{
    if (order == ORDER_WHEN || count == 0)
        return;
    uint32_t *ranks = alloc_array(count, sizeof *ranks);
    enum event_text text = list_order_text(order);
    if (text != EVENT_TEXT_COUNT)
        rank_by_text(text_cache_column(cache, text), ids, count, ranks);
    else if (order != ORDER_ID)
        rank_by_row(backlog, order, ids, count, ranks);

    struct ranked *all_ranked = alloc_array(count, sizeof *all_ranked);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = order == ORDER_ID ? (uint64_t)ids[i] ^ 1ull << 63 : ranks[i];
        // Unknown values stay last in both directions.
        bool is_turned = is_reversed && (order == ORDER_ID || ranks[i] != LAST);
        all_ranked[i] = (struct ranked){.key = !is_turned          ? key
                                               : order == ORDER_ID ? ~key
                                                                   : LAST - 1 - key,
                                        .id = ids[i]};
    }
    sort_ranked(all_ranked, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = all_ranked[i].id;
    free(all_ranked);
    free(ranks);
}
