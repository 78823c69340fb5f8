#include "correct/pages.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "correct/private.h"

enum { AHEAD = 1, FIELDS = EVENT_PLANNED };

struct pages {
    struct pages_settings settings;
    struct mailbox *ready; // of struct page
    struct thread *thread;
};

void
page_destroy(struct page *page)
{
    if (!page)
        return;
    event_page_release(&page->events);
    free(page);
}

static void
pages_drop(void *page)
{
    page_destroy(page);
}

size_t
pages_size(size_t event_bytes, size_t most_bytes)
{
    bool are_small = event_bytes && event_bytes < most_bytes / PAGE_MOST / 4 * 3;
    return are_small || most_bytes == SIZE_MAX ? PAGE_MOST : PAGE_FEW;
}

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// How many of the ids from this one on belong to the same page.
static size_t
size_at(const struct pages_settings *settings, size_t from)
{
    size_t size = settings->size, end = 0;
    for (size_t i = 0; settings->sizes && end <= from; i++)
        size = (end += settings->sizes[i]) - from;
    return smaller(size, settings->count - from);
}

struct page *
pages_read(const struct pages_settings *settings, size_t from, size_t most)
{
    struct page *page = alloc_bytes(sizeof *page);
    size_t wanted = smaller(size_at(settings, from), most);
    const struct event_query query = {.fields = FIELDS,
                                      .ids = settings->ids + from,
                                      .id_count = wanted,
                                      .limit = wanted,
                                      .most_bytes = settings->most_bytes,
                                      .takes_unreadable = true};
    *page = (struct page){.ids = query.ids};
    page->ok = store_events(settings->store, &query, &page->events, &page->err);
    if (!page->ok)
        return page;
    page->count = event_page_answers(&page->events, &query);
    page->ok = corrector_find_originals(settings->corrector, settings->store, page->events.events,
                                        page->events.count, settings->is_kept_for_good, &page->events.arena,
                                        &page->troubles, &page->err);
    if (page->ok && settings->shapes) {
        page->shape_of = arena_array(&page->events.arena, page->events.count, sizeof(const struct shape *));
        page->ok = shapes_find(settings->shapes, settings->store, page->events.events, page->events.count,
                               page->shape_of, &page->err);
    }
    return page;
}

static bool
is_late(const struct pages_settings *settings)
{
    return settings->until && clock_mono() >= settings->until;
}

static void
pages_run(void *context)
{
    struct pages *pages = context;
    const struct pages_settings *settings = &pages->settings;
    size_t largest = 0; // event, on average of a page; 0: none was read
    bool ok = true;
    for (size_t from = 0; ok && from < settings->count && (from == 0 || !is_late(settings));) {
        size_t most = settings->is_careful ? pages_size(largest, settings->most_bytes) : SIZE_MAX;
        struct page *page = pages_read(settings, from, most);
        size_t each = page->events.count ? page->events.bytes / page->events.count + 1 : 0;
        largest = each > largest ? each : largest;
        from += page->count;
        ok = page->ok;
        if (!mailbox_put(pages->ready, page, -1)) {
            page_destroy(page);
            break;
        }
    }
    mailbox_close(pages->ready);
}

struct pages *
pages_start(const struct pages_settings *settings)
{
    struct pages *pages = alloc_bytes(sizeof *pages);
    *pages = (struct pages){.settings = *settings, .ready = mailbox_create(AHEAD)};
    pages->thread = thread_start(pages_run, pages, "reading");
    return pages;
}

struct page *
pages_next(struct pages *pages)
{
    return mailbox_take(pages->ready, -1);
}

void
pages_stop(struct pages *pages)
{
    mailbox_close(pages->ready);
    thread_join(pages->thread);
    mailbox_destroy(pages->ready, pages_drop);
    free(pages);
}
