// What reads and writes: the dry run over a selection, and the step of an operation.
#include "correct/private.h"

#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "correct/shapes.h"
#include "store/events/events.h"
#include "store/operations/corrections.h"

enum { PAGE = 1000, FIELDS = EVENT_NARROW | EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW };
#define PAGE_BYTES ((uint64_t)32 << 20)

static void
count_results(const struct correct_result *results, size_t count, struct correct_tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        tally->counts[results[i].outcome]++;
        tally->inexact += correct_outcome_writes(results[i].outcome) && !results[i].is_exact;
        tally->departs += results[i].departs != NULL;
        tally->again += results[i].again > 0;
        tally->again_line = tally->again_line ? tally->again_line : results[i].again;
    }
}

// A page of a dry run. It is read by a thread of its own while the recipe is applied to the page before it.
struct reading {
    struct corrector *corrector;
    struct store *store;
    const int64_t *ids; // those that are left
    size_t count;
    struct event_page page;
    const char **troubles;
    struct shapes *shapes;
    const struct shape **shape_of; // one an event
    size_t answered;               // of ids
    bool ok;
    struct err err;
};

static void
read_page(void *context)
{
    struct reading *reading = context;
    size_t wanted = reading->count < PAGE ? reading->count : PAGE;
    const struct event_query query = {
        .fields = FIELDS, .ids = reading->ids, .id_count = wanted, .limit = wanted, .most_bytes = PAGE_BYTES};
    reading->ok = store_events(reading->store, &query, &reading->page, &reading->err);
    if (!reading->ok)
        return;
    reading->answered = event_page_answers(&reading->page, &query);
    reading->ok = corrector_find_originals(reading->corrector, reading->store, reading->page.events,
                                           reading->page.count, false, &reading->page.arena,
                                           &reading->troubles, &reading->err);
    reading->shape_of = arena_array(&reading->page.arena, reading->page.count, sizeof(const struct shape *));
    reading->ok = reading->ok && shapes_find(reading->shapes, reading->store, reading->page.events,
                                             reading->page.count, reading->shape_of, &reading->err);
}

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
apply_dry(struct reading *reading, correct_each_fn *each, void *context, size_t read,
          struct correct_tally *tally, struct err *err)
{
    struct event_page *page = &reading->page;
    struct correct_result *results = arena_array(&page->arena, page->count, sizeof *results);
    if (!correct_events(reading->corrector, page->events, reading->troubles, page->count, &page->arena,
                        results, err))
        return false;
    find_departures(reading->shape_of, results, page->count, &page->arena);
    count_results(results, page->count, tally);
    tally->gone += (int64_t)(reading->answered - page->count);
    if (each && !each(context, results, page->count, read))
        return err_set(err, ERR_CANCELLED, "stopped as asked; nothing was written");
    return true;
}

bool
correct_dry_run(struct corrector *corrector, struct store *store, const int64_t *ids, size_t count,
                correct_each_fn *each, void *context, struct correct_tally *tally, struct err *err)
{
    struct shapes *shapes = shapes_create(ids, count);
    struct reading next = {
        .corrector = corrector, .store = store, .ids = ids, .count = count, .shapes = shapes};
    bool ok = true, is_reading = count > 0;
    if (is_reading)
        read_page(&next);
    while (ok && is_reading) {
        struct reading now = next;
        struct thread *thread = NULL;
        next = (struct reading){.corrector = corrector,
                                .store = store,
                                .shapes = shapes,
                                .ids = now.ids + now.answered,
                                .count = now.count - now.answered};
        is_reading = now.ok && next.count > 0;
        if (is_reading)
            thread = thread_start(read_page, &next, "reading");
        ok = now.ok && apply_dry(&now, each, context, count - next.count, tally, err);
        if (!now.ok && err)
            *err = now.err;
        thread_join(thread);
        event_page_release(&now.page);
    }
    event_page_release(&next.page);
    shapes_destroy(shapes);
    return ok;
}

// "line 3: $.amount does not exist"
static const char *
detail_of(const struct correct_result *result, struct arena *arena)
{
    if (result->outcome == CORRECT_CHANGED)
        return NULL;
    const char *words = result->reason ? result->reason : correct_outcome_name(result->outcome);
    if (result->outcome == CORRECT_FORCED)
        return arena_printf(arena, CORRECT_FORCED_WORD "%s", words);
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
    const char **troubles;
    if (ok && count > 0)
        ok = corrector_find_originals(corrector, store, page.events, page.count, true, &page.arena, &troubles,
                                      err);
    if (ok && count > 0) {
        results = arena_array(&page.arena, page.count, sizeof *results);
        ok = correct_events(corrector, page.events, troubles, page.count, &page.arena, results, err);
    }
    if (ok && count > 0) {
        struct correct_result *all = arena_array(&page.arena, count, sizeof *all);
        count = add_missing(ids, count, &page, results, all);
        ok = keep_results(store, operation, most, all, count, &page.arena, applied, left, err);
    }
    event_page_release(&page);
    free(ids);
    return ok;
}
