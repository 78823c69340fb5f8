#include "correct/pages.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "correct/private.h"

enum { AHEAD = 1 };

struct page_reader {
    const struct pages_settings *settings;
    struct page_source source;
    size_t turn;           // the first page that it reads
    struct mailbox *ready; // of struct page
    struct thread *thread;
};

struct pages {
    struct pages_settings settings;
    struct page_reader readers[PAGE_SOURCES];
    size_t current; // reader, whose page is next
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

static struct page *
read_page(const struct pages_settings *settings, const struct page_source *source, size_t from, size_t most)
{
    struct page *page = alloc_bytes(sizeof *page);
    size_t wanted = smaller(size_at(settings, from), most);
    unsigned shaped = source->shapes ? EVENT_TYPED : 0;
    const struct event_query query = {.fields = corrector_fields(settings->corrector) | shaped,
                                      .ids = settings->ids + from,
                                      .id_count = wanted,
                                      .limit = wanted,
                                      .most_bytes = settings->most_bytes,
                                      .takes_unreadable = true};
    *page = (struct page){.ids = query.ids};
    page->ok = store_events(source->store, &query, &page->events, &page->err);
    if (!page->ok)
        return page;
    page->count = event_page_answers(&page->events, &query);
    page->ok = corrector_find_originals(settings->corrector, source->store, page->events.events,
                                        page->events.count, settings->is_kept_for_good, &page->events.arena,
                                        &page->troubles, &page->err);
    if (page->ok && source->shapes) {
        page->shape_of = arena_array(&page->events.arena, page->events.count, sizeof(const struct shape *));
        page->ok = shapes_find(source->shapes, source->store, page->events.events, page->events.count,
                               page->shape_of, &page->err);
    }
    return page;
}

struct page *
pages_read(const struct pages_settings *settings, size_t from, size_t most)
{
    return read_page(settings, &settings->sources[0], from, most);
}

static bool
is_late(const struct pages_settings *settings)
{
    return settings->until && clock_mono() >= settings->until;
}

// Reads the ids from this one on, up to `end`. False: there is nothing more to read.
static bool
read_turn(struct page_reader *reader, size_t from, size_t end)
{
    const struct pages_settings *settings = reader->settings;
    size_t largest = 0; // event, on average of a page; 0: none was read
    bool ok = true;
    while (ok && from < end && (from == 0 || !is_late(settings))) {
        size_t most = settings->is_careful ? pages_size(largest, settings->most_bytes) : SIZE_MAX;
        struct page *page = read_page(settings, &reader->source, from, smaller(most, end - from));
        size_t each = page->events.count ? page->events.bytes / page->events.count + 1 : 0;
        largest = each > largest ? each : largest;
        from += page->count;
        page->ends_turn = from == end;
        ok = page->ok;
        if (!mailbox_put(reader->ready, page, -1)) {
            page_destroy(page);
            return false;
        }
    }
    return ok;
}

static void
pages_run(void *context)
{
    struct page_reader *reader = context;
    const struct pages_settings *settings = reader->settings;
    size_t turn = settings->source_count > 1 ? settings->size : settings->count;
    size_t from = reader->turn * turn;
    while (from < settings->count && read_turn(reader, from, smaller(from + turn, settings->count)))
        from += settings->source_count * turn;
    mailbox_close(reader->ready);
}

struct pages *
pages_start(const struct pages_settings *settings)
{
    struct pages *pages = alloc_bytes(sizeof *pages);
    *pages = (struct pages){.settings = *settings};
    for (size_t i = 0; i < settings->source_count; i++) {
        struct page_reader *reader = &pages->readers[i];
        *reader = (struct page_reader){.settings = &pages->settings,
                                       .source = settings->sources[i],
                                       .turn = i,
                                       .ready = mailbox_create(AHEAD)};
        reader->thread = thread_start(pages_run, reader, "reading");
    }
    return pages;
}

struct page *
pages_next(struct pages *pages)
{
    struct page *page = mailbox_take(pages->readers[pages->current].ready, -1);
    if (page && page->ends_turn)
        pages->current = (pages->current + 1) % pages->settings.source_count;
    return page;
}

void
pages_stop(struct pages *pages)
{
    for (size_t i = 0; i < pages->settings.source_count; i++)
        mailbox_close(pages->readers[i].ready);
    for (size_t i = 0; i < pages->settings.source_count; i++) {
        thread_join(pages->readers[i].thread);
        mailbox_destroy(pages->readers[i].ready, pages_drop);
    }
    free(pages);
}
