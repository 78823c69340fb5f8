#include "search/prefilter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/event.h"
#include "core/filter/required_literals.h"
#include "core/filter/pattern.h"

enum { SAMPLE = 2000, SAMPLE_BYTES = 16 << 20, LEAST_BYTES = 3, TICK_ROWS = 1000 };

// --- the choice ---

static bool
has_letter(struct bytes outline)
{
    for (size_t i = 0; i < outline.len; i++)
        if ((outline.data[i] >= 'a' && outline.data[i] <= 'z') ||
            (outline.data[i] >= 'A' && outline.data[i] <= 'Z'))
            return true;
    return false;
}

void
sieve_ask(const struct pattern *pattern, struct event_scan *scan)
{
    struct bytes outline = pattern_outline(pattern);
    bool is_worth_it = outline_weight(outline) >= LEAST_BYTES;
    scan->outline = is_worth_it ? outline : BYTES_ABSENT;
    scan->is_caseless = pattern_is_caseless(pattern) && has_letter(outline);
    scan->is_enough = is_worth_it && pattern_is_outline(pattern);
}

static int
worth(const struct filter *filter, size_t i)
{
    enum filter_from from = filter_term_from(filter, i);
    const struct pattern *pattern = filter_term_pattern(filter, i);
    if (from != FILTER_FROM_ERROR && from != FILTER_FROM_STACK && from != FILTER_FROM_PAYLOAD)
        return 0;
    int cheap = from == FILTER_FROM_ERROR ? 3 : from == FILTER_FROM_STACK ? 2 : 1;
    bool has_outline = pattern && !filter_term_is_inverted(filter, i) && pattern_outline(pattern).len > 0;
    return cheap + (has_outline ? 10 : 0) + (filter_term_is_inverted(filter, i) ? 0 : 4);
}

static void
choose_term(struct sieve *sieve, struct filter *filter)
{
    int best = 0;
    for (size_t i = 0; i < filter_terms(filter); i++) {
        if (worth(filter, i) <= best)
            continue;
        best = worth(filter, i);
        sieve->term = i;
    }
    sieve->is_usable = best > 0;
    if (!sieve->is_usable)
        return;
    enum filter_from from = filter_term_from(filter, sieve->term);
    sieve->text = from == FILTER_FROM_STACK     ? EVENT_TEXT_STACK
                  : from == FILTER_FROM_PAYLOAD ? EVENT_TEXT_PAYLOAD
                                                : EVENT_TEXT_ERROR;
    struct pattern *pattern = filter_term_pattern(filter, sieve->term);
    if (!pattern || filter_term_is_inverted(filter, sieve->term))
        return;
    struct event_scan scan = {0};
    sieve_ask(pattern, &scan);
    sieve->is_caseless = scan.is_caseless;
    sieve->is_enough = scan.is_enough;
    strbuf_add(&sieve->outline, scan.outline);
}

// --- one pass ---

struct sifting {
    struct filter *filter;
    const struct sieve *sieve;
    sieve_tick_fn *tick;
    void *context;
    int64_t rows;
    struct sieved *sieved;
    size_t count, capacity;
};

static struct event_scan
scan_of(const struct sieve *sieve)
{
    return (struct event_scan){.text = sieve->text,
                               .outline = strbuf_bytes(&sieve->outline),
                               .is_caseless = sieve->is_caseless,
                               .is_enough = sieve->is_enough,
                               .is_indexed = sieve->index[0] != '\0'};
}

static enum filter_verdict
match_row(const struct sifting *sifting, const struct scanned_row *row)
{
    if (row->fits)
        return FILTER_YES;
    struct event event = {.id = row->id, .created_at = TIME_ABSENT};
    *(sifting->sieve->text == EVENT_TEXT_ERROR   ? &event.error_message
      : sifting->sieve->text == EVENT_TEXT_STACK ? &event.stack_trace
                                                 : &event.payload) = row->text;
    return filter_match_term(sifting->filter, sifting->sieve->term, &event);
}

static bool
sift(void *context, const struct scanned_row *row)
{
    struct sifting *sifting = context;
    enum filter_verdict verdict = match_row(sifting, row);
    if (verdict != FILTER_NO) {
        sifting->sieved =
            alloc_grow(sifting->sieved, sifting->count, &sifting->capacity, sizeof *sifting->sieved);
        sifting->sieved[sifting->count++] = (struct sieved){
            .id = row->id, .created_wall = row->created_wall, .is_undecided = verdict == FILTER_UNDECIDED};
    }
    return ++sifting->rows % TICK_ROWS != 0 || !sifting->tick ||
           sifting->tick(sifting->context, sifting->rows);
}

static int
highest_first(const void *left, const void *right)
{
    int64_t a = ((const struct sieved *)left)->id;
    int64_t b = ((const struct sieved *)right)->id;
    return (a < b) - (a > b);
}

bool
sieve_run(const struct sieve *sieve, struct store *store, struct filter *filter, unsigned statuses,
          sieve_tick_fn *tick, void *context, struct sieved **sieved, size_t *count, struct err *err)
{
    struct sifting sifting = {.filter = filter, .sieve = sieve, .tick = tick, .context = context};
    struct event_scan scan = scan_of(sieve);
    scan.statuses = statuses;
    if (!sieve->asks_server) {
        scan.outline = BYTES_ABSENT;
        scan.is_enough = false;
    }
    *sieved = NULL;
    *count = 0;
    if (!store_scan_texts(store, &scan, sift, &sifting, err)) {
        free(sifting.sieved);
        return false;
    }
    if (sifting.count)
        qsort(sifting.sieved, sifting.count, sizeof *sifting.sieved, highest_first);
    *sieved = sifting.sieved;
    *count = sifting.count;
    return true;
}

// --- measuring ---

struct sample {
    struct sifting sifting;
    int64_t lowest; // id
    size_t bytes;
};

static bool
sift_sample(void *context, int64_t id, struct bytes text)
{
    struct sample *sample = context;
    sample->lowest = sample->lowest == 0 || id < sample->lowest ? id : sample->lowest;
    const struct scanned_row row = {.id = id, .created_wall = TIME_ABSENT, .text = text};
    (void)sift(&sample->sifting, &row);
    sample->bytes += text.len;
    return sample->bytes < SAMPLE_BYTES;
}

static double
per_row(int64_t began, int64_t rows)
{
    return rows ? (double)(clock_mono() - began) / (double)rows : 0;
}

// *rows: how many of the newest fit the outline.
static bool
measure(struct sieve *sieve, struct store *store, struct filter *filter, int64_t *rows, struct err *err)
{
    struct sample sample = {.sifting = {.filter = filter, .sieve = sieve}};
    const struct event_texts_query newest = {
        .text = sieve->text, .after_id = INT64_MIN, .before_id = INT64_MAX, .limit = SAMPLE};
    int64_t began = clock_mono();
    bool ok = store_event_texts(store, &newest, sift_sample, &sample, err);
    sieve->sample = sample.sifting.rows;
    sieve->read_us = per_row(began, sieve->sample);
    free(sample.sifting.sieved);

    const struct event_scan scan = scan_of(sieve);
    began = clock_mono();
    if (!ok || !store_count_fitting(store, &scan, sample.lowest, rows, err))
        return false;
    sieve->asked_us = per_row(began, sieve->sample);
    return true;
}

// The server's case is that of its locale then, where i is not always I.
static void
go_by_index(struct sieve *sieve)
{
    size_t before = sieve->outline.len;
    struct strbuf reduced = {0};
    strbuf_add(&reduced, strbuf_bytes(&sieve->outline));
    outline_ignore_case(&reduced, "i");
    if (outline_weight(strbuf_bytes(&reduced)) < LEAST_BYTES) {
        sieve->index[0] = '\0';
        strbuf_release(&reduced);
        return;
    }
    strbuf_release(&sieve->outline);
    sieve->outline = reduced;
    sieve->is_enough = sieve->is_enough && reduced.len == before;
}

bool
sieve_init(struct sieve *sieve, struct store *store, struct filter *filter, struct err *err)
{
    *sieve = (struct sieve){0};
    choose_term(sieve, filter);
    if (!sieve->is_usable || sieve->outline.len == 0)
        return true;
    if (!store_trigram_index(store, sieve->text, sieve->index, err))
        return false;
    if (sieve->index[0] && sieve->is_caseless)
        go_by_index(sieve);

    // Twice: the first time pays for looking into the catalog.
    int64_t rows = 0;
    for (int i = 0; i < 2; i++)
        if (!measure(sieve, store, filter, &rows, err))
            return false;
    // An index is not used for so few rows: what it saves shows over all of them.
    sieve->asks_server = sieve->asked_us < sieve->read_us || (sieve->index[0] && rows * 10 < sieve->sample);
    return true;
}

void
sieve_release(struct sieve *sieve)
{
    strbuf_release(&sieve->outline);
    *sieve = (struct sieve){0};
}

void
sieve_explain(const struct sieve *sieve, const struct filter *filter, struct strbuf *out)
{
    if (!sieve->is_usable) {
        strbuf_add_text(out, "rows are read by their short columns: no term looks into a long one\n");
        return;
    }
    strbuf_printf(out, "one pass over the column of %s, then whole rows of what it lets through\n",
                  filter_term_name(filter, sieve->term));
    struct strbuf outline = {0};
    outline_print(strbuf_bytes(&sieve->outline), &outline);
    if (outline.len == 0)
        strbuf_add_text(out, "the server is asked for every row: there is no literal it could look for\n");
    else if (sieve->asks_server)
        strbuf_printf(out, "the server is asked for rows with \"%s\"%s%s%s\n", strbuf_text(&outline),
                      sieve->is_caseless ? " in any case" : "", sieve->index[0] ? ", by index " : "",
                      sieve->index);
    else
        strbuf_printf(out, "the server is asked for every row: looking for \"%s\" would take it longer\n",
                      strbuf_text(&outline));
    strbuf_release(&outline);
    if (sieve->sample)
        strbuf_printf(out,
                      "measured on the newest %" PRId64
                      " rows: %.2f us a row read and matched here, %.2f us a "
                      "row where the server looks for the literal\n",
                      sieve->sample, sieve->read_us, sieve->asked_us);
}
