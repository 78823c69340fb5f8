#include "search/choose.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/filter/filter.h"
#include "core/selection.h"
#include "search/highest_first.h"
#include "search/prefilter.h"
#include "store/events/pass.h"
#include "store/events/events.h"
#include "store/events/records.h"
#include "store/operations/operations.h"
#include "store/rollup/rollup.h"

enum {
    NARROW_PAGE = 5000,
    WIDE_PAGE = 500, // with whole messages, stacks or payloads, which may be large
};

// A choice, parsed.
struct matcher {
    const struct choice *choice;
    struct filter *filter;
    uint64_t group_low, group_high;
    unsigned statuses;
    unsigned fields;
    bool only_ids; // the caller wants of an event no more than id and created_wall
};

static bool
parse_filter(struct store *store, struct matcher *matcher, struct err *err)
{
    struct filter_context context = {.zone_us = store_info(store)->zone_us, .new_after = TIME_ABSENT};
    if (!store_now(store, &context.now, err))
        return false;
    if (filter_parse(&matcher->filter, bytes_of(matcher->choice->filter), &context, err))
        return true;
    return err_context(err, "--filter, column %d", err->column);
}

static bool
matcher_init(struct store *store, const struct choice *choice, unsigned fields, struct matcher *matcher,
             struct err *err)
{
    *matcher = (struct matcher){.choice = choice, .fields = fields};
    if (choice->filter != NULL && !parse_filter(store, matcher, err))
        return false;
    matcher->only_ids = fields == 0;
    matcher->fields |= matcher->only_ids && !choice->queue ? EVENT_BARE : EVENT_NARROW;
    if (matcher->filter != NULL)
        matcher->fields |= filter_needs(matcher->filter);
    if (choice->group != NULL) {
        if (!group_parse(bytes_of(choice->group), &matcher->group_low, &matcher->group_high))
            return err_set(err, ERR_USAGE,
                           "--group takes a group key, 1 to 16 hex digits as redrive groups prints them, not "
                           "\"%s\"",
                           choice->group);
        matcher->fields |= EVENT_GROUP;
    }
    if (choice->queue != NULL && !topic_is_queue(bytes_of(choice->queue)))
        return err_set(
            err, ERR_USAGE,
            "--queue takes the name of a dead letter queue, such as orders_dlq; \"%s\" is not named "
            "like one",
            choice->queue);
    unsigned asked = matcher->filter == NULL ? 0 : filter_statuses(matcher->filter);
    matcher->statuses = choice->statuses != 0 ? choice->statuses : asked != 0 ? asked : choice->otherwise;
    return true;
}

static void
note_undecided(struct choose_tally *tally, int64_t id)
{
    tally->undecided = alloc_grow(tally->undecided, tally->undecided_count, &tally->undecided_capacity,
                                  sizeof *tally->undecided);
    tally->undecided[tally->undecided_count++] = id;
}

static bool
matches(struct matcher *matcher, const struct event *event, struct choose_tally *tally)
{
    const struct choice *choice = matcher->choice;
    if (matcher->statuses != 0 && (matcher->statuses & 1u << event->status) == 0) {
        tally->closed++;
        return false;
    }
    if (choice->group != NULL && (event->group < matcher->group_low || event->group > matcher->group_high))
        return false;
    if (choice->queue != NULL && !bytes_equal_text(event_queue(event), choice->queue))
        return false;
    enum filter_verdict verdict = matcher->filter == NULL ? FILTER_YES : filter_match(matcher->filter, event);
    if (verdict == FILTER_UNDECIDED)
        note_undecided(tally, event->id);
    return verdict == FILTER_YES;
}

struct choose_pass {
    struct matcher matcher;
    choose_each_fn *each;
    choose_tick_fn *tick;
    void *context;
    struct choose_tally *tally;
};

static bool
stopped(struct err *err)
{
    return err_set(err, ERR_CANCELLED, "stopped while looking at events");
}

static bool
scan_page(struct choose_pass *scan, const struct event_page *page, struct err *err)
{
    struct choose_tally *tally = scan->tally;
    for (size_t i = 0; i < page->count; i++) {
        tally->scanned++;
        if (!matches(&scan->matcher, &page->events[i], tally))
            continue;
        tally->matched++;
        if (!scan->each(scan->context, &page->events[i]))
            return stopped(err);
    }
    if (scan->tick != NULL && !scan->tick(scan->context, tally))
        return stopped(err);
    return true;
}

static size_t
page_size(unsigned fields)
{
    return (fields & (EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW)) != 0 ? WIDE_PAGE : NARROW_PAGE;
}

static bool
scan_table(struct store *store, struct choose_pass *scan, struct err *err)
{
    struct event_query query = {.takes_unreadable = true,
                                .fields = scan->matcher.fields,
                                .statuses = scan->matcher.statuses,
                                .limit = page_size(scan->matcher.fields),
                                .most_bytes = EVENT_PAGE_BYTES};
    for (bool is_more = true, ok = true; is_more;) {
        struct event_page page = {0};
        if (!store_events(store, &query, &page, err))
            return false;
        is_more = page.count == query.limit || page.is_cut;
        if (page.count > 0) {
            query.before_id = page.events[page.count - 1].id;
            query.has_before = true;
        }
        ok = scan_page(scan, &page, err);
        event_page_release(&page);
        if (!ok)
            return false;
    }
    return true;
}

// Notes the asked ids that the page does not have.
static void
note_unknown(struct choose_tally *tally, const int64_t *asked, size_t count, const struct event_page *page)
{
    size_t met = 0;
    for (size_t i = 0; i < count; i++) {
        if (met < page->count && page->events[met].id == asked[i]) {
            met++;
            continue;
        }
        tally->unknown = alloc_grow(tally->unknown, tally->unknown_count, &tally->unknown_capacity,
                                    sizeof *tally->unknown);
        tally->unknown[tally->unknown_count++] = asked[i];
    }
}

static bool
scan_ids(struct store *store, struct choose_pass *scan, const int64_t *ids, size_t count, bool are_named,
         struct err *err)
{
    size_t rows = page_size(scan->matcher.fields);
    for (size_t at = 0, answered; at < count; at += answered) {
        struct event_query query = {.takes_unreadable = true,
                                    .fields = scan->matcher.fields,
                                    .ids = ids + at,
                                    .id_count = count - at < rows ? count - at : rows,
                                    .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(store, &query, &page, err))
            return false;
        answered = event_page_answers(&page, &query);
        if (are_named)
            note_unknown(scan->tally, query.ids, answered, &page);
        bool ok = scan_page(scan, &page, err);
        event_page_release(&page);
        if (!ok)
            return false;
    }
    return true;
}

static bool
prefilter_tick(void *context, int64_t rows)
{
    struct choose_pass *scan = context;
    scan->tally->scanned = rows;
    return scan->tick == NULL || scan->tick(scan->context, scan->tally);
}

// Does the prefilter alone decide? Then no row has to be read.
static bool
is_enough(const struct choose_pass *scan)
{
    const struct matcher *matcher = &scan->matcher;
    unsigned statuses = matcher->statuses;
    bool is_one_status = statuses == 1u << EVENT_PENDING || statuses == 1u << EVENT_RESOLVED ||
                         statuses == 1u << EVENT_DISCARDED;
    return matcher->only_ids && is_one_status && filter_parts(matcher->filter) == 1 &&
           matcher->choice->group == NULL;
}

static bool
take_chosen(struct choose_pass *scan, const struct prefiltered *chosen, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct event event = {
            .id = chosen[i].id, .created_wall = chosen[i].created_wall, .created_at = TIME_ABSENT};
        if (chosen[i].is_undecided) {
            note_undecided(scan->tally, event.id);
            continue;
        }
        scan->tally->matched++;
        if (!scan->each(scan->context, &event))
            return stopped(err);
    }
    return true;
}

// One pass over the column of one term, then the rows that it lets through.
static bool
scan_prefiltered(struct store *store, struct choose_pass *scan, const struct prefilter *prefilter,
                 struct err *err)
{
    struct prefiltered *prefiltered;
    size_t count;
    struct err failure = {0};
    if (!prefilter_run(prefilter, store, scan->matcher.filter, scan->matcher.statuses, prefilter_tick, scan,
                       &prefiltered, &count, &failure)) {
        scan->tally->scanned = 0;
        if (store_text_is_unreadable(&failure))
            return scan_table(store, scan, err); // page by page the others can be read
        if (failure.kind == ERR_CANCELLED)
            return stopped(err);
        if (err && !err_is_set(err))
            *err = failure;
        return false;
    }
    bool ok;
    if (is_enough(scan)) {
        ok = take_chosen(scan, prefiltered, count, err);
    } else {
        int64_t *ids = alloc_array(count + 1, sizeof *ids);
        for (size_t i = 0; i < count; i++)
            ids[i] = prefiltered[i].id;
        ok = scan_ids(store, scan, ids, count, false, err);
        free(ids);
    }
    free(prefiltered);
    return ok;
}

// --- one pass for ids ---

struct passing {
    struct choose_pass *scan;
    struct prefiltered *chosen;
    size_t count, capacity;
};

static bool
pass_event(void *context, const struct event *event)
{
    struct passing *passing = context;
    struct choose_pass *scan = passing->scan;
    struct choose_tally *tally = scan->tally;
    unsigned statuses = scan->matcher.statuses;
    if (statuses != 0 && (statuses & 1u << event->status) == 0)
        return true;
    if (matches(&scan->matcher, event, tally)) {
        passing->chosen =
            alloc_grow(passing->chosen, passing->count, &passing->capacity, sizeof *passing->chosen);
        passing->chosen[passing->count++] =
            (struct prefiltered){.id = event->id, .created_wall = event->created_wall};
    }
    bool looks = ++tally->scanned % NARROW_PAGE == 0;
    return !looks || scan->tick == NULL || scan->tick(scan->context, tally);
}

// Do short columns and groups decide, and are only ids wanted?
static bool
is_for_pass(const struct matcher *matcher)
{
    for (size_t i = 0; matcher->filter != NULL && i < filter_terms(matcher->filter); i++)
        if (filter_term_from(matcher->filter, i) != FILTER_FROM_ROW)
            return false;
    return matcher->only_ids;
}

static bool
scan_pass(struct store *store, struct choose_pass *scan, struct err *err)
{
    const struct matcher *matcher = &scan->matcher;
    struct passing passing = {.scan = scan};
    unsigned fields = EVENT_BARE | (matcher->fields & EVENT_GROUP);
    if (matcher->filter != NULL)
        fields |= EVENT_COUNTED;
    struct err failure = {0};
    bool ok = store_pass(store, fields, matcher->statuses, pass_event, &passing, &failure);
    if (!ok && store_text_is_unreadable(&failure)) {
        free(passing.chosen);
        scan->tally->scanned = scan->tally->closed = 0;
        scan->tally->undecided_count = 0;
        return scan_table(store, scan, err); // page by page the others can be read
    }
    if (!ok && err != NULL && !err_is_set(err))
        *err = failure;
    if (ok)
        sort_highest_first(passing.chosen, passing.count, sizeof *passing.chosen);
    if (!ok && failure.kind == ERR_CANCELLED)
        ok = stopped(err);
    ok = ok && take_chosen(scan, passing.chosen, passing.count, err);
    free(passing.chosen);
    return ok;
}

// --- out of the rollup ---

// Do the columns of counted events decide? Their time has no wall clock of the table's, which `created`
// compares.
static bool
is_for_rollup(const struct matcher *matcher)
{
    if (matcher->choice->filter != NULL && strcasestr(matcher->choice->filter, "created") != NULL)
        return false;
    for (size_t i = 0; matcher->filter != NULL && i < filter_terms(matcher->filter); i++)
        if (filter_term_from(matcher->filter, i) != FILTER_FROM_ROW)
            return false;
    return !matcher->choice->queue && matcher->choice->is_counted && matcher->statuses == 1u << EVENT_PENDING;
}

struct counting {
    struct choose_pass *scan;
    int64_t *unsure; // ids of events whose rows decide
    size_t count, capacity;
};

static enum filter_verdict
verdict_at(struct matcher *matcher, const struct event *event, int64_t created_at)
{
    if (matcher->filter == NULL)
        return FILTER_YES;
    struct event then = *event;
    then.created_at = created_at;
    return filter_match(matcher->filter, &then);
}

// Times of counted events are whole seconds: where the first and the last instant of that second differ, the
// row decides.
static bool
take_counted(void *context, const struct event *event, bool is_whole)
{
    struct counting *counting = context;
    struct choose_pass *scan = counting->scan;
    struct matcher *matcher = &scan->matcher;
    struct choose_tally *tally = scan->tally;
    enum filter_verdict first = is_whole ? verdict_at(matcher, event, event->created_at) : FILTER_UNDECIDED;
    if (is_whole && verdict_at(matcher, event, event->created_at + US_PER_SECOND - 1) != first)
        first = FILTER_UNDECIDED;
    if (first == FILTER_UNDECIDED) {
        counting->unsure =
            alloc_grow(counting->unsure, counting->count, &counting->capacity, sizeof *counting->unsure);
        counting->unsure[counting->count++] = event->id;
        return true;
    }
    bool looks = ++tally->scanned % NARROW_PAGE == 0;
    if (looks && scan->tick != NULL && !scan->tick(scan->context, tally))
        return false;
    const struct choice *choice = matcher->choice;
    if (first != FILTER_YES ||
        (choice->group != NULL && (event->group < matcher->group_low || event->group > matcher->group_high)))
        return true;
    tally->matched++;
    return scan->each(scan->context, event);
}

struct collecting {
    struct choose_pass *scan;
    int64_t *ids;
    size_t count, capacity;
};

static bool
collect_ids(void *context, const int64_t *ids, size_t count)
{
    struct collecting *collecting = context;
    struct choose_pass *scan = collecting->scan;
    for (size_t i = 0; i < count; i++) {
        collecting->ids =
            alloc_grow(collecting->ids, collecting->count, &collecting->capacity, sizeof *collecting->ids);
        collecting->ids[collecting->count++] = ids[i];
    }
    scan->tally->scanned = (int64_t)collecting->count;
    return scan->tick == NULL || scan->tick(scan->context, scan->tally);
}

static bool
take_ids(struct choose_pass *scan, int64_t *ids, size_t count, struct err *err)
{
    for (size_t i = ids_normalise(ids, count); i > 0; i--) {
        const struct event event = {.id = ids[i - 1], .created_wall = TIME_ABSENT, .created_at = TIME_ABSENT};
        scan->tally->matched++;
        if (!scan->each(scan->context, &event))
            return stopped(err);
    }
    return true;
}

// Of which group an event is, its series says: of a whole group nothing else is asked.
static bool
scan_counted_group(struct store *store, struct choose_pass *scan, struct err *err)
{
    struct collecting collecting = {.scan = scan};
    struct err failure = {0};
    const struct group_range range = {scan->matcher.group_low, scan->matcher.group_high};
    bool ok = rollup_ids(store, &range, collect_ids, &collecting, &failure);
    if (!ok && failure.kind == ERR_CANCELLED)
        ok = stopped(err);
    else if (!ok && err)
        *err = failure;
    ok = ok && take_ids(scan, collecting.ids, collecting.count, err);
    free(collecting.ids);
    return ok;
}

static bool
scan_counted(struct store *store, struct choose_pass *scan, struct err *err)
{
    if (scan->matcher.only_ids && scan->matcher.choice->group && !scan->matcher.filter)
        return scan_counted_group(store, scan, err);
    struct counting counting = {.scan = scan};
    struct err failure = {0};
    const struct group_range range = {scan->matcher.group_low, scan->matcher.group_high};
    bool ok =
        rollup_events(store, scan->matcher.choice->group ? &range : NULL, take_counted, &counting, &failure);
    if (!ok && failure.kind == ERR_CANCELLED)
        ok = stopped(err);
    else if (!ok && err)
        *err = failure;
    ok = ok && scan_ids(store, scan, counting.unsure, counting.count, false, err);
    free(counting.unsure);
    return ok;
}

static bool
choose_scan_all(struct store *store, struct choose_pass *scan, struct err *err)
{
    struct prefilter prefilter = {0};
    struct filter *filter = scan->matcher.filter;
    if (is_for_rollup(&scan->matcher))
        return scan_counted(store, scan, err);
    bool ok = filter == NULL || prefilter_init(&prefilter, store, filter, err);
    ok = ok && (prefilter.is_usable           ? scan_prefiltered(store, scan, &prefilter, err)
                : is_for_pass(&scan->matcher) ? scan_pass(store, scan, err)
                                              : scan_table(store, scan, err));
    prefilter_release(&prefilter);
    return ok;
}

bool
choose_is_counted(struct store *store, const struct choice *choice)
{
    struct choice counted = *choice;
    counted.is_counted = true;
    struct matcher matcher;
    struct err ignored = {0};
    if (choice->has_ids)
        return false;
    bool is_of_use = matcher_init(store, &counted, 0, &matcher, &ignored) && is_for_rollup(&matcher);
    filter_destroy(matcher.filter);
    return is_of_use;
}

// Where only few events can match, which PostgreSQL knows: their ids.
static bool
narrow(struct store *store, const struct matcher *matcher, bool *is_narrowed, int64_t **ids, size_t *count,
       struct err *err)
{
    const char *queue = matcher->choice->queue;
    int64_t no;
    *is_narrowed = true;
    if (matcher->filter && filter_operation(matcher->filter, &no))
        return operation_event_ids(store, no, ids, count, err);
    if (queue || (matcher->filter && filter_wants_letter(matcher->filter)))
        return letter_ids(store, queue, ids, count, err);
    *is_narrowed = false;
    return true;
}

bool
choose_scan(struct store *store, const struct choice *choice, unsigned fields, choose_each_fn *each,
            choose_tick_fn *tick, void *context, struct choose_tally *tally, struct err *err)
{
    struct choose_pass scan = {.each = each, .tick = tick, .context = context, .tally = tally};
    int64_t *ids = NULL;
    size_t count;
    bool ok = matcher_init(store, choice, fields, &scan.matcher, err);
    if (ok && choice->has_ids) {
        ids = alloc_array(choice->id_count + 1, sizeof *ids);
        if (choice->id_count > 0)
            memcpy(ids, choice->ids, choice->id_count * sizeof *ids);
        ok = scan_ids(store, &scan, ids, ids_normalise(ids, choice->id_count), true, err);
    } else if (ok) {
        bool is_narrowed;
        ok = narrow(store, &scan.matcher, &is_narrowed, &ids, &count, err) &&
             (is_narrowed ? scan_ids(store, &scan, ids, count, false, err)
                          : choose_scan_all(store, &scan, err));
    }
    free(ids);
    filter_destroy(scan.matcher.filter);
    return ok;
}

// --- ids in order ---

struct pick {
    int64_t created; // the column's own value, so that the order is the column's
    int64_t id;
};

struct picks {
    struct pick *picks;
    size_t count, capacity;
    const struct choice *choice;
    choose_tick_fn *tick;
    void *context;
};

static int
older_first(const void *left, const void *right)
{
    const struct pick *a = left, *b = right;
    // An event without a time comes last, as PostgreSQL orders NULL.
    int64_t left_at = a->created == TIME_ABSENT ? INT64_MAX : a->created;
    int64_t right_at = b->created == TIME_ABSENT ? INT64_MAX : b->created;
    if (left_at != right_at)
        return left_at < right_at ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int
newer_first(const void *left, const void *right)
{
    return older_first(right, left);
}

static void
sort_and_cut(struct picks *picks)
{
    if (picks->count > 0)
        qsort(picks->picks, picks->count, sizeof *picks->picks,
              picks->choice->newest_first ? newer_first : older_first);
    int64_t limit = picks->choice->limit;
    if (limit > 0 && picks->count > (size_t)limit)
        picks->count = (size_t)limit;
}

static bool
pick_event(void *context, const struct event *event)
{
    struct picks *picks = context;
    picks->picks = alloc_grow(picks->picks, picks->count, &picks->capacity, sizeof *picks->picks);
    picks->picks[picks->count++] = (struct pick){event->created_wall, event->id};
    // Drops picks that cannot be in the result, so that a small limit over a large table needs little memory.
    int64_t limit = picks->choice->limit;
    if (limit > 0 && picks->count >= 65536 && picks->count / 2 >= (size_t)limit)
        sort_and_cut(picks);
    return true;
}

static bool
pick_tick(void *context, const struct choose_tally *tally)
{
    struct picks *picks = context;
    return picks->tick == NULL || picks->tick(picks->context, tally);
}

bool
choose_ids(struct store *store, const struct choice *choice, choose_tick_fn *tick, void *context,
           int64_t **ids, size_t *count, struct choose_tally *tally, struct err *err)
{
    struct picks picks = {.choice = choice, .tick = tick, .context = context};
    *ids = NULL;
    *count = 0;
    bool ok = choose_scan(store, choice, 0, pick_event, pick_tick, &picks, tally, err);
    if (ok) {
        sort_and_cut(&picks);
        *ids = alloc_array(picks.count + 1, sizeof **ids);
        for (size_t i = 0; i < picks.count; i++)
            (*ids)[i] = picks.picks[i].id;
        *count = picks.count;
    }
    free(picks.picks);
    return ok;
}

void
choose_tally_release(struct choose_tally *tally)
{
    free(tally->unknown);
    free(tally->undecided);
    *tally = (struct choose_tally){0};
}
