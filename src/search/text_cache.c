#include "search/text_cache.h"

#include <stdlib.h>
#include <sys/random.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "search/text_reader.h"
#include "search/text_watch.h"
#include "store/rollup/snapshots.h"

enum {
    FIRST_ROWS = 500,
    LEAST_ROWS = 250,
    MOST_ROWS = 20000,
    PAGE_BYTES = 4 << 20,
    BEGUN_ROWS = 8000, // the first rows are read here: a screenful need not wait for the reader's connections
};
static const int64_t PAGE_US = 10000; // time that a page may take
static const int64_t CHECK_US = US_PER_SECOND;
static const int64_t LOOK_LEAST_US = 2 * US_PER_SECOND;       // between two looks for changes,
enum { LOOK_SHARE = 20, MOST_MISSING = 2000 };                // which take at most a twentieth of the time
static const int64_t READER_REST_US = 30 * US_PER_SECOND;     // after it failed
static const int64_t TYPING_US = US_PER_SECOND;               // between two searches of a person who types,
static const int64_t PATIENCE_US = 300000;                    // who types no more when one lasts so long
static const int64_t SNAPSHOTS_EVERY_US = 5 * US_PER_SECOND;  // between two questions whether there are any
static const int64_t SNAPSHOTS_REST_US = 300 * US_PER_SECOND; // after one could not be used

struct text_cache {
    int64_t limit;
    uint64_t key[2];
    struct column columns[EVENT_TEXT_COUNT];
    size_t rows[EVENT_TEXT_COUNT]; // of the next page
    uint64_t generation;

    // Reading ahead, and asking the server.
    struct text_reader *reader; // NULL: pages are read here
    int64_t reader_at;          // clock_mono before which the reader rests
    struct text_seek *seek;     // NULL: columns are read
    unsigned sought;            // set of 1 << enum event_text: of interest to the searches to come
    int64_t left_at;            // clock_mono of the last search that was left; 0: none

    // Looks for changes.
    struct text_watch *watch;       // NULL: they are made here
    int64_t changes;                // store_change_count of the last look
    int64_t xmin_floor;             // rows written since are not known yet; 0: not read yet
    int64_t looked_from;            // the floor of the look before
    int64_t check_at, look_at;      // clock_mono of the next question for the count, and of the next look
    text_cache_changed_fn *changed; // NULL: nobody wants to know
    void *context;

    // Snapshots of error messages.
    struct cached_snapshots {
        struct text_snapshots state;
        int64_t ask_at;            // clock_mono
        struct text_snapshot next; // the next below the column; data NULL: not read yet
        bool is_adjacent;          // the column reaches down to it
        bool is_over;              // none is below the column
        bool was_adopted;          // one at least
    } snapshots;
};

static void
drop_snapshot(struct text_cache *cache)
{
    text_snapshot_release(&cache->snapshots.next);
    cache->snapshots.is_adjacent = cache->snapshots.is_over = false;
}

static void
rest_snapshots(struct text_cache *cache)
{
    drop_snapshot(cache);
    cache->snapshots.state.is_usable = false;
    cache->snapshots.ask_at = clock_mono() + SNAPSHOTS_REST_US;
}

static void
text_cache_forget(struct text_cache *cache)
{
    drop_snapshot(cache);
    cache->generation++;
    cache->xmin_floor = 0;
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
    drop_snapshot(cache);
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        column_release(&cache->columns[i]);
    free(cache);
}

// Puts new texts in the place of old ones. False: too many events of the page are not in the column, and
// their rows would be read each time; or the column holds too many texts that no event has any more.
static bool
renew(struct column *column, const struct texts_page *page)
{
    size_t missing = 0;
    size_t hint = 0;
    uint32_t number;
    for (size_t i = 0; i < page->count; i++) {
        int64_t id = page->rows[i].id;
        if (!column_covers(column, id))
            continue;
        if (column_find(column, id, &hint, &number))
            column_add(column, id, texts_page_at(page, i));
        else
            missing++;
    }
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
        rest_snapshots(cache);
        return;
    }
    // Snapshots that were adopted during the look may have lowered the floor: then it stays.
    if (cache->xmin_floor >= cache->looked_from)
        cache->xmin_floor = changes->xmin_floor;
    // Pages and snapshots read ahead may be older than the changes that were found.
    if (changes->count)
        drop_snapshot(cache);
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

// Reads the floor before the first text. The count is read first: a row written in between is counted later.
static bool
read_floor(struct text_cache *cache, struct store *store, struct err *err)
{
    return cache->xmin_floor || (store_change_count(store, &cache->changes, err) &&
                                 store_xmin_floor(store, &cache->xmin_floor, err));
}

static void
text_cache_look(struct text_cache *cache, struct store *store)
{
    cache->looked_from = cache->xmin_floor;
    if (cache->watch) {
        text_watch_look(cache->watch, cache->xmin_floor, highest(cache), held_columns(cache));
        return;
    }
    struct text_changes *changes = alloc_bytes(sizeof *changes);
    text_changes_find(store, cache->xmin_floor, highest(cache), held_columns(cache), changes);
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
    if (!read_floor(cache, store, err))
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
text_cache_seek(struct text_cache *cache, enum event_text text, int64_t began)
{
    int64_t now = clock_mono();
    bool is_typing = cache->left_at && now - cache->left_at < TYPING_US && now - began < PATIENCE_US;
    if (!cache->seek || text_seek_is_busy(cache->seek) || (is_typing && !text_cache_is_full(cache)))
        return NULL;
    cache->sought |= 1u << text;
    if (cache->reader) // the server is to do one thing
        text_reader_rest(cache->reader);
    return cache->seek;
}

bool
text_cache_wants(const struct text_cache *cache, enum event_text text, int64_t highest)
{
    const struct column *column = &cache->columns[text];
    bool is_asked_for = text == EVENT_TEXT_ERROR || cache->sought >> text & 1;
    bool is_whole = column->is_bottom && highest <= column->high;
    return is_asked_for && !is_whole && !text_cache_is_full(cache);
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
    bool is_end;       // the table has no more
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

// Adapts the size of the next page to the time that this one took.
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

bool
text_cache_has_foreign(const struct text_cache *cache)
{
    return cache->snapshots.was_adopted;
}

size_t
text_cache_in_snapshots(struct text_cache *cache, struct store *store, enum event_text text)
{
    struct err err = {0};
    if (text != EVENT_TEXT_ERROR || cache->limit == 0)
        return 0;
    if (clock_mono() >= cache->snapshots.ask_at) {
        // Without snapshots the table is read.
        if (!text_snapshots_state(store, &cache->snapshots.state, &err))
            cache->snapshots.state.is_usable = false;
        cache->snapshots.ask_at = clock_mono() + SNAPSHOTS_EVERY_US;
    }
    bool is_usable = cache->snapshots.state.is_usable && !cache->snapshots.is_over;
    return is_usable ? (size_t)cache->snapshots.state.events : 0;
}

// Reads a page of the table between the column and the next snapshot below it.
static bool
fill_above_snapshot(struct text_cache *cache, struct store *store, int64_t below, struct err *err)
{
    struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    struct cached_snapshots *snapshots = &cache->snapshots;
    const struct event_texts_query query = {.text = EVENT_TEXT_ERROR,
                                            .after_id = snapshots->next.high,
                                            .before_id = below,
                                            .limit = cache->rows[EVENT_TEXT_ERROR]};
    struct filling filling = {.column = column};
    bool ok = text_cache_read_page(cache, store, &query, &filling, err);
    snapshots->is_adjacent = filling.is_end;
    if (filling.count && !column->high)
        column->high = filling.high;
    if (filling.count)
        column->low = filling.low;
    if (filling.is_end && column->high)
        column->low = snapshots->next.high + 1;
    return ok;
}

// Puts the next snapshot under the column.
static void
adopt_snapshot(struct text_cache *cache, int64_t below)
{
    struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    struct cached_snapshots *snapshots = &cache->snapshots;
    if (!column_adopt(column, snapshots->next.bytes, below,
                      (struct column_ids){snapshots->next.stale, snapshots->next.stale_count})) {
        rest_snapshots(cache);
        return;
    }
    snapshots->was_adopted = true;
    // The next look begins at the snapshot's floor. Equal floors: one long transaction holds both.
    if (snapshots->state.xmin_floor <= cache->xmin_floor) {
        cache->xmin_floor = snapshots->state.xmin_floor;
        cache->changes = snapshots->state.changes;
    }
    column->high = column->high ? column->high : snapshots->next.high;
    column->low = snapshots->next.low;
    if (snapshots->next.low <= 1)
        reached_bottom(column);
    drop_snapshot(cache);
}

// One step down through the snapshots. *did false: none is below.
static bool
fill_from_snapshots(struct text_cache *cache, struct store *store, bool *did, struct err *err)
{
    struct cached_snapshots *snapshots = &cache->snapshots;
    const struct column *column = &cache->columns[EVENT_TEXT_ERROR];
    int64_t below = column->high ? column->low : INT64_MAX;
    if (!snapshots->next.data && !text_snapshot_below(store, below, &snapshots->next, err))
        return false;
    snapshots->is_over = !snapshots->next.data;
    *did = !snapshots->is_over;
    if (snapshots->is_over)
        return true;
    if (snapshots->next.high < below - 1 && !snapshots->is_adjacent)
        return fill_above_snapshot(cache, store, below, err);
    adopt_snapshot(cache, below);
    return true;
}

// Reads one page on the caller's connection.
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
    // Upwards more events may arrive at any time; only downwards they end.
    *is_over = filling.is_end;
    if (filling.is_end && !is_up)
        reached_bottom(column);
    return ok;
}

static void
adopt(struct column *column, const struct texts_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        column_add(column, page->rows[i].id, texts_page_at(page, i));
    if (page->count && !column->high)
        column->high = page->rows[0].id;
    column->low = page->low;
    if (page->is_bottom)
        reached_bottom(column);
}

// Takes the next page downwards that was read ahead, if one comes within PAGE_US.
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
    struct texts_page *page = text_reader_take(cache->reader, PAGE_US);
    if (!page)
        return true;
    bool is_broken = err_is_set(&page->err);
    if (!is_broken)
        adopt(column, page);
    if (is_broken)
        cache->reader_at = clock_mono() + READER_REST_US;
    if (is_broken || column->is_bottom || text_cache_is_full(cache))
        text_reader_rest(cache->reader);
    texts_page_destroy(page);
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
    if (!read_floor(cache, store, err))
        return false;
    bool did = false;
    if (!is_up && text_cache_in_snapshots(cache, store, text) > 0 &&
        !fill_from_snapshots(cache, store, &did, err))
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
