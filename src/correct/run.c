// The dry run over a selection: pages are read while the recipe is applied to those before them.
#include "correct/correct.h"

#include "base/log.h"
#include "correct/pages.h"
#include "correct/private.h"

#define PAGE_BYTES ((size_t)8 << 20)

static void
count_results(const struct correct_result *results, size_t count, struct correct_tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        tally->counts[results[i].outcome]++;
        tally->inexact += correct_outcome_writes(results[i].outcome) && !results[i].is_exact;
        if (correct_outcome_writes(results[i].outcome))
            correct_tally_replaced(tally, results[i].replaced);
        tally->departs += results[i].departs != NULL;
        tally->again += results[i].again > 0;
        tally->again_line = tally->again_line ? tally->again_line : results[i].again;
    }
}

struct dry_run {
    struct corrector *corrector;
    correct_each_fn *each;
    void *context;
    struct correct_tally *tally;
    size_t read;
};

// The most surprising departure of each result that changes, where there is one.
static void
find_departures(const struct shape *const *shape_of, struct correct_result *results, size_t count,
                struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        if (!shape_of[i] || !correct_outcome_writes(results[i].outcome) || !bytes_present(results[i].after))
            continue;
        struct shape_departure *list;
        size_t found;
        shape_departures(shape_of[i], results[i].after, arena, &list, &found);
        if (found > 0)
            results[i].departs = list[0].sentence;
    }
}

static bool
apply_dry(struct dry_run *run, struct page *page, struct err *err)
{
    if (!page->ok) {
        if (err)
            *err = page->err;
        return false;
    }
    struct event_page *events = &page->events;
    struct correct_result *results = arena_array(&events->arena, events->count, sizeof *results);
    if (!correct_events(run->corrector, events->events, page->troubles, events->count, &events->arena,
                        results, err))
        return false;
    find_departures(page->shape_of, results, events->count, &events->arena);
    count_results(results, events->count, run->tally);
    run->tally->gone += (int64_t)(page->count - events->count);
    run->read += page->count;
    if (run->each && !run->each(run->context, results, events->count, run->read))
        return err_set(err, ERR_CANCELLED, "stopped as asked; nothing was written");
    return true;
}

static bool
is_worth_a_second(const struct correct_reading *reading, size_t page)
{
    enum { FEW_PAGES = 3 };
    struct err failure = {0};
    if (!reading->beside || reading->count / FEW_PAGES < page)
        return false;
    if (store_connect(reading->beside, &failure))
        return true;
    log_line(LOG_WARN, "events are read by one connection", LOG_TEXT("why", failure.text));
    return false;
}

bool
correct_dry_run(struct corrector *corrector, const struct correct_reading *reading, correct_each_fn *each,
                void *context, struct correct_tally *tally, struct err *err)
{
    struct pages_settings settings = {.corrector = corrector,
                                      .ids = reading->ids,
                                      .count = reading->count,
                                      .size = corrector_page_size(corrector, SIZE_MAX),
                                      .most_bytes = PAGE_BYTES};
    settings.sources[settings.source_count++].store = reading->store;
    if (is_worth_a_second(reading, settings.size))
        settings.sources[settings.source_count++].store = reading->beside;
    for (size_t i = 0; i < settings.source_count; i++)
        settings.sources[i].shapes = shapes_create(reading->ids, reading->count);
    struct dry_run run = {.corrector = corrector, .each = each, .context = context, .tally = tally};
    struct pages *pages = pages_start(&settings);
    struct page *page;
    bool ok = true;
    while (ok && (page = pages_next(pages))) {
        ok = apply_dry(&run, page, err);
        page_destroy(page);
    }
    pages_stop(pages);
    for (size_t i = 0; i < settings.source_count; i++)
        shapes_destroy(settings.sources[i].shapes);
    return ok;
}
