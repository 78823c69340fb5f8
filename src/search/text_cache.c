#include "search/text_cache.h"

#include <stdlib.h>
#include <sys/random.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "search/text_reader.h"
#include "search/text_watch.h"
#include "store/rollup/packs.h"

enum {
    FIRST_ROWS = 500,
    LEAST_ROWS = 250,
    MOST_ROWS = 20000,
    PAGE_BYTES = 4 << 20,
    BEGUN_ROWS = 8000, // read here, so that the first screenful does not wait for the reader's connections
};
static const int64_t PAGE_US = 10000; // what a page may take
static const int64_t CHECK_US = US_PER_SECOND;
static const int64_t LOOK_LEAST_US = 2 * US_PER_SECOND;   // between two looks for changes,
enum { LOOK_SHARE = 20, MOST_MISSING = 2000 };            // which take at most a twentieth of the time
static const int64_t READER_REST_US = 30 * US_PER_SECOND; // after it failed
static const int64_t TYPING_US = US_PER_SECOND;           // between two searches of who types on
static const int64_t PACKS_EVERY_US = 5 * US_PER_SECOND;  // between two questions whether they are there
static const int64_t PACKS_REST_US = 300 * US_PER_SECOND; // after they were of no use

struct text_cache {
    int64_t limit;
    uint64_t key[2];
    struct column columns[EVENT_TEXT_COUNT];
    size_t rows[EVENT_TEXT_COUNT]; // of the next page
    int64_t changes;               // store_change_count of the last look
    int64_t check_at;              // clock_mono
    uint64_t generation;
    struct text_reader *reader; // NULL: pages are read here
    int64_t reader_at;          // clock_mono before which it is not asked again
    struct text_seek *seek;     // NULL: columns are read
    unsigned sought;            // set of 1 << enum event_text
    int64_t left_at;            // clock_mono of the last search that was left; 0: none
    struct text_watch *watch;   // NULL: looks for changes are made here
    int64_t mark;               // what was written since is not known; 0: no mark yet
    int64_t look_at;            // clock_mono of the next look
    int64_t looked_from;        // mark of the look before
    struct packs {
        struct text_packs_state state;
        int64_t ask_at;             // clock_mono
        struct text_pack next;      // the next below what is held; data NULL: not read yet
        bool is_beside;             // nothing between it and what is held
        bool is_over;               // there is none below
    } packs;                        // of error messages
    text_cache_changed_fn *changed; // NULL: nobody is told
    void *context;
};

static void
drop_pack(struct text_cache *cache)
{
    text_pack_release(&cache->packs.next);
    cache->packs.is_beside = cache->packs.is_over = false;
}

static void
rest_packs(struct text_cache *cache)
{
    drop_pack(cache);
    cache->packs.state.is_usable = false;
    cache->packs.ask_at = clock_mono() + PACKS_REST_US;
}

static void
text_cache_forget(struct text_cache *cache)
{
    drop_pack(cache);
    cache->generation++;
    cache->mark = 0;
    cache->sought = 0;
    if (cache->reader)
        text_reader_rest(cache->reader);
    for (int i = 0; i < EVENT_TEXT_COUNT; i++) {
        column_release(&cache->columns[i]);
        column_init(&cache->columns[i], cache->key);
        cache->rows[i] = FIRST_ROWS;
    }
}

struct text_cache *
text_cache_create(int64_t limit, const struct store_settings *settings)
{
    struct text_cache *cache = alloc_bytes(sizeof *cache);
    cache->limit = limit;
    cache->reader = settings && limit > 0 ? text_reader_create(settings) : NULL;
    cache->seek = settings && limit > 0 ? text_seek_create(settings) : NULL;
    cache->watch = settings && limit > 0 ? text_watch_create(settings) : NULL;
    if (getrandom(cache->key, sizeof cache->key, 0) != (ssize_t)sizeof cache->key)
        die("the system gave no random bytes");
    text_cache_forget(cache);
    return cache;
}

void
text_cache_tell(struct text_cache *cache, text_cache_changed_fn *changed, void *context)
{
    cache->changed = changed;
    cache->context = context;
}

void
text_cache_destroy(struct text_cache *cache)
{
    if (!cache)
        return;
    text_reader_destroy(cache->reader);
    text_seek_destroy(cache->seek);
    text_watch_destroy(cache->watch);
    drop_pack(cache);
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        column_release(&cache->columns[i]);
    free(cache);
}

// The new texts of events that are held. False: too many are not, so that their rows would be read each time.
static bool
renew(struct column *column, const struct text_page *page)
{
    size_t missing = 0;
    size_t hint = 0;
    uint32_t number;
    for (size_t i = 0; i < page->count; i++) {
        int64_t id = page->places[i].id;
        if (!column_covers(column, id))
            continue;
        if (column_find(column, id, &hint, &number))
            column_add(column, id, text_page_at(page, i));
        else
            missing++;
    }
    // Texts that nobody has any more pile up.
    return missing < MOST_MISSING && texts_count(column->texts) < column_count(column) * 2 + MOST_MISSING;
}

static unsigned
held_columns(const struct text_cache *cache)
{
    unsigned columns = 0;
    for (unsigned i = 0; i < EVENT_TEXT_COUNT; i++)
        columns |= column_count(&cache->columns[i]) ? 1u << i : 0;
    return columns;
}

static bool
is_renewed(struct text_cache *cache, const struct text_changes *changes)
{
    if (err_is_set(&changes->err) || changes->is_too_many)
        return false;
    for (unsigned i = 0; changes->count && i < EVENT_TEXT_COUNT; i++) {
        bool is_held = held_columns(cache) >> i & 1;
        if (is_held && (!changes->pages[i] || !renew(&cache->columns[i], changes->pages[i])))
            return false;
    }
    return true;
}

static void
text_cache_apply(struct text_cache *cache, const struct text_changes *changes)
{
    int64_t rest = changes->took * LOOK_SHARE;
    cache->look_at = clock_mono() + (rest > LOOK_LEAST_US ? rest : LOOK_LEAST_US);
    bool is_known = !err_is_set(&changes->err) && !changes->is_too_many;
    if (cache->changed && (changes->count || !is_known))
        cache->changed(cache->context, is_known ? changes->ids : NULL, is_known ? changes->count : 0);
    if (!is_renewed(cache, changes)) {
        text_cache_forget(cache);
        rest_packs(cache);
        return;
    }
    // Unless packs came meanwhile that are true of an earlier time.
    if (cache->mark >= cache->looked_from)
        cache->mark = changes->mark;
    // Pages that are read ahead may be older than what was found.
    if (changes->count)
        drop_pack(cache);
    if (cache->reader && changes->count)
        text_reader_rest(cache->reader);
}

static int64_t
highest(const struct text_cache *cache)
{
    int64_t id = 0;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        id = cache->columns[i].high > id ? cache->columns[i].high : id;
    return id;
}

// From when on changes are to be known. The count is read first: what is written in between is counted later.
static bool
make_mark(struct text_cache *cache, struct store *store, struct err *err)
{
    return cache->mark ||
           (store_change_count(store, &cache->changes, err) && store_xmin_floor(store, &cache->mark, err));
}

static void
text_cache_look(struct text_cache *cache, struct store *store)
{
    cache->looked_from = cache->mark;
    if (cache->watch) {
        text_watch_look(cache->watch, cache->mark, highest(cache), held_columns(cache));
        return;
    }
    struct text_changes *changes = alloc_bytes(sizeof *changes);
    text_changes_find(store, cache->mark, highest(cache), held_columns(cache), changes);
    text_cache_apply(cache, changes);
    text_changes_destroy(changes);
}

bool
text_cache_check(struct text_cache *cache, struct store *store, struct err *err)
{
    int64_t changes;
    struct text_changes *found = cache->watch ? text_watch_take(cache->watch) : NULL;
    if (found)
        text_cache_apply(cache, found);
    text_changes_destroy(found);
    if (!make_mark(cache, store, err))
        return false;
    bool is_looking = cache->watch && text_watch_is_looking(cache->watch);
    if (clock_mono() < cache->check_at || clock_mono() < cache->look_at || is_looking)
        return true;
    if (!store_change_count(store, &changes, err))
        return false;
    cache->check_at = clock_mono() + CHECK_US;
    if (changes != cache->changes)
        text_cache_look(cache, store);
    cache->changes = changes;
    return true;
}

struct text_seek *
text_cache_seek(struct text_cache *cache, enum event_text text)
{
    bool is_typing = cache->left_at && clock_mono() - cache->left_at < TYPING_US;
    bool was_sought = cache->sought >> text & 1;
    if (!cache->seek || text_seek_is_busy(cache->seek))
        return NULL;
    if ((is_typing || was_sought) && !text_cache_is_full(cache))
        return NULL;
    cache->sought |= 1u << text;
    return cache->seek;
}

void
text_cache_was_left(struct text_cache *cache)
{
    cache->left_at = clock_mono();
}

void
text_cache_rest(struct text_cache *cache)
{
    if (cache->seek)
        text_seek_rest(cache->seek);
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
    size_t count, bytes;
    int64_t low, high; // all between were read, also where the rest of the page could not be
    bool is_end;       // and there is no more
};

static bool
fill_text(void *context, int64_t id, struct bytes text)
{
    struct filling *filling = context;
    column_add(filling->column, id, text);
    filling->low = filling->count == 0 || id < filling->low ? id : filling->low;
    filling->high = id > filling->high ? id : filling->high;
    filling->bytes += text.len;
    filling->count++;
    return filling->bytes < PAGE_BYTES;
}

static void
reached_bottom(struct column *column)
{
    column->is_bottom = true;
    column->high = column->high ? column->high : 1;
}

// The size of the next page follows from what this one took.
static bool
text_cache_read_page(struct text_cache *cache, struct store *store, const struct event_texts_query *query,
                     struct filling *filling, struct err *err)
{
    size_t *rows = &cache->rows[query->text];
    int64_t began = clock_mono();
    if (!store_event_texts(store, query, fill_text, filling, err))
        return false;
    int64_t took = clock_mono() - began;
    bool is_cut = filling->bytes >= PAGE_BYTES;
    filling->is_end = filling->count < query->limit && !is_cut;
    if (is_cut)
        *rows = filling->count;
    else if (took < PAGE_US / 2 && *rows < MOST_ROWS)
        *rows *= 2;
    else if (took > PAGE_US && *rows > LEAST_ROWS)
        *rows /= 2;
    return true;
}

size_t
text_cache_packed(struct text_cache *cache, struct store *store, enum event_text text)
{
    struct err err = {0};
    if (text != EVENT_TEXT_ERROR || cache->limit == 0)
        return 0;
    if (clock_mono() >= cache->packs.ask_at) {
        // Not to be had is no failure: then the table is read.
        if (!text_packs_state(store, &cache->packs.state, &err))
            cache->packs.state.is_usable = false;
        cache->packs.ask_at = clock_mono() + PACKS_EVERY_US;
    }
    bool is_usable = cache->packs.state.is_usable && !cache->packs.is_over;
    return is_usable ? (size_t)cache->packs.state.events : 0;
}

// What lies between a pack and what is held above it was written by nobody who packs: a page of the table.
static bool
fill_above_pack(struct text_cache *cache, struct store *store, int64_t below, struct err *err)
{
    struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    struct packs *packs = &cache->packs;
    const struct event_texts_query query = {.text = EVENT_TEXT_ERROR,
                                            .after_id = packs->next.high,
                                            .before_id = below,
                                            .limit = cache->rows[EVENT_TEXT_ERROR]};
    struct filling filling = {.column = column};
    bool ok = text_cache_read_page(cache, store, &query, &filling, err);
    packs->is_beside = filling.is_end;
    if (filling.count && !column->high)
        column->high = filling.high;
    if (filling.count)
        column->low = filling.low;
    if (filling.is_end && column->high)
        column->low = packs->next.high + 1;
    return ok;
}

// The pack, under what is held.
static void
adopt_pack(struct text_cache *cache, int64_t below)
{
    struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    struct packs *packs = &cache->packs;
    if (!column_adopt(column, packs->next.bytes, below,
                      (struct column_ids){packs->next.stale, packs->next.stale_count})) {
        rest_packs(cache);
        return;
    }
    // What was written since is to be looked for. The marks are equal while one transaction goes on.
    if (packs->state.mark <= cache->mark) {
        cache->mark = packs->state.mark;
        cache->changes = packs->state.changes;
    }
    column->high = column->high ? column->high : packs->next.high;
    column->low = packs->next.low;
    if (packs->next.low <= 1)
        reached_bottom(column);
    drop_pack(cache);
}

// One step down through the packs. *did false: there is none below.
static bool
fill_packed(struct text_cache *cache, struct store *store, bool *did, struct err *err)
{
    struct packs *packs = &cache->packs;
    const struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    int64_t below = column->high ? column->low : INT64_MAX;
    if (!packs->next.data && !text_packs_below(store, below, &packs->next, err))
        return false;
    packs->is_over = !packs->next.data;
    *did = !packs->is_over;
    if (packs->is_over)
        return true;
    if (packs->next.high < below - 1 && !packs->is_beside)
        return fill_above_pack(cache, store, below, err);
    adopt_pack(cache, below);
    return true;
}

// One page read here and now.
static bool
fill_here(struct text_cache *cache, struct store *store, enum event_text text, bool is_up, bool *is_over,
          struct err *err)
{
    struct column *column = &cache->columns[text];
    const struct event_texts_query query = {.text = text,
                                            .after_id = is_up ? column->high : INT64_MIN,
                                            .before_id = is_up || !column->high ? INT64_MAX : column->low,
                                            .ascending = is_up,
                                            .limit = cache->rows[text]};
    struct filling filling = {.column = column};
    bool ok = text_cache_read_page(cache, store, &query, &filling, err);
    if (filling.count && (is_up || !column->high))
        column->high = filling.high;
    if (filling.count && !is_up)
        column->low = filling.low;
    // Up there is always more to come; down there is a bottom.
    *is_over = filling.is_end;
    if (filling.is_end && !is_up)
        reached_bottom(column);
    return ok;
}

static void
adopt(struct column *column, const struct text_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        column_add(column, page->places[i].id, text_page_at(page, i));
    if (page->count && !column->high)
        column->high = page->places[0].id;
    column->low = page->low;
    if (page->is_bottom)
        reached_bottom(column);
}

// The next page downwards that was read ahead, if there is one within a moment.
static bool
fill_ahead(struct text_cache *cache, struct store *store, enum event_text text, struct err *err)
{
    struct column *column = &cache->columns[text];
    if (!text_reader_is_reading(cache->reader, text)) {
        int64_t lowest, highest;
        if (!store_id_bounds(store, &lowest, &highest, err))
            return false;
        text_reader_begin(cache->reader, text, column->high ? column->low : INT64_MAX, lowest, highest);
    }
    struct text_page *page = text_reader_take(cache->reader, PAGE_US);
    if (!page)
        return true;
    bool is_broken = err_is_set(&page->err);
    if (!is_broken)
        adopt(column, page);
    if (is_broken)
        cache->reader_at = clock_mono() + READER_REST_US;
    if (is_broken || column->is_bottom || text_cache_is_full(cache))
        text_reader_rest(cache->reader);
    text_page_destroy(page);
    return true;
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
    if (!make_mark(cache, store, err))
        return false;
    bool did = false;
    if (!is_up && text_cache_packed(cache, store, text) > 0 && !fill_packed(cache, store, &did, err))
        return false;
    if (did) {
        *is_over = column->is_bottom || text_cache_is_full(cache);
        return true;
    }
    bool reads_here = column_count(column) < BEGUN_ROWS || (cache->seek && text_seek_is_busy(cache->seek));
    if (is_up || reads_here || !cache->reader || clock_mono() < cache->reader_at)
        return fill_here(cache, store, text, is_up, is_over, err);
    if (!fill_ahead(cache, store, text, err))
        return false;
    *is_over = column->is_bottom || text_cache_is_full(cache);
    return true;
}
