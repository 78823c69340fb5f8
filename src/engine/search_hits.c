#include "engine/search_hits.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"

enum { SELECTIVE = 4, MOST_ROWS = 250000, MOST_IDS = 1000000, LOOK_EVERY = 32 };

void
search_hits_begin(struct search_hits *hits, struct filter *filter, size_t term, struct text_seek *seek,
                  const struct event_scan *scan, size_t count)
{
    *hits = (struct search_hits){.filter = filter, .term = term, .seek = seek, .began = clock_mono()};
    hits->most = scan->is_enough ? MOST_IDS : count / SELECTIVE < MOST_ROWS ? count / SELECTIVE : MOST_ROWS;
    text_seek_begin(seek, scan);
}

void
search_hits_release(struct search_hits *hits)
{
    if (search_hits_are_coming(hits))
        text_seek_stop(hits->seek);
    text_page_destroy(hits->page);
    free(hits->hits);
    *hits = (struct search_hits){0};
}

bool
search_hits_are_coming(const struct search_hits *hits)
{
    return hits->seek && !hits->is_whole;
}

static struct event
event_of(const struct text_page *page, size_t i)
{
    struct event event = {.id = page->places[i].id, .created_at = TIME_ABSENT};
    *(page->text == EVENT_TEXT_ERROR   ? &event.error_message
      : page->text == EVENT_TEXT_STACK ? &event.stack_trace
                                       : &event.payload) = text_page_at(page, i);
    return event;
}

static enum filter_verdict
match_place(const struct search_hits *hits, size_t i)
{
    if (hits->page->places[i].fits)
        return FILTER_YES;
    struct event event = event_of(hits->page, i);
    return filter_match_term(hits->filter, hits->term, &event);
}

// The rest of the page, as far as there is time.
static void
match_page(struct search_hits *hits, int64_t until)
{
    while (hits->at < hits->page->count) {
        int64_t id = hits->page->places[hits->at].id;
        enum filter_verdict verdict = match_place(hits, hits->at++);
        if (verdict != FILTER_NO) {
            hits->hits = alloc_grow(hits->hits, hits->count, &hits->capacity, sizeof *hits->hits);
            hits->hits[hits->count++] = (struct hit){.id = id, .is_undecided = verdict == FILTER_UNDECIDED};
        }
        bool looks = hits->at % LOOK_EVERY == 0 || verdict == FILTER_UNDECIDED;
        if (looks && clock_mono() >= until)
            return;
    }
}

static int
highest_first(const void *left, const void *right)
{
    int64_t a = ((const struct hit *)left)->id;
    int64_t b = ((const struct hit *)right)->id;
    return (a < b) - (a > b);
}

static void
end_page(struct search_hits *hits)
{
    bool is_over = hits->page->is_bottom;
    bool is_vain = err_is_set(&hits->page->err) || (hits->rows += hits->page->count) > hits->most;
    text_page_destroy(hits->page);
    hits->page = NULL;
    if (is_vain) {
        text_seek_stop(hits->seek);
        hits->seek = NULL;
        return;
    }
    hits->is_whole = is_over;
    if (is_over && hits->count)
        qsort(hits->hits, hits->count, sizeof *hits->hits, highest_first);
}

void
search_hits_take(struct search_hits *hits, int64_t until, bool may_wait)
{
    while (search_hits_are_coming(hits)) {
        int64_t left = until - clock_mono();
        if (!hits->page) {
            hits->page = text_seek_take(hits->seek, may_wait && left > 0 ? left : 0);
            hits->at = 0;
        }
        if (!hits->page)
            return;
        match_page(hits, until);
        if (hits->at < hits->page->count)
            return;
        end_page(hits);
    }
}

enum filter_verdict
search_hits_verdict(const struct search_hits *hits, int64_t id, size_t *hint)
{
    size_t low = 0;
    size_t high = hits->count;
    // Where the last one stood, or one place further.
    if (*hint <= hits->count && (*hint == 0 || hits->hits[*hint - 1].id > id)) {
        low = *hint;
        low += low < hits->count && hits->hits[low].id > id;
        high = low == hits->count || hits->hits[low].id <= id ? low : high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hits->hits[middle].id > id)
            low = middle + 1;
        else
            high = middle;
    }
    *hint = low;
    if (low == hits->count || hits->hits[low].id != id)
        return FILTER_NO;
    return hits->hits[low].is_undecided ? FILTER_UNDECIDED : FILTER_YES;
}
