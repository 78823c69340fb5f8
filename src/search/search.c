#include "search/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "search/hits.h"
#include "search/prefilter.h"
#include "search/term_text.h"
#include "search/text_verdicts.h"
#include "store/events/events.h"

enum {
    TERMS = 64,     // more than these are not answered one by one: then whole rows are read
    ASK_ROWS = 500, // rows read at once
    ASK_FIRST = 100,
    SCREENFUL = 50,
    LOOK_EVERY = 256,     // events between two looks at the clock
    DENSE = 4,            // a column is read for one candidate in so many missing events,
    DENSE_SNAPSHOTS = 32, // and for one in so many where snapshots have most of it
    SEEK_LEAST = 20000,   // the server is asked where a column misses at least so many events,
    SEEK_SHARE = 8,       // and one of so many, unless it cannot grow
};
// A search first asks the server range by range: until a screenful matched, until SEEK_FIRST events were
// looked at, or until SEEK_FIRST_US have passed. The server's pass over the table begins then, or after
// SEEK_AFTER_US. For SEEK_ALONE_US, which it needs for a million events, the search waits for it; after that
// it reads on.
enum { SEEK_FIRST = 40000 };
static const int64_t SEEK_AFTER_US[EVENT_TEXT_COUNT] = {
    [EVENT_TEXT_ERROR] = 15000, [EVENT_TEXT_STACK] = 40000, [EVENT_TEXT_PAYLOAD] = 60000};
static const int64_t SEEK_FIRST_US = US_PER_SECOND;
static const int64_t SEEK_ALONE_US = 3 * US_PER_SECOND;

struct search_term {
    enum filter_from from;
    enum event_text text; // EVENT_TEXT_COUNT: the term reads no long text
    bool is_inverted;
    bool is_part; // its no is the filter's
    size_t hint;
};

struct asked {
    int64_t id;
    uint64_t terms; // that the row still has to decide; none: a match
    struct filter_known known;
    bool is_undecided; // a match, as far as its limits tell
};

// The term that rules out most events, and the numbers of its texts for the candidates from `from` on. Valid
// during one step.
struct window {
    size_t term; // TERMS: none
    size_t hint;
    size_t from, count;
    uint32_t numbers[LOOK_EVERY];
};

struct search {
    struct search_query query;
    struct search_term terms[TERMS];
    size_t term_count;
    bool has_row_terms; // of short columns
    bool reads_rows;    // all of every row
    bool is_plain;      // every term must match
    size_t at;
    size_t row_hint;

    // Events whose rows have to be read, and the matches behind them, in the order of the list.
    struct asked *asked;
    size_t asked_count, asked_capacity, asked_rows;
    size_t ask_limit;

    struct window window;

    struct search_hits hits; // of the part that the server is asked about
    uint64_t hits_terms;     // its terms
    struct strbuf hits_required;
    size_t hits_hint;
    bool is_begun;
    int64_t began; // clock_mono of the first step

    struct text_verdicts *verdicts; // on the texts in the cache
    uint64_t generation;            // of the cache, when they were made
    int64_t rows_read, matched;
};

static bool
is_about_text(const struct search_term *term)
{
    return term->text != EVENT_TEXT_COUNT;
}

static size_t
term_to_rule_out(const struct search *search)
{
    size_t best = TERMS, inverted = TERMS;
    for (size_t i = 0; !search->reads_rows && i < search->term_count; i++) {
        const struct search_term *term = &search->terms[i];
        size_t *of = term->is_inverted ? &inverted : &best;
        if (is_about_text(term) && term->is_part && (*of == TERMS || term->text < search->terms[*of].text))
            *of = i;
    }
    return best < TERMS ? best : inverted;
}

struct search *
search_create(const struct search_query *query)
{
    struct search *search = alloc_bytes(sizeof *search);
    search->query = *query;
    search->ask_limit = ASK_FIRST;
    search->term_count = filter_terms(query->filter);
    search->reads_rows = search->term_count > TERMS;
    search->verdicts = text_verdicts_create(query->filter, query->threads);
    search->is_plain = true;
    for (size_t i = 0; !search->reads_rows && i < search->term_count; i++) {
        struct search_term *term = &search->terms[i];
        term->from = filter_term_from(query->filter, i);
        term->text = term_text(query->filter, i);
        term->is_inverted = filter_term_is_inverted(query->filter, i);
        term->is_part = filter_term_is_part(query->filter, i);
        search->is_plain = search->is_plain && term->is_part;
        search->has_row_terms = search->has_row_terms || term->from == FILTER_FROM_ROW;
    }
    search->window.term = query->cache ? term_to_rule_out(search) : TERMS;
    return search;
}

void
search_destroy(struct search *search)
{
    if (!search)
        return;
    if (!search_is_over(search) && search->query.cache)
        text_cache_was_left(search->query.cache);
    search_hits_release(&search->hits);
    strbuf_release(&search->hits_required);
    text_verdicts_destroy(search->verdicts);
    free(search->asked);
    free(search);
}

bool
search_is_over(const struct search *search)
{
    return search->at == search->query.count && search->asked_count == 0;
}

size_t
search_at(const struct search *search)
{
    return search->at;
}

// The verdict of a term about a text in the cache. False: it is not there.
static bool
decide_text(struct search *search, size_t n, int64_t id, enum filter_verdict *verdict)
{
    struct search_term *term = &search->terms[n];
    uint32_t number;
    if (!search->query.cache)
        return false;
    struct column *column = text_cache_column(search->query.cache, term->text);
    if (!column_find(column, id, &term->hint, &number) || number == TEXT_ELSEWHERE)
        return false;
    bool wants_most = search->query.count >= column_count(column) / 16;
    *verdict = text_verdicts_of(search->verdicts, n, column->texts, number, wants_most);
    return true;
}

// Does the server's answer decide this term?
static bool
is_hit_known(const struct search *search, size_t n, int64_t id)
{
    return search->hits_terms >> n & 1 && search_hits_know(&search->hits, id);
}

// The terms of the part that the server was asked about take its verdict.
static void
know_hits(struct search *search, int64_t id, struct filter_known *known)
{
    if (search->hits_terms && search_hits_know(&search->hits, id))
        filter_know(known, search->hits_terms, search_hits_verdict(&search->hits, id, &search->hits_hint));
}

// --- one event ---

// An event as far as the search knows it without its row.
struct known_event {
    int64_t id;
    struct event row;
    bool is_known; // the row, by the backlog
    struct filter_known known;
};

static bool
decide_term(struct search *search, size_t n, struct known_event *event, enum filter_verdict *verdict)
{
    if (search->terms[n].from == FILTER_FROM_ROW)
        return event->is_known && filter_match_second(search->query.filter, n, &event->row, verdict);
    return is_about_text(&search->terms[n]) && decide_text(search, n, event->id, verdict);
}

// Asks the terms of the short columns, or the others, as far as they still matter. False: the filter says no.
static bool
decide_terms(struct search *search, struct known_event *event, bool is_about_rows, uint64_t *open)
{
    for (size_t i = 0; i < search->term_count; i++) {
        enum filter_verdict one;
        bool is_row = search->terms[i].from == FILTER_FROM_ROW;
        if (is_row != is_about_rows || !(*open >> i & 1) || !decide_term(search, i, event, &one))
            continue;
        if (one == FILTER_NO && search->terms[i].is_part)
            return false;
        filter_know(&event->known, 1ull << i, one);
        *open &= ~(1ull << i);
        if (!search->is_plain && filter_decide(search->query.filter, &event->known, open) == FILTER_NO &&
            !*open)
            return false;
    }
    return true;
}

// The verdict of the terms that can be answered without the row; *open: the others. NO ends at once.
static enum filter_verdict
search_decide(struct search *search, int64_t id, struct filter_known *known, uint64_t *open)
{
    struct filter *filter = search->query.filter;
    struct known_event event = {.id = id};
    event.is_known = search->has_row_terms && search->query.backlog &&
                     backlog_event(search->query.backlog, id, &search->row_hint, &event.row);
    *open = search->term_count < TERMS ? (1ull << search->term_count) - 1 : ~0ull;
    bool is_no = !decide_terms(search, &event, true, open);
    if (!is_no) {
        know_hits(search, id, &event.known);
        enum filter_verdict verdict = filter_decide(filter, &event.known, open);
        is_no = *open ? !decide_terms(search, &event, false, open) : verdict == FILTER_NO;
    }
    if (is_no) {
        *open = 0;
        return FILTER_NO;
    }
    *known = event.known;
    return filter_decide(filter, known, open);
}

static void
add_found(struct search *search, struct search_found *found, int64_t id, bool is_undecided)
{
    search->matched++;
    found->undecided += is_undecided;
    if (is_undecided && search->query.leaves_undecided)
        return;
    found->ids = alloc_grow(found->ids, found->count, &found->capacity, sizeof *found->ids);
    found->ids[found->count++] = id;
}

static enum filter_verdict
decide_rest(struct search *search, const struct asked *asked, const struct event *event)
{
    struct filter *filter = search->query.filter;
    if (search->reads_rows)
        return filter_match(filter, event);
    struct filter_known known = asked->known;
    uint64_t open = asked->terms;
    for (size_t i = 0; open && i < search->term_count; i++) {
        if (!(open >> i & 1))
            continue;
        filter_know(&known, 1ull << i, filter_match_term(filter, i, event));
        (void)filter_decide(filter, &known, &open);
    }
    return filter_decide(filter, &known, &open);
}

// Adds the matches among the asked events, in the order of the list, as far as the page answers them: its
// `rows` first rows.
static void
decide_asked(struct search *search, const struct event_page *page, size_t rows, struct search_found *found)
{
    size_t at = 0, row = 0;
    search->asked_rows -= rows;
    for (; at < search->asked_count; at++) {
        const struct asked *asked = &search->asked[at];
        enum filter_verdict verdict = asked->is_undecided ? FILTER_UNDECIDED : FILTER_YES;
        if (asked->terms) {
            if (rows-- == 0)
                break;
            if (row == page->count || page->events[row].id != asked->id)
                continue; // deleted meanwhile
            verdict = decide_rest(search, asked, &page->events[row++]);
        }
        if (verdict != FILTER_NO)
            add_found(search, found, asked->id, verdict == FILTER_UNDECIDED);
    }
    search->asked_count -= at;
    if (search->asked_count)
        memmove(search->asked, search->asked + at, search->asked_count * sizeof *search->asked);
}

// Reads the rows that were asked for. Where they are long only some come; the rest stays asked for.
static bool
read_asked(struct search *search, struct store *store, struct search_found *found, struct err *err)
{
    int64_t *ids = alloc_array(search->asked_rows + 1, sizeof *ids);
    struct event_query query = {.takes_unreadable = true, .ids = ids, .most_bytes = EVENT_PAGE_BYTES};
    uint64_t open = 0;
    for (size_t i = 0; i < search->asked_count; i++) {
        if (search->asked[i].terms)
            ids[query.id_count++] = search->asked[i].id;
        open |= search->asked[i].terms;
    }
    for (size_t i = 0; i < search->term_count && !search->reads_rows; i++)
        query.fields |= open >> i & 1 ? filter_term_needs(search->query.filter, i) : 0;
    if (search->reads_rows)
        query.fields = filter_needs(search->query.filter);

    struct event_page page;
    bool ok = store_events(store, &query, &page, err);
    size_t rows = ok ? event_page_answers(&page, &query) : 0;
    if (ok)
        decide_asked(search, &page, rows, found);
    event_page_release(&page);
    free(ids);
    search->rows_read += (int64_t)rows;
    search->ask_limit = ok ? ASK_ROWS : search->ask_limit;
    return ok;
}

static void
look_at(struct search *search, int64_t id, struct search_found *found)
{
    uint64_t open = ~0ull;
    struct filter_known known = {0};
    enum filter_verdict verdict = search->reads_rows ? FILTER_YES : search_decide(search, id, &known, &open);
    if (verdict == FILTER_NO && !open)
        return;
    if (!open && !search->asked_count) {
        add_found(search, found, id, verdict == FILTER_UNDECIDED);
        return;
    }
    search->asked =
        alloc_grow(search->asked, search->asked_count, &search->asked_capacity, sizeof *search->asked);
    search->asked[search->asked_count++] =
        (struct asked){.id = id, .terms = open, .is_undecided = verdict == FILTER_UNDECIDED, .known = known};
    search->asked_rows += open != 0;
}

// --- the columns ---

static size_t
missing_in(const struct search *search, const struct column *column)
{
    size_t pending = search->query.backlog ? backlog_count(search->query.backlog) : search->query.count;
    return pending > column_count(column) ? pending - column_count(column) : 0;
}

// Candidates that may still need a text of the column.
static size_t
left_to_decide(const struct search *search)
{
    const struct search_hits *hits = &search->hits;
    if (search_hits_are_open(hits))
        return 0; // not known yet
    bool is_prefiltered = hits->state == HITS_WHOLE && !hits->is_inverted;
    return is_prefiltered ? hits->far.count : search->query.count - search->at;
}

// Do snapshots have most of what the column misses?
static bool
has_snapshots(const struct search *search, struct store *store, enum event_text text)
{
    struct text_cache *cache = search->query.cache;
    size_t missing = missing_in(search, text_cache_column(cache, text));
    return text_cache_in_snapshots(cache, store, text) * 2 > missing;
}

static bool
is_worth_all(const struct search *search, struct store *store, enum event_text text, size_t candidates)
{
    size_t dense = has_snapshots(search, store, text) ? DENSE_SNAPSHOTS : DENSE;
    return candidates * dense >= missing_in(search, text_cache_column(search->query.cache, text));
}

// Reads a page of a column that the next candidate needs and that does not reach it yet, where that is worth
// it; *did: it was.
static bool
fill_for(struct search *search, struct store *store, int64_t id, bool *did, struct err *err)
{
    *did = false;
    struct text_cache *cache = search->query.cache;
    for (size_t i = 0; cache && !search->reads_rows && i < search->term_count; i++) {
        const struct search_term *term = &search->terms[i];
        if (!is_about_text(term) || is_hit_known(search, i, id))
            continue;
        const struct column *column = text_cache_column(cache, term->text);
        if (column_covers(column, id))
            continue;
        bool is_first = search->at < ASK_FIRST && search->query.count > ASK_FIRST;
        bool is_over = false;
        if (is_first || !is_worth_all(search, store, term->text, left_to_decide(search)))
            continue;
        if (!text_cache_fill(cache, store, term->text, id, &is_over, err))
            return false;
        // Where the column cannot grow further, the row is read instead.
        *did = !is_over;
        if (*did)
            return true;
    }
    return true;
}

// Is the text that the server is asked about in memory?
static bool
is_sought_covered(const struct search *search, int64_t id)
{
    return column_covers(text_cache_column(search->query.cache, search->hits.scan.text), id);
}

// Does one step towards the server's answer, or the column, that the next candidate needs; *did: it did.
static bool
prepare(struct search *search, struct store *store, int64_t id, int64_t until, bool *did, struct err *err)
{
    struct search_hits *hits = &search->hits;
    *did = false;
    if (search_hits_are_open(hits) && !search_hits_know(hits, id) && !is_sought_covered(search, id) &&
        !search_hits_look(hits, store, search->query.ids + search->at, search->query.count - search->at,
                          until, did, err))
        return false;
    bool is_no = search_hits_know(hits, id) && search_hits_verdict(hits, id, &search->hits_hint) == FILTER_NO;
    return *did || is_no || fill_for(search, store, id, did, err);
}

// --- the server's pass ---

// The part to ask the server about: it rules out much and its text is short. TERMS: none.
static size_t
part_to_seek(struct search *search)
{
    const struct filter *filter = search->query.filter;
    size_t best = TERMS, texts = 0, inverted = TERMS, term;
    for (size_t i = 0; i < filter_parts(filter); i++) {
        if (part_text(filter, i) == EVENT_TEXT_COUNT)
            continue;
        texts++;
        struct event_scan scan = {0};
        prefilter_ask(filter, i, &search->hits_required, &scan);
        if (scan.required.len == 0)
            continue;
        if (filter_part_term(filter, i, &term) && filter_term_is_inverted(filter, term))
            inverted = i;
        else if (best == TERMS || part_text(filter, i) < part_text(filter, best))
            best = i;
    }
    // An inverted term rules out little: alone it is worth a pass, beside others it is not.
    return best < TERMS || texts > 1 ? best : inverted;
}

// Asks the server which events hold the literals of a part, where the column is mostly missing.
static void
begin_hits(struct search *search, struct store *store)
{
    search->is_begun = true;
    search->began = search->began ? search->began : clock_mono();
    const struct filter *filter = search->query.filter;
    struct text_cache *cache = search->query.cache;
    size_t n = cache && !search->reads_rows ? part_to_seek(search) : TERMS;
    if (n == TERMS)
        return;
    enum event_text text = part_text(filter, n);
    const struct column *column = text_cache_column(cache, text);
    size_t missing = missing_in(search, column);
    bool is_nearly_filled = missing < (column_count(column) + missing) / SEEK_SHARE;
    if (column->is_bottom || missing < (search->query.seek ? 1 : SEEK_LEAST) ||
        (is_nearly_filled && !search->query.seek && !text_cache_is_full(cache)) ||
        has_snapshots(search, store, text) || !is_worth_all(search, store, text, search->query.count))
        return;
    struct text_seek *seek = text_cache_seek(cache, text, search->began);
    search->is_begun = seek != NULL;
    if (!seek)
        return;
    struct event_scan scan = {.text = text,
                              .statuses = 1u << EVENT_PENDING,
                              .has_before = column->high != 0,
                              .before_id = column->low};
    prefilter_ask(filter, n, &search->hits_required, &scan);
    search_hits_begin(&search->hits, search->query.filter, n, seek, &scan, search->query.ids,
                      search->query.count);
    size_t term;
    for (size_t i = 0; filter_part_terms(filter, n, i, &term); i++)
        search->hits_terms |= 1ull << term;
}

// Takes the hits that came. True: wait for the pass, do nothing else now.
static bool
await_hits(struct search *search, int64_t until)
{
    struct search_hits *hits = &search->hits;
    int64_t waited = clock_mono() - hits->began;
    if (search->query.seek == SEEK_RANGES)
        return false;
    bool has_first = search->matched >= SCREENFUL || search->at >= SEEK_FIRST || waited > SEEK_FIRST_US ||
                     search->query.seek == SEEK_ALL_FIRST;
    if (hits->state == HITS_NEAR && (has_first || waited > SEEK_AFTER_US[hits->scan.text]))
        search_hits_seek(hits);
    bool is_alone = has_first && waited < SEEK_ALONE_US;
    search_hits_take(hits, until, is_alone);
    return is_alone && search_hits_are_open(hits);
}

// Skips candidates that a known verdict on their text rules out, at most LOOK_EVERY.
static size_t
rule_out(struct search *search)
{
    struct window *window = &search->window;
    if (window->term == TERMS)
        return 0;
    if (search->at < window->from || search->at >= window->from + window->count) {
        enum event_text text = search->terms[window->term].text;
        size_t left = search->query.count - search->at;
        window->from = search->at;
        window->count =
            column_numbers(text_cache_column(search->query.cache, text), search->query.ids + search->at,
                           left < LOOK_EVERY ? left : LOOK_EVERY, &window->hint, window->numbers);
    }
    size_t at = search->at - window->from;
    size_t ruled_out =
        text_verdicts_ruled_out(search->verdicts, window->term, window->numbers + at, window->count - at);
    search->at += ruled_out;
    return ruled_out;
}

// Looks at one candidate, or does one step towards what it needs; *was_long: look at the clock afterwards.
static bool
look_at_next(struct search *search, struct store *store, int64_t until, struct search_found *found,
             bool *was_long, struct err *err)
{
    int64_t id = search->query.ids[search->at];
    size_t blocks = text_verdicts_blocks(search->verdicts);
    if (!prepare(search, store, id, until, was_long, err))
        return false;
    if (*was_long)
        return true;
    search->at++;
    look_at(search, id, found);
    *was_long = text_verdicts_blocks(search->verdicts) != blocks;
    return true;
}

static bool
is_due(const struct search *search, int64_t until)
{
    return clock_mono() >= until ||
           (search->query.is_wanted_elsewhere && search->query.is_wanted_elsewhere(search->query.context));
}

// Texts that the cache has forgotten take their verdicts with them: their numbers will be used again.
static void
follow_cache(struct search *search)
{
    if (!search->query.cache || text_cache_generation(search->query.cache) == search->generation)
        return;
    search->generation = text_cache_generation(search->query.cache);
    text_verdicts_forget(search->verdicts);
}

bool
search_step(struct search *search, struct store *store, int64_t until, struct search_found *found,
            struct err *err)
{
    follow_cache(search);
    search->window.count = 0;
    if (!search->is_begun)
        begin_hits(search, store);
    if (search_hits_are_open(&search->hits) && await_hits(search, until) &&
        !(search->at < search->query.count && is_sought_covered(search, search->query.ids[search->at])))
        return search->asked_count == 0 || read_asked(search, store, found, err);
    size_t looked = 0;
    while (search->at < search->query.count && search->asked_rows < search->ask_limit) {
        bool was_long = false;
        size_t ruled_out = rule_out(search);
        if (!ruled_out && !look_at_next(search, store, until, found, &was_long, err))
            return false;
        looked += ruled_out ? ruled_out : 1;
        if (!was_long && looked < LOOK_EVERY)
            continue;
        looked = 0;
        if (is_due(search, until))
            break;
    }
    bool is_end = search->at == search->query.count || search->asked_rows >= search->ask_limit;
    if (search->asked_count == 0 || (!is_end && search->asked_rows > 0 && clock_mono() < until))
        return true;
    return read_asked(search, store, found, err);
}

void
search_explain(const struct search *search, struct strbuf *out)
{
    strbuf_printf(out,
                  "looked at %zu of %zu events; %" PRId64
                  " rows read, %zu different texts matched in %zu blocks\n",
                  search->at, search->query.count, search->rows_read, text_verdicts_matched(search->verdicts),
                  text_verdicts_blocks(search->verdicts));
    if (search->hits.state == HITS_WHOLE)
        strbuf_printf(out,
                      "the server looked for what every match holds: %zu events hold it, %zu of them match\n",
                      search->hits.rows, search->hits.far.count);
}
