#include "engine/text_cache.h"

#include <stdlib.h>
#include <sys/random.h>
#include "base/alloc.h"
#include "base/clock.h"

enum { FIRST_ROWS = 500, LEAST_ROWS = 250, MOST_ROWS = 20000 };
static const int64_t PAGE_US = 10000; // what a page may take
static const int64_t CHECK_US = US_PER_SECOND;

struct text_cache {
    int64_t limit;
    uint64_t key[2];
    struct column columns[EVENT_TEXT_COUNT];
    size_t rows[EVENT_TEXT_COUNT]; // of the next page
    int64_t changes;               // store_change_count when the columns were begun
    int64_t check_at;              // clock_mono
    uint64_t generation;
};

static void
forget(struct text_cache *cache)
{
    cache->generation++;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++) {
        column_release(&cache->columns[i]);
        column_init(&cache->columns[i], cache->key);
        cache->rows[i] = FIRST_ROWS;
    }
}

struct text_cache *
text_cache_create(int64_t limit)
{
    struct text_cache *cache = alloc_bytes(sizeof *cache);
    cache->limit = limit;
    cache->changes = -1;
    if (getrandom(cache->key, sizeof cache->key, 0) != (ssize_t)sizeof cache->key)
        die("the system gave no random bytes");
    forget(cache);
    return cache;
}

void
text_cache_destroy(struct text_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        column_release(&cache->columns[i]);
    free(cache);
}

bool
text_cache_check(struct text_cache *cache, struct store *store, struct err *err)
{
    int64_t changes;
    if (clock_mono() < cache->check_at)
        return true;
    if (!store_change_count(store, &changes, err))
        return false;
    if (changes != cache->changes)
        forget(cache);
    cache->changes = changes;
    cache->check_at = clock_mono() + CHECK_US;
    return true;
}

struct column *
text_cache_column(struct text_cache *cache, enum event_text text)
{
    return &cache->columns[text];
}

uint64_t
text_cache_generation(const struct text_cache *cache)
{
    return cache->generation;
}

size_t
text_cache_memory(const struct text_cache *cache)
{
    size_t bytes = 0;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        bytes += column_memory(&cache->columns[i]);
    return bytes;
}

bool
text_cache_is_full(const struct text_cache *cache)
{
    return text_cache_memory(cache) >= (size_t)cache->limit;
}

struct filling {
    struct column *column;
    size_t count;
    int64_t low, high;
};

static void
fill_text(void *context, int64_t id, struct bytes text)
{
    struct filling *filling = context;
    column_add(filling->column, id, text);
    filling->low = filling->count == 0 || id < filling->low ? id : filling->low;
    filling->high = id > filling->high ? id : filling->high;
    filling->count++;
}

bool
text_cache_fill(struct text_cache *cache, struct store *store, enum event_text text, int64_t id,
                bool *is_over, struct err *err)
{
    struct column *column = &cache->columns[text];
    bool is_up = column->high && id > column->high;
    *is_over = text_cache_is_full(cache) || (!is_up && column->is_bottom);
    if (*is_over)
        return true;

    size_t *rows = &cache->rows[text];
    const struct event_texts_query query = {.text = text,
                                            .after_id = is_up ? column->high : INT64_MIN,
                                            .before_id = is_up || !column->high ? INT64_MAX : column->low,
                                            .ascending = is_up,
                                            .limit = *rows};
    struct filling filling = {.column = column};
    int64_t began = clock_mono();
    if (!store_event_texts(store, &query, fill_text, &filling, err))
        return false;
    int64_t took = clock_mono() - began;

    bool is_end = filling.count < query.limit;
    if (filling.count && (is_up || !column->high))
        column->high = filling.high;
    if (filling.count && !is_up)
        column->low = filling.low;
    // Up there is always more to come; down there is a bottom.
    *is_over = is_end;
    if (is_end && !is_up) {
        column->is_bottom = true;
        column->high = column->high ? column->high : 1;
    }
    if (took < PAGE_US / 2 && *rows < MOST_ROWS)
        *rows *= 2;
    else if (took > PAGE_US && *rows > LEAST_ROWS)
        *rows /= 2;
    return true;
}
