#include "search/text_watch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"

enum { MOST_CHANGED = 50000, MOST_BYTES = 8 << 20, AT_ONCE = 2000, INTERRUPT_EVERY_US = 50000 };

struct text_watch {
    const struct store_settings *settings;
    struct thread *thread; // NULL: it does not look
    struct mailbox *found;
    int64_t mark, highest; // of the look
    unsigned columns;
    struct store *_Atomic store; // of the thread; from outside only to interrupt it
};

void
text_changes_destroy(struct text_changes *changes)
{
    if (!changes)
        return;
    for (int i = 0; i < EVENT_TEXT_COUNT; i++)
        text_page_destroy(changes->pages[i]);
    free(changes->ids);
    free(changes);
}

static bool
add_changed(void *context, int64_t id, struct bytes text)
{
    struct text_page *page = context;
    (void)text_page_add(page, id, text);
    return page->bytes.len < MOST_BYTES;
}

// What comes to more than MOST_BYTES is cut.
static bool
read_texts(struct store *store, enum event_text text, const int64_t *ids, size_t count,
           struct text_page **page, struct err *err)
{
    *page = alloc_bytes(sizeof **page);
    for (size_t at = 0; at < count && (*page)->bytes.len < MOST_BYTES; at += AT_ONCE) {
        const struct event_texts_query query = {
            .text = text, .ids = ids + at, .id_count = count - at < AT_ONCE ? count - at : AT_ONCE};
        if (!store_event_texts(store, &query, add_changed, *page, err))
            return false;
    }
    return true;
}

void
text_changes_find(struct store *store, int64_t mark, int64_t highest, unsigned columns,
                  struct text_changes *changes)
{
    int64_t began = clock_mono();
    // The next mark is made first: what is written meanwhile is found by both looks.
    bool ok =
        store_xmin_floor(store, &changes->mark, &changes->err) &&
        store_changed_ids(store, mark, highest, MOST_CHANGED, &changes->ids, &changes->count, &changes->err);
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

static void
text_watch_run(void *context)
{
    struct text_watch *watch = context;
    struct text_changes *changes = alloc_bytes(sizeof *changes);
    struct store *store;
    if (store_open(&store, watch->settings, &changes->err)) {
        atomic_store(&watch->store, store);
        text_changes_find(store, watch->mark, watch->highest, watch->columns, changes);
    }
    (void)!mailbox_put(watch->found, changes, -1);
}

struct text_watch *
text_watch_create(const struct store_settings *settings)
{
    struct text_watch *watch = alloc_bytes(sizeof *watch);
    watch->settings = settings;
    watch->found = mailbox_create(1);
    return watch;
}

static void
text_watch_finish(struct text_watch *watch)
{
    thread_join(watch->thread);
    watch->thread = NULL;
    store_close(atomic_exchange(&watch->store, NULL));
}

void
text_watch_destroy(struct text_watch *watch)
{
    if (!watch)
        return;
    // Again and again: one that comes between two statements stops neither.
    struct text_changes *changes = NULL;
    while (watch->thread && !changes) {
        struct store *store = atomic_load(&watch->store);
        if (store)
            store_interrupt(store);
        changes = mailbox_take(watch->found, INTERRUPT_EVERY_US);
    }
    text_changes_destroy(changes);
    text_watch_finish(watch);
    mailbox_destroy(watch->found, NULL);
    free(watch);
}

bool
text_watch_is_looking(const struct text_watch *watch)
{
    return watch->thread != NULL;
}

void
text_watch_look(struct text_watch *watch, int64_t mark, int64_t highest, unsigned columns)
{
    watch->mark = mark;
    watch->highest = highest;
    watch->columns = columns;
    watch->thread = thread_start(text_watch_run, watch, "changes");
}

struct text_changes *
text_watch_take(struct text_watch *watch)
{
    if (!watch->thread)
        return NULL;
    struct text_changes *changes = mailbox_take(watch->found, 0);
    if (changes)
        text_watch_finish(watch);
    return changes;
}
