// What reads and writes: the dry run over a selection, and the step of an operation.
#include "correct/private.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/events/events.h"
#include "store/operations/corrections.h"

enum { PAGE = 1000, FIELDS = EVENT_NARROW | EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW };
#define PAGE_BYTES ((uint64_t)32 << 20)

static void
count_results(const struct correct_result *results, size_t count, struct correct_tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        tally->counts[results[i].outcome]++;
        tally->inexact += results[i].outcome == CORRECT_CHANGED && !results[i].is_exact;
    }
}

// The results of a page that was read.
static bool
correct_page(struct corrector *corrector, struct store *store, struct event_page *page, bool is_kept_for_good,
             struct correct_result **results, struct err *err)
{
    const char **troubles;
    *results = arena_array(&page->arena, page->count, sizeof **results);
    if (!corrector_find_originals(corrector, store, page->events, page->count, is_kept_for_good, &page->arena,
                                  &troubles, err))
        return false;
    correct_events(corrector, page->events, troubles, page->count, &page->arena, *results);
    return true;
}

bool
correct_dry_run(struct corrector *corrector, struct store *store, const int64_t *ids, size_t count,
                correct_each_fn *each, void *context, struct correct_tally *tally, struct err *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < count;) {
        size_t wanted = count - at < PAGE ? count - at : PAGE;
        const struct event_query query = {
            .fields = FIELDS, .ids = ids + at, .id_count = wanted, .limit = wanted, .most_bytes = PAGE_BYTES};
        struct event_page page = {0};
        struct correct_result *results = NULL;
        if (!store_events(store, &query, &page, err))
            return false;
        size_t answered = event_page_answers(&page, &query);
        tally->gone += (int64_t)(answered - page.count);
        at += answered;
        ok = correct_page(corrector, store, &page, false, &results, err);
        if (ok)
            count_results(results, page.count, tally);
        if (ok && each && !each(context, results, page.count, at))
            ok = err_set(err, ERR_CANCELLED, "stopped as asked; nothing was written");
        event_page_release(&page);
    }
    return ok;
}

// "line 3: $.amount does not exist"
static const char *
detail_of(const struct correct_result *result, struct arena *arena)
{
    if (result->outcome == CORRECT_CHANGED)
        return NULL;
    const char *words = result->reason ? result->reason : correct_outcome_name(result->outcome);
    return result->line ? arena_printf(arena, "line %d: %s", result->line, words) : words;
}

static bool
keep_results(struct store *store, int64_t operation, int64_t most, const struct correct_result *results,
             size_t count, struct arena *arena, int64_t *applied, int64_t *left, struct err *err)
{
    struct corrected *events = arena_array(arena, count, sizeof *events);
    for (size_t i = 0; i < count; i++)
        events[i] = (struct corrected){
            .id = results[i].id,
            .parent = results[i].parent,
            .outcome = correct_outcome_name(results[i].outcome),
            .detail = detail_of(&results[i], arena),
            .correction = results[i].correction,
        };
    return work_correct(store, operation, most, events, count, applied, left, err);
}

// Events that are not in the table any more have an outcome too: they are skipped when it is kept.
static size_t
add_missing(const int64_t *ids, size_t count, struct event_page *page, struct correct_result *results,
            struct correct_result *all)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_there = found < page->count && page->events[found].id == ids[i];
        all[i] = is_there ? results[found++]
                          : (struct correct_result){.id = ids[i], .outcome = CORRECT_NOT_APPLICABLE};
    }
    return count;
}

bool
correct_step(struct corrector *corrector, struct store *store, int64_t operation, int64_t *applied,
             int64_t *left, struct err *err)
{
    int64_t *ids = NULL;
    int64_t most;
    size_t count;
    struct event_page page = {0};
    *applied = *left = 0;
    bool ok = work_correct_next(store, operation, PAGE, PAGE_BYTES, &ids, &count, &most, err);
    if (ok && count > 0) {
        const struct event_query query = {.fields = FIELDS, .ids = ids, .id_count = count, .limit = count};
        ok = store_events(store, &query, &page, err);
    }
    struct correct_result *results = NULL;
    if (ok && count > 0)
        ok = correct_page(corrector, store, &page, true, &results, err);
    if (ok && count > 0) {
        struct correct_result *all = arena_array(&page.arena, count, sizeof *all);
        count = add_missing(ids, count, &page, results, all);
        ok = keep_results(store, operation, most, all, count, &page.arena, applied, left, err);
    }
    event_page_release(&page);
    free(ids);
    return ok;
}
