#include "engine/sieve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/event.h"
#include "core/pattern.h"

enum { SAMPLE = 8000, LEAST_LITERAL = 3, TICK_ROWS = 1000 };

// --- the choice ---

// All of it where case counts, else the longest part in ASCII without k, s and i, which have kin elsewhere
// (KELVIN SIGN, LONG S, the dotless ı).
static struct bytes
safe_part(struct bytes holds)
{
    struct bytes longest = {"", 0};
    for (size_t from = 0, at = 0; at <= holds.len; at++) {
        bool is_end =
            at == holds.len || (unsigned char)holds.data[at] >= 0x80 || strchr("kKsSiI", holds.data[at]);
        if (!is_end)
            continue;
        if (at - from > longest.len)
            longest = bytes_slice(holds, from, at - from);
        from = at + 1;
    }
    return longest;
}

void
sieve_literal(const struct pattern *pattern, struct strbuf *literal)
{
    struct bytes holds = pattern_holds(pattern);
    struct bytes part = pattern_is_caseless(pattern) ? safe_part(holds) : holds;
    if (part.len >= LEAST_LITERAL)
        strbuf_add(literal, part);
}

static int
worth(const struct filter *filter, size_t i)
{
    enum filter_from from = filter_term_from(filter, i);
    const struct pattern *pattern = filter_term_pattern(filter, i);
    if (from != FILTER_FROM_ERROR && from != FILTER_FROM_STACK && from != FILTER_FROM_PAYLOAD)
        return 0;
    int cheap = from == FILTER_FROM_ERROR ? 3 : from == FILTER_FROM_STACK ? 2 : 1;
    bool has_literal = pattern && !filter_term_is_inverted(filter, i) && pattern_holds(pattern).len > 0;
    return cheap + (has_literal ? 10 : 0) + (filter_term_is_inverted(filter, i) ? 0 : 4);
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
    sieve->is_caseless = pattern_is_caseless(pattern);
    sieve_literal(pattern, &sieve->literal);
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
                               .literal = strbuf_bytes(&sieve->literal),
                               .is_caseless = sieve->is_caseless,
                               .is_indexed = sieve->index[0] != '\0'};
}

static bool
sift(void *context, int64_t id, int64_t created_wall, struct bytes text)
{
    struct sifting *sifting = context;
    struct event event = {.id = id, .created_at = TIME_ABSENT};
    *(sifting->sieve->text == EVENT_TEXT_ERROR   ? &event.error_message
      : sifting->sieve->text == EVENT_TEXT_STACK ? &event.stack_trace
                                                 : &event.payload) = text;
    enum filter_verdict verdict = filter_match_term(sifting->filter, sifting->sieve->term, &event);
    if (verdict != FILTER_NO) {
        sifting->sieved =
            alloc_grow(sifting->sieved, sifting->count, &sifting->capacity, sizeof *sifting->sieved);
        sifting->sieved[sifting->count++] = (struct sieved){
            .id = id, .created_wall = created_wall, .is_undecided = verdict == FILTER_UNDECIDED};
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
    if (!sieve->asks_server)
        scan.literal = BYTES_ABSENT;
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
};

static void
sift_sample(void *context, int64_t id, struct bytes text)
{
    struct sample *sample = context;
    sample->lowest = sample->lowest == 0 || id < sample->lowest ? id : sample->lowest;
    (void)sift(&sample->sifting, id, TIME_ABSENT, text);
}

static double
per_row(int64_t began, int64_t rows)
{
    return rows ? (double)(clock_mono() - began) / (double)rows : 0;
}

// *rows: how many of the newest hold the literal.
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
    if (!ok || !store_count_literal(store, &scan, sample.lowest, rows, err))
        return false;
    sieve->asked_us = per_row(began, sieve->sample);
    return true;
}

bool
sieve_init(struct sieve *sieve, struct store *store, struct filter *filter, struct err *err)
{
    *sieve = (struct sieve){0};
    choose_term(sieve, filter);
    if (!sieve->is_usable || sieve->literal.len == 0)
        return true;
    if (!store_trigram_index(store, sieve->text, sieve->index, err))
        return false;

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
    strbuf_release(&sieve->literal);
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
    if (sieve->literal.len == 0)
        strbuf_add_text(out, "the server is asked for every row: there is no literal it could look for\n");
    else if (sieve->asks_server)
        strbuf_printf(out, "the server is asked for rows with \"%s\"%s%s%s\n", strbuf_text(&sieve->literal),
                      sieve->is_caseless ? " in any case" : "", sieve->index[0] ? ", by index " : "",
                      sieve->index);
    else
        strbuf_printf(out, "the server is asked for every row: looking for \"%s\" would take it longer\n",
                      strbuf_text(&sieve->literal));
    if (sieve->sample)
        strbuf_printf(out,
                      "measured on the newest %" PRId64
                      " rows: %.2f us a row read and matched here, %.2f us a "
                      "row where the server looks for the literal\n",
                      sieve->sample, sieve->read_us, sieve->asked_us);
}
