#include "search/text_watch.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"

enum { MOST_CHANGED = 50000, MOST_BYTES = 8 << 20, BATCH = 2000 };

struct text_watch {
    const struct store_settings *settings;
    struct lane *lane; // NULL: it does not look
};

void
text_changes_destroy(struct text_changes *changes)
{
    if (!changes)
        return;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        texts_page_destroy(changes->pages[i]);
    free(changes->ids);
    free(changes);
}

static bool
add_changed(void *context, int64_t id, struct bytes text)
{
    struct texts_page *page = context;
    (void)texts_page_add(page, id, text);
    return page->bytes.len < MOST_BYTES;
}

// Stops at MOST_BYTES.
static bool
read_texts(struct store *store, enum event_text text, const int64_t *ids, size_t count,
           struct texts_page **page, struct err *err)
{
    *page = texts_page_create(text);
    for (size_t at = 0; at < count && (*page)->bytes.len < MOST_BYTES; at += BATCH) {
        const struct event_texts_query query = {
            .text = text, .ids = ids + at, .id_count = count - at < BATCH ? count - at : BATCH};
        if (!store_event_texts(store, &query, add_changed, *page, err))
            return false;
    }
    return true;
}

void
text_changes_find(struct store *store, int64_t xmin_floor, int64_t highest, unsigned columns,
                  struct text_changes *changes)
{
    int64_t began = clock_mono();
    // The next floor is read first: then both looks find an event that is written meanwhile.
    bool ok = store_xmin_floor(store, &changes->xmin_floor, &changes->err) &&
              store_changed_ids(store, xmin_floor, highest, MOST_CHANGED, &changes->ids, &changes->count,
                                &changes->err);
    changes->is_too_many = changes->count == MOST_CHANGED;
    for (int i = 0; ok && !changes->is_too_many && i < EVENT_TEXT_COUNT; i++) {
        if (!(columns >> i & 1))
            continue;
        ok = read_texts(store, (enum event_text)i, changes->ids, changes->count, &changes->pages[i],
                        &changes->err);
        changes->is_too_many = ok && changes->pages[i]->bytes.len >= MOST_BYTES;
    }
    changes->took = clock_mono() - began;
}

// --- the lane's thread ---

struct watch_look {
    int64_t xmin_floor, highest;
    unsigned columns;
};

static void
text_watch_work(struct lane *lane, void *given)
{
    const struct watch_look *look = given;
    struct text_changes *changes = alloc_bytes(sizeof *changes);
    struct store *store = lane_connection(lane);
    if (store_connect(store, &changes->err) && lane_is_wanted(lane))
        text_changes_find(store, look->xmin_floor, look->highest, look->columns, changes);
    if (!lane_put(lane, changes))
        text_changes_destroy(changes);
    free(given);
}

// --- the caller's thread ---

static void
drop_changes(void *changes)
{
    text_changes_destroy(changes);
}

struct text_watch *
text_watch_create(const struct store_settings *settings)
{
    struct text_watch *watch = alloc_bytes(sizeof *watch);
    watch->settings = settings;
    return watch;
}

void
text_watch_destroy(struct text_watch *watch)
{
    if (!watch)
        return;
    lane_destroy(watch->lane);
    free(watch);
}

bool
text_watch_is_looking(const struct text_watch *watch)
{
    return watch->lane != NULL;
}

void
text_watch_look(struct text_watch *watch, int64_t xmin_floor, int64_t highest, unsigned columns)
{
    struct watch_look *look = alloc_bytes(sizeof *look);
    *look = (struct watch_look){.xmin_floor = xmin_floor, .highest = highest, .columns = columns};
    watch->lane = lane_create(&(struct lane_settings){.name = "changes",
                                                      .work = text_watch_work,
                                                      .connection = store_create(watch->settings),
                                                      .interrupt = store_lane_interrupt,
                                                      .close = store_lane_close,
                                                      .jobs = 1,
                                                      .results = 1,
                                                      .drop_job = free,
                                                      .drop_result = drop_changes});
    (void)!lane_give(watch->lane, look, 0);
}

struct text_changes *
text_watch_take(struct text_watch *watch)
{
    struct text_changes *changes = watch->lane ? lane_take(watch->lane, 0) : NULL;
    if (changes) {
        lane_destroy(watch->lane);
        watch->lane = NULL;
    }
    return changes;
}
