// The step of an operation: pages are read by one connection and written by another, each in a thread of its
// own, while the recipe is applied to the page between them. Programs of the recipe and of checks end with
// the thread that started them, so it is applied in the caller's thread.
#include "correct/private.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "correct/pages.h"
#include "store/operations/corrections.h"

enum { STEP_EVENTS = 250000 };
#define PAGE_BYTES ((size_t)8 << 20)
// Then no other page is read: the worker has other things to do as well. Where a step ends, pages are read
// and written one after the other for a moment, not beside each other.
#define STEP_TIME (2 * US_PER_SECOND)
#define LAST_TIME US_PER_SECOND // after that: for pages that were read already; then they are dropped

// A page to which the recipe was applied.
struct corrected_page {
    struct page *page; // its arena has the rest
    struct corrected *events;
};

// What writes. Its members are the thread's until that has ended.
struct writing {
    struct store *store;
    int64_t operation;
    struct mailbox *pages; // of struct corrected_page; closed by the thread where it gives up
    struct strbuf room;    // for payloads on their way, of every page in turn
    struct thread *thread;
    int64_t applied, left;
    bool ok, is_over; // nothing more can be written: it failed, or another worker was quicker
    struct err err;
};

static void
drop_corrected(void *page)
{
    struct corrected_page *dropped = page;
    page_destroy(dropped->page);
    free(dropped);
}

// "line 3: $.amount does not exist"
static const char *
detail_of(const struct correct_result *result, struct arena *arena)
{
    if (result->outcome == CORRECT_CHANGED)
        return NULL;
    const char *words = result->reason ? result->reason : correct_outcome_name(result->outcome);
    if (result->outcome == CORRECT_FORCED)
        return arena_printf(arena, CORRECT_FORCED_WORD "%s", words);
    return result->line ? arena_printf(arena, "line %d: %s", result->line, words) : words;
}

static struct corrected
corrected_of(const struct correct_result *result, struct arena *arena)
{
    return (struct corrected){
        .id = result->id,
        .parent = result->parent,
        .outcome = correct_outcome_name(result->outcome),
        .detail = detail_of(result, arena),
        .correction = result->correction,
    };
}

// Events that are not in the table any more have an outcome too: they are skipped when it is kept. NULL: it
// is not wanted any more.
static struct corrected *
apply_page(struct corrector *corrector, struct page *page, struct err *err)
{
    struct event_page *events = &page->events;
    struct arena *arena = &events->arena;
    struct correct_result *results = arena_array(arena, events->count, sizeof *results);
    struct corrected *all = arena_array(arena, page->count, sizeof *all);
    corrector_note_page(corrector, events->bytes, events->count);
    if (!correct_events(corrector, events->events, page->troubles, events->count, arena, results, err))
        return NULL;
    size_t found = 0;
    for (size_t i = 0; i < page->count; i++) {
        bool is_there = found < events->count && events->events[found].id == page->ids[i];
        const struct correct_result gone = {.id = page->ids[i], .outcome = CORRECT_NOT_APPLICABLE};
        all[i] = corrected_of(is_there ? &results[found++] : &gone, arena);
    }
    return all;
}

static void
write_page(struct writing *writing, const struct page *page, const struct corrected *events)
{
    int64_t applied = 0;
    writing->ok = work_correct(writing->store, writing->operation, events, page->count, &writing->room,
                               &applied, &writing->left, &writing->err);
    writing->applied += applied;
    writing->is_over = !writing->ok || applied == 0;
}

static void
write_pages(void *context)
{
    struct writing *writing = context;
    struct corrected_page *corrected;
    while (!writing->is_over && (corrected = mailbox_take(writing->pages, -1))) {
        write_page(writing, corrected->page, corrected->events);
        drop_corrected(corrected);
    }
    mailbox_close(writing->pages);
}

// One after the other on one connection, where no second one can be had.
static void
step_alone(struct corrector *corrector, const struct pages_settings *settings, struct writing *writing)
{
    for (size_t from = 0; !writing->is_over && from < settings->count && clock_mono() < settings->until;) {
        struct page *page = pages_read(settings, from, corrector_page_size(corrector, PAGE_BYTES));
        from += page->count;
        writing->err = page->err;
        struct corrected *events = page->ok ? apply_page(corrector, page, &writing->err) : NULL;
        if (events) {
            write_page(writing, page, events);
        } else {
            writing->ok = false;
            writing->is_over = true;
        }
        page_destroy(page);
    }
}

static void
step_ahead(struct corrector *corrector, const struct pages_settings *settings, struct writing *writing)
{
    struct pages *pages = pages_start(settings);
    struct page *page = NULL;
    struct err failure = {0};
    writing->pages = mailbox_create(1);
    writing->thread = thread_start(write_pages, writing, "writing");
    while (clock_mono() < settings->until + LAST_TIME && (page = pages_next(pages))) {
        struct corrected_page *corrected = alloc_bytes(sizeof *corrected);
        *corrected = (struct corrected_page){.page = page};
        failure = page->err;
        if (page->ok)
            corrected->events = apply_page(corrector, page, &failure);
        if (!corrected->events || !mailbox_put(writing->pages, corrected, -1)) {
            drop_corrected(corrected);
            break;
        }
    }
    pages_stop(pages);
    mailbox_close(writing->pages);
    thread_join(writing->thread);
    mailbox_destroy(writing->pages, drop_corrected);
    if (writing->ok && err_is_set(&failure)) {
        writing->ok = false;
        writing->err = failure;
    }
}

struct connecting {
    struct store *store;
    bool ok;
    struct err err;
};

static void
connect_ahead(void *context)
{
    struct connecting *connecting = context;
    connecting->ok = store_connect(connecting->store, &connecting->err);
}

// A connection takes as long as the question what is next, so it is made meanwhile.
static bool
ask_next(struct store *store, struct connecting *ahead, int64_t operation, size_t page,
         struct correct_queue *queue, struct err *err)
{
    struct thread *thread = ahead->store ? thread_start(connect_ahead, ahead, "reading") : NULL;
    bool ok = work_correct_next(store, operation, STEP_EVENTS, page, queue, err);
    thread_join(thread);
    if (err_is_set(&ahead->err))
        log_line(LOG_WARN, "events are not read ahead", LOG_TEXT("why", ahead->err.text));
    return ok;
}

bool
correct_step(struct corrector *corrector, struct store *store, struct store *ahead, int64_t operation,
             int64_t *applied, int64_t *left, struct err *err)
{
    struct correct_queue queue;
    *applied = *left = 0;
    bool is_careful = !corrector_knows_size(corrector);
    size_t page = is_careful ? PAGE_MOST : corrector_page_size(corrector, PAGE_BYTES);
    struct connecting connecting = {.store = ahead};
    if (!ask_next(store, &connecting, operation, page, &queue, err))
        return false;
    bool is_ahead = connecting.ok && queue.page_count > 1;
    const struct pages_settings settings = {.corrector = corrector,
                                            .sources = {{.store = is_ahead ? ahead : store}},
                                            .source_count = 1,
                                            .ids = queue.ids,
                                            .count = queue.count,
                                            .sizes = queue.pages,
                                            .is_careful = is_careful,
                                            .most_bytes = PAGE_BYTES,
                                            .until = clock_mono() + STEP_TIME,
                                            .is_kept_for_good = true};
    struct writing writing = {
        .store = store, .operation = operation, .left = (int64_t)queue.count, .ok = true};
    if (queue.count == 0)
        writing.left = 0;
    else if (is_ahead)
        step_ahead(corrector, &settings, &writing);
    else
        step_alone(corrector, &settings, &writing);
    correct_queue_release(&queue);
    strbuf_release(&writing.room);
    *applied = writing.applied;
    *left = writing.left;
    if (!writing.ok && err)
        *err = writing.err;
    return writing.ok;
}
