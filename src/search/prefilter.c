#include "search/prefilter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/filter/required_literals.h"
#include "core/filter/pattern.h"
#include "search/highest_first.h"
#include "search/term_text.h"

enum { SAMPLE = 2000, SAMPLE_BYTES = 16 << 20, LEAST_BYTES = 3, TICK_ROWS = 1000 };

// --- the choice ---

static bool
has_letter(struct bytes required)
{
    for (size_t i = 0; i < required.len; i++)
        if ((required.data[i] >= 'a' && required.data[i] <= 'z') ||
            (required.data[i] >= 'A' && required.data[i] <= 'Z'))
            return true;
    return false;
}

// What one term requires, behind what is there. False: nothing is known.
static bool
add_required(const struct filter *filter, size_t term, struct strbuf *required, struct event_scan *scan)
{
    const struct pattern *pattern = filter_term_pattern(filter, term);
    struct bytes exact = filter_term_exact(filter, term);
    struct bytes holds = pattern ? pattern_required(pattern) : exact;
    if (!bytes_present(holds) || holds.len == 0)
        return false;
    bool is_caseless = pattern && pattern_is_caseless(pattern) && has_letter(holds);
    struct strbuf own = {0};
    strbuf_add(&own, holds);
    scan->is_enough = scan->is_enough && pattern && pattern_is_required(pattern) &&
                      (required->len == 0 || scan->is_caseless == is_caseless);
    if (scan->is_caseless && !is_caseless)
        required_ignore_case(&own, "");
    if (is_caseless && !scan->is_caseless && required->len)
        required_ignore_case(required, "");
    scan->is_caseless = scan->is_caseless || is_caseless;
    if (required->len)
        required_begin_alternative(required);
    strbuf_add(required, strbuf_bytes(&own));
    strbuf_release(&own);
    return true;
}

void
prefilter_ask(const struct filter *filter, size_t part, struct strbuf *required, struct event_scan *scan)
{
    size_t term;
    bool is_term = filter_part_term(filter, part, &term);
    bool is_known = is_term || filter_part_is_choice(filter, part);
    strbuf_reset(required);
    scan->is_caseless = false;
    scan->is_enough = true;
    for (size_t i = 0; is_known && filter_part_terms(filter, part, i, &term); i++)
        is_known =
            (is_term || !filter_term_is_inverted(filter, term)) && add_required(filter, term, required, scan);
    bool is_worth_it = is_known && required_weight(strbuf_bytes(required)) >= LEAST_BYTES;
    scan->required = is_worth_it ? strbuf_bytes(required) : BYTES_ABSENT;
    scan->is_enough = scan->is_enough && is_worth_it;
}

static bool
is_inverted(const struct filter *filter, size_t part)
{
    size_t term;
    return filter_part_term(filter, part, &term) && filter_term_is_inverted(filter, term);
}

static int
worth(const struct filter *filter, size_t part)
{
    static const int cheap[EVENT_TEXT_COUNT] = {
        [EVENT_TEXT_ERROR] = 3, [EVENT_TEXT_STACK] = 2, [EVENT_TEXT_PAYLOAD] = 1};
    enum event_text text = part_text(filter, part);
    if (text == EVENT_TEXT_COUNT)
        return 0;
    struct strbuf required = {0};
    struct event_scan scan = {0};
    prefilter_ask(filter, part, &required, &scan);
    bool has_required = !is_inverted(filter, part) && required.len > 0;
    strbuf_release(&required);
    return cheap[text] + (has_required ? 10 : 0) + (is_inverted(filter, part) ? 0 : 4);
}

static void
choose_part(struct prefilter *prefilter, struct filter *filter)
{
    int best = 0;
    for (size_t i = 0; i < filter_parts(filter); i++) {
        if (worth(filter, i) <= best)
            continue;
        best = worth(filter, i);
        prefilter->part = i;
    }
    prefilter->is_usable = best > 0;
    if (!prefilter->is_usable)
        return;
    prefilter->text = part_text(filter, prefilter->part);
    if (is_inverted(filter, prefilter->part))
        return;
    struct event_scan scan = {0};
    prefilter_ask(filter, prefilter->part, &prefilter->required, &scan);
    prefilter->is_caseless = scan.is_caseless;
    prefilter->is_enough = scan.is_enough;
    if (!scan.required.len)
        strbuf_reset(&prefilter->required);
}

// --- one pass ---

struct prefiltering {
    struct filter *filter;
    const struct prefilter *prefilter;
    prefilter_tick_fn *tick;
    void *context;
    int64_t rows;
    struct prefiltered *prefiltered;
    size_t count, capacity;
};

static struct event_scan
scan_of(const struct prefilter *prefilter)
{
    return (struct event_scan){.text = prefilter->text,
                               .required = strbuf_bytes(&prefilter->required),
                               .is_caseless = prefilter->is_caseless,
                               .is_enough = prefilter->is_enough,
                               .is_indexed = prefilter->index[0] != '\0'};
}

static enum filter_verdict
match_row(const struct prefiltering *prefiltering, const struct scanned_row *row)
{
    if (row->fits)
        return FILTER_YES;
    return part_text_match(prefiltering->filter, prefiltering->prefilter->part, row->text);
}

static bool
prefilter_rows(void *context, const struct scanned_row *row)
{
    struct prefiltering *prefiltering = context;
    enum filter_verdict verdict = match_row(prefiltering, row);
    if (verdict != FILTER_NO) {
        prefiltering->prefiltered = alloc_grow(prefiltering->prefiltered, prefiltering->count,
                                               &prefiltering->capacity, sizeof *prefiltering->prefiltered);
        prefiltering->prefiltered[prefiltering->count++] = (struct prefiltered){
            .id = row->id, .created_wall = row->created_wall, .is_undecided = verdict == FILTER_UNDECIDED};
    }
    return ++prefiltering->rows % TICK_ROWS != 0 || !prefiltering->tick ||
           prefiltering->tick(prefiltering->context, prefiltering->rows);
}

bool
prefilter_run(const struct prefilter *prefilter, struct store *store, struct filter *filter,
              unsigned statuses, prefilter_tick_fn *tick, void *context, struct prefiltered **prefiltered,
              size_t *count, struct err *err)
{
    struct prefiltering prefiltering = {
        .filter = filter, .prefilter = prefilter, .tick = tick, .context = context};
    struct event_scan scan = scan_of(prefilter);
    scan.statuses = statuses;
    if (!prefilter->asks_server) {
        scan.required = BYTES_ABSENT;
        scan.is_enough = false;
    }
    *prefiltered = NULL;
    *count = 0;
    if (!store_scan_texts(store, &scan, prefilter_rows, &prefiltering, err)) {
        free(prefiltering.prefiltered);
        return false;
    }
    sort_highest_first(prefiltering.prefiltered, prefiltering.count, sizeof *prefiltering.prefiltered);
    *prefiltered = prefiltering.prefiltered;
    *count = prefiltering.count;
    return true;
}

// --- measuring ---

struct newest_rows {
    struct prefiltering prefiltering;
    int64_t lowest; // id
    size_t bytes;
};

static bool
prefilter_sample(void *context, int64_t id, struct bytes text)
{
    struct newest_rows *sample = context;
    sample->lowest = sample->lowest == 0 || id < sample->lowest ? id : sample->lowest;
    const struct scanned_row row = {.id = id, .created_wall = TIME_ABSENT, .text = text};
    (void)prefilter_rows(&sample->prefiltering, &row);
    sample->bytes += text.len;
    return sample->bytes < SAMPLE_BYTES;
}

static double
per_row(int64_t began, int64_t rows)
{
    return rows ? (double)(clock_mono() - began) / (double)rows : 0;
}

// *rows: how many of the newest rows hold the required literals.
static bool
measure(struct prefilter *prefilter, struct store *store, struct filter *filter, int64_t *rows,
        struct err *err)
{
    struct newest_rows sample = {.prefiltering = {.filter = filter, .prefilter = prefilter}};
    const struct event_texts_query newest = {
        .text = prefilter->text, .after_id = INT64_MIN, .before_id = INT64_MAX, .limit = SAMPLE};
    int64_t began = clock_mono();
    bool ok = store_event_texts(store, &newest, prefilter_sample, &sample, err);
    prefilter->sample = sample.prefiltering.rows;
    prefilter->read_us = per_row(began, prefilter->sample);
    free(sample.prefiltering.prefiltered);

    const struct event_scan scan = scan_of(prefilter);
    began = clock_mono();
    struct err failure = {0};
    if (ok && !store_count_fitting(store, &scan, sample.lowest, rows, &failure)) {
        prefilter->asked_us = prefilter->read_us; // it cannot be asked
        if (store_text_is_unreadable(&failure))
            return true;
        if (err && !err_is_set(err))
            *err = failure;
        return false;
    }
    if (!ok)
        return false;
    prefilter->asked_us = per_row(began, prefilter->sample);
    return true;
}

// An index compares by the case of the server's locale, where i is not always I: literals with an i are left
// out.
static void
go_by_index(struct prefilter *prefilter)
{
    size_t before = prefilter->required.len;
    struct strbuf reduced = {0};
    strbuf_add(&reduced, strbuf_bytes(&prefilter->required));
    required_ignore_case(&reduced, "i");
    if (required_weight(strbuf_bytes(&reduced)) < LEAST_BYTES) {
        prefilter->index[0] = '\0';
        strbuf_release(&reduced);
        return;
    }
    strbuf_release(&prefilter->required);
    prefilter->required = reduced;
    prefilter->is_enough = prefilter->is_enough && reduced.len == before;
}

bool
prefilter_init(struct prefilter *prefilter, struct store *store, struct filter *filter, struct err *err)
{
    *prefilter = (struct prefilter){0};
    choose_part(prefilter, filter);
    if (!prefilter->is_usable || prefilter->required.len == 0)
        return true;
    if (!store_trigram_index(store, prefilter->text, prefilter->index, err))
        return false;
    if (prefilter->index[0] && prefilter->is_caseless)
        go_by_index(prefilter);

    // Twice: the first statement also pays for reading the catalog.
    int64_t rows = 0;
    for (int i = 0; i < 2; i++)
        if (!measure(prefilter, store, filter, &rows, err))
            return false;
    // PostgreSQL uses no index for so few rows; its use shows over the whole table.
    prefilter->asks_server =
        prefilter->asked_us < prefilter->read_us || (prefilter->index[0] && rows * 10 < prefilter->sample);
    return true;
}

void
prefilter_release(struct prefilter *prefilter)
{
    strbuf_release(&prefilter->required);
    *prefilter = (struct prefilter){0};
}

static const char *const text_names[EVENT_TEXT_COUNT] = {
    [EVENT_TEXT_ERROR] = "error", [EVENT_TEXT_STACK] = "stack", [EVENT_TEXT_PAYLOAD] = "payload"};

void
prefilter_explain(const struct prefilter *prefilter, struct strbuf *out)
{
    if (!prefilter->is_usable) {
        strbuf_add_text(
            out,
            "rows are read by their short columns: no part of the filter must match in one long column\n");
        return;
    }
    strbuf_printf(out, "one pass over the column of %s, then whole rows of what it lets through\n",
                  text_names[prefilter->text]);
    struct strbuf required = {0};
    required_print(strbuf_bytes(&prefilter->required), &required);
    if (required.len == 0)
        strbuf_add_text(out, "the server is asked for every row: there is no literal it could look for\n");
    else if (prefilter->asks_server)
        strbuf_printf(out, "the server is asked for rows with \"%s\"%s%s%s\n", strbuf_text(&required),
                      prefilter->is_caseless ? " in any case" : "", prefilter->index[0] ? ", by index " : "",
                      prefilter->index);
    else
        strbuf_printf(out, "the server is asked for every row: looking for \"%s\" would take it longer\n",
                      strbuf_text(&required));
    strbuf_release(&required);
    if (prefilter->sample)
        strbuf_printf(out,
                      "measured on the newest %" PRId64
                      " rows: %.2f us a row read and matched here, %.2f us a "
                      "row where the server looks for the literal\n",
                      prefilter->sample, prefilter->read_us, prefilter->asked_us);
}
