#include "search/hits.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "search/highest_first.h"
#include "search/term_text.h"

enum {
    SELECTIVE = 4,
    MOST_ROWS = 250000,
    MOST_IDS = 1000000,
    LOOK_EVERY = 32,
    FIRST_WINDOW = 500,
    LEAST_WINDOW = 100,
    MOST_WINDOW = 20000,
    SPREAD = 4, // a range may be so many times as thin as the candidates are on average
};
static const int64_t WINDOW_US = 5000; // time that a range may take

void
search_hits_begin(struct search_hits *hits, struct filter *filter, size_t part, struct text_seek *seek,
                  const struct event_scan *scan, const int64_t *ids, size_t count)
{
    size_t term;
    bool is_inverted = filter_part_term(filter, part, &term) && filter_term_is_inverted(filter, term);
    *hits = (struct search_hits){.filter = filter,
                                 .part = part,
                                 .is_inverted = is_inverted,
                                 .without = is_inverted ? FILTER_YES : FILTER_NO,
                                 .state = HITS_NEAR,
                                 .seek = seek,
                                 .scan = *scan,
                                 .began = clock_mono(),
                                 .low = 1,
                                 .window = FIRST_WINDOW};
    hits->most = scan->is_enough ? MOST_IDS : count / SELECTIVE < MOST_ROWS ? count / SELECTIVE : MOST_ROWS;
    // Ids may be any 64-bit numbers: their difference may not fit in one.
    double apart = count ? (double)ids[0] - (double)ids[count - 1] : 0;
    apart = (apart < 0 ? -apart : apart) / (double)(count ? count : 1);
    hits->spread = apart < (double)(INT64_MAX / SPREAD / MOST_WINDOW) ? ((int64_t)apart + 1) * SPREAD
                                                                      : INT64_MAX / MOST_WINDOW;
    text_seek_prepare(seek);
}

static void
hits_list_release(struct hit_list *list)
{
    texts_page_destroy(list->page);
    free(list->hits);
    *list = (struct hit_list){0};
}

void
search_hits_release(struct search_hits *hits)
{
    if (hits->state == HITS_COMING)
        text_seek_stop(hits->seek);
    hits_list_release(&hits->far);
    hits_list_release(&hits->near);
    *hits = (struct search_hits){0};
}

bool
search_hits_are_open(const struct search_hits *hits)
{
    return hits->state == HITS_NEAR || hits->state == HITS_COMING;
}

// --- matching ---

static enum filter_verdict
match_place(const struct search_hits *hits, const struct texts_page *page, size_t i)
{
    if (page->rows[i].fits)
        return hits->is_inverted ? FILTER_NO : FILTER_YES;
    return part_text_match(hits->filter, hits->part, texts_page_at(page, i));
}

// Matches the rest of the list's page until `until`. False: some rows are left.
static bool
match_page(const struct search_hits *hits, struct hit_list *list, int64_t until)
{
    while (list->at < list->page->count) {
        int64_t id = list->page->rows[list->at].id;
        enum filter_verdict verdict = match_place(hits, list->page, list->at++);
        if (verdict != hits->without) {
            list->hits = alloc_grow(list->hits, list->count, &list->capacity, sizeof *list->hits);
            list->hits[list->count++] = (struct hit){.id = id, .verdict = verdict};
        }
        bool looks = list->at % LOOK_EVERY == 0 || verdict == FILTER_UNDECIDED;
        if (looks && clock_mono() >= until)
            break;
    }
    return list->at == list->page->count;
}

static void
hits_drop_page(struct hit_list *list)
{
    texts_page_destroy(list->page);
    list->page = NULL;
    list->at = 0;
}

// --- the pass ---

void
search_hits_seek(struct search_hits *hits)
{
    // Where most of the newest events come, most of the others would come too. Three quarters: the newest may
    // be unlike the rest, since an outage makes events of one kind.
    bool is_vain = !hits->scan.is_enough && hits->came > hits->looked / 4 * 3;
    hits->state = is_vain ? HITS_VAIN : HITS_COMING;
    if (!is_vain)
        text_seek_begin(hits->seek, &hits->scan);
}

static void
give_up(struct search_hits *hits)
{
    if (hits->state == HITS_COMING)
        text_seek_stop(hits->seek);
    hits->state = HITS_VAIN;
}

static void
end_page(struct search_hits *hits)
{
    struct hit_list *far = &hits->far;
    bool is_over = far->page->is_bottom;
    bool is_vain = err_is_set(&far->page->err) || (hits->rows += far->page->count) > hits->most;
    hits_drop_page(far);
    if (is_vain) {
        give_up(hits);
        return;
    }
    if (!is_over)
        return;
    hits->state = HITS_WHOLE;
    sort_highest_first(far->hits, far->count, sizeof *far->hits);
}

void
search_hits_take(struct search_hits *hits, int64_t until, bool may_wait)
{
    while (hits->state == HITS_COMING) {
        int64_t left = until - clock_mono();
        if (!hits->far.page)
            hits->far.page = text_seek_take(hits->seek, may_wait && left > 0 ? left : 0);
        if (!hits->far.page || !match_page(hits, &hits->far, until))
            return;
        end_page(hits);
    }
}

// --- ranges ---

static bool
hits_add_row(void *context, const struct scanned_row *row)
{
    return texts_page_add_row(context, row);
}

static void
forget_range(struct search_hits *hits)
{
    hits->low = 1;
    hits->high = 0;
    hits->near.count = 0;
}

// False: the ids are too far apart for one range.
static bool
choose_range(struct search_hits *hits, const int64_t *ids, size_t count)
{
    hits->low = hits->high = ids[0];
    for (size_t i = 1; i < count; i++) {
        hits->low = ids[i] < hits->low ? ids[i] : hits->low;
        hits->high = ids[i] > hits->high ? ids[i] : hits->high;
    }
    bool is_near = (double)hits->high - (double)hits->low <= (double)hits->spread * (double)count;
    if (!is_near)
        forget_range(hits);
    return is_near;
}

static bool
hits_read_range(struct search_hits *hits, struct store *store, size_t count, struct err *err)
{
    struct texts_page *page = alloc_bytes(sizeof *page);
    page->text = hits->scan.text;
    int64_t began = clock_mono();
    if (!store_scan_range(store, &hits->scan, hits->low, hits->high, hits_add_row, page, err)) {
        texts_page_destroy(page);
        return false;
    }
    int64_t took = clock_mono() - began;
    bool is_cut = texts_page_is_full(page);
    if (is_cut)
        hits->low = page->rows[page->count - 1].id;
    hits->looked += count;
    hits->came += page->count;
    hits->near.page = page;
    hits->near.count = 0;
    if (is_cut)
        hits->window = count > 1 ? count / 2 : 1; // the event that is looked at first may be below the cut
    else if (took < WINDOW_US / 2 && hits->window < MOST_WINDOW)
        hits->window *= 2;
    else if (took > WINDOW_US && hits->window > LEAST_WINDOW)
        hits->window /= 2;
    return true;
}

bool
search_hits_look(struct search_hits *hits, struct store *store, const int64_t *ids, size_t count,
                 int64_t until, bool *did, struct err *err)
{
    count = count < hits->window ? count : hits->window;
    *did = hits->near.page || choose_range(hits, ids, count);
    if (!*did)
        return true;
    struct err failure = {0};
    if (!hits->near.page && !hits_read_range(hits, store, count, &failure)) {
        forget_range(hits);
        // The server refuses a text that its encoding cannot hold: the search does without its answer.
        bool is_refused = failure.kind != ERR_UNREACHABLE && failure.kind != ERR_CANCELLED;
        if (is_refused)
            give_up(hits);
        else if (err)
            *err = failure;
        return is_refused;
    }
    if (match_page(hits, &hits->near, until))
        hits_drop_page(&hits->near);
    return true;
}

bool
search_hits_know(const struct search_hits *hits, int64_t id)
{
    if (hits->state == HITS_WHOLE)
        return !hits->scan.has_before || id < hits->scan.before_id;
    return hits->state != HITS_NONE && !hits->near.page && id >= hits->low && id <= hits->high;
}

enum filter_verdict
search_hits_verdict(const struct search_hits *hits, int64_t id, size_t *hint)
{
    const struct hit_list *list = hits->state == HITS_WHOLE ? &hits->far : &hits->near;
    size_t low = 0;
    size_t high = list->count;
    // Ids are mostly asked for downwards: try the place of the last one, and the next.
    if (*hint <= list->count && (*hint == 0 || list->hits[*hint - 1].id > id)) {
        low = *hint;
        low += low < list->count && list->hits[low].id > id;
        high = low == list->count || list->hits[low].id <= id ? low : high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->hits[middle].id > id)
            low = middle + 1;
        else
            high = middle;
    }
    *hint = low;
    bool is_hit = low < list->count && list->hits[low].id == id;
    return is_hit ? list->hits[low].verdict : hits->without;
}
