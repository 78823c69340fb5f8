// Groups with a filter: a search over the pending events, whose matches are counted in a backlog of their
// own.
//
// The first search shows what it has counted so far. Later ones, after events came, went or were written,
// replace what is shown when they are whole.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const int64_t AGAIN_LEAST = US_PER_SECOND / 2; // between two searches
enum {
    AGAIN_COST = 8,   // and so many times what the last one took
    READ_ROWS = 1000, // at once, of events that the short columns in memory know only in part
};
static const int64_t MINUTE = 60 * US_PER_SECOND;

static void
forget_job(struct group_matches *matches)
{
    struct backlog *matched = matches->job.matched;
    reader_list_drop(&matches->job);
    if (matched != matches->matched)
        backlog_destroy(matched);
}

void
reader_matches_release(struct reader *reader)
{
    struct group_matches *matches = &reader->matches;
    forget_job(matches);
    backlog_destroy(matches->matched);
    free(matches->text);
    *matches = (struct group_matches){0};
}

static const struct backlog *
rows_of(const struct reader *reader)
{
    const struct backlog *rows = reader_rows_known(reader);
    return rows ? rows : reader->counts.backlog;
}

static bool
begin_job(struct reader *reader, struct err *err)
{
    struct group_matches *matches = &reader->matches;
    const struct filter_context context = {
        .now = clock_now(), .zone_us = store_info(reader->session.store)->zone_us, .new_after = TIME_ABSENT};
    struct filter *filter;
    if (!filter_parse(&filter, bytes_of(matches->text), &context, err))
        return false;
    forget_job(matches);
    struct list_job *job = &matches->job;
    *job = (struct list_job){.number = reader->groups.number,
                             .is_first = true,
                             .leaves_undecided = true,
                             .is_confirmed = true, // nothing is done to what is only counted
                             .filter = filter,
                             .query = {.source = LIST_PENDING, .pivot = PIVOT_ERROR}};
    if (matches->has_within) {
        job->query.has_value = true;
        (void)group_text(matches->within, job->query.value);
    }
    job->matched = backlog_create();
    if (!matches->is_whole) {
        backlog_destroy(matches->matched);
        matches->matched = job->matched;
    }
    matches->looked_count = backlog_count(rows_of(reader));
    matches->looked_highest = backlog_highest_id(rows_of(reader));
    matches->looked_minute = clock_now() / MINUTE;
    matches->has_changed = false;
    matches->began = clock_mono();
    matches->again_at = matches->began + AGAIN_LEAST;
    job->is_running = true;
    job->waits = WAITS_TO_BEGIN;
    return true;
}

bool
reader_matches_request(struct reader *reader, const struct request *request, struct err *err)
{
    struct group_matches *matches = &reader->matches;
    const char *text = request->list.filter;
    if (!text || !*text) {
        reader_matches_release(reader);
        return true;
    }
    bool is_same = matches->is_on && strcmp(matches->text, text) == 0 &&
                   matches->has_within == request->groups.has_group &&
                   matches->within == request->groups.group;
    matches->job.number = request->number;
    if (is_same && !matches->is_stopped)
        return true;
    reader_matches_release(reader);
    matches->is_on = true;
    matches->text = alloc_text(text);
    matches->has_within = request->groups.has_group;
    matches->within = request->groups.group;
    if (reader->counts.backlog && !reader->session.link.is_lost && !begin_job(reader, err)) {
        reader_matches_release(reader);
        return false;
    }
    return true;
}

// --- what the job finds ---

// Events that are known only in part. Those that were closed meanwhile are left out.
static bool
count_rows(struct reader *reader, struct list_job *job, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += READ_ROWS) {
        struct event_page page = {0};
        const struct event_query query = {.fields = EVENT_GROUP | EVENT_COUNTED,
                                          .statuses = 1u << EVENT_PENDING,
                                          .ids = ids + at,
                                          .id_count = count - at < READ_ROWS ? count - at : READ_ROWS};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        backlog_add(job->matched, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

static bool
count_ids(struct reader *reader, struct list_job *job, const int64_t *ids, size_t count, struct err *err)
{
    const struct backlog *rows = rows_of(reader);
    int64_t *others = alloc_array(count + 1, sizeof *others);
    size_t other_count = 0, hint = 0;
    struct event event;
    for (size_t i = 0; i < count; i++)
        if (backlog_event(rows, ids[i], &hint, &event))
            backlog_add(job->matched, &event, 1);
        else
            others[other_count++] = ids[i];
    bool ok = count_rows(reader, job, others, other_count, err);
    free(others);
    return ok;
}

static void
end_job(struct reader *reader)
{
    struct group_matches *matches = &reader->matches;
    if (matches->matched != matches->job.matched)
        backlog_destroy(matches->matched);
    matches->matched = matches->job.matched;
    matches->undecided = matches->job.undecided;
    matches->is_whole = true;
    int64_t pause = (clock_mono() - matches->began) * AGAIN_COST;
    matches->again_at = clock_mono() + (pause > AGAIN_LEAST ? pause : AGAIN_LEAST);
}

void
reader_matches_found(struct reader *reader, struct list_job *job, const int64_t *ids, size_t count)
{
    struct group_matches *matches = &reader->matches;
    bool was_first = job->is_first && !matches->is_whole;
    struct err err = {0};
    bool is_counted = !job->candidates || count_ids(reader, job, ids, count, &err);
    reader->groups.is_dirty = true;
    if (!is_counted) { // it is begun again
        job->is_running = false;
        session_failed(&reader->session, 0, &err);
        return;
    }
    if (!job->is_running)
        end_job(reader);
    if (!job->is_running || was_first)
        reader->groups.send_at = 0;
    reader_backlog_send(reader, false);
}

void
reader_matches_changed(struct reader *reader)
{
    reader->matches.has_changed = true;
}

void
reader_matches_cancel(struct reader *reader, uint64_t number)
{
    struct group_matches *matches = &reader->matches;
    if (!matches->is_on || matches->is_whole || matches->is_stopped || number != reader->groups.number)
        return;
    reader_list_end(&matches->job);
    matches->is_stopped = true;
    reader->groups.is_dirty = true;
    reader->groups.send_at = 0;
    reader_backlog_send(reader, false);
}

bool
reader_matches_step(struct reader *reader)
{
    struct group_matches *matches = &reader->matches;
    struct err err = {0};
    if (!matches->is_on || matches->is_stopped || matches->job.is_running || !reader->counts.backlog ||
        reader->session.link.is_lost || clock_mono() < matches->again_at || reader->groups.is_paused)
        return false;
    bool is_over = true;
    if (matches->is_whole && reader_rows_known(reader) && !reader_rows_step(reader, &is_over, &err))
        return session_failed(&reader->session, 0, &err);
    const struct backlog *rows = rows_of(reader);
    bool is_due =
        !matches->is_whole || matches->has_changed || backlog_count(rows) != matches->looked_count ||
        backlog_highest_id(rows) != matches->looked_highest || clock_now() / MINUTE != matches->looked_minute;
    if (!is_due)
        return false;
    if (!begin_job(reader, &err)) {
        matches->again_at = clock_mono() + MINUTE;
        return session_failed(&reader->session, matches->job.number, &err);
    }
    return true;
}

// --- the groups ---

// By key; heap, the caller frees.
static const struct event_group **
sorted_by_key(const struct group_list *list)
{
    const struct event_group **sorted = alloc_array(list->count + 1, sizeof *sorted);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->groups[i];
    qsort(sorted, list->count, sizeof *sorted, event_group_by_key);
    return sorted;
}

static const struct event_group *
group_of_key(const struct event_group **sorted, size_t count, uint64_t key)
{
    const struct event_group wanted = {.key = key};
    const struct event_group *looked = &wanted;
    const struct event_group **found = bsearch(&looked, sorted, count, sizeof *sorted, event_group_by_key);
    return found ? *found : NULL;
}

// Groups of the matches as the screen asked for them.
static void
list_matched(const struct reader *reader, struct reply *reply, bool is_merged)
{
    const struct groups_view *view = &reader->groups;
    const struct group_limit limit = {.most = view->pivot == PIVOT_PATH ? GROUPS_OF_PATH : GROUPS_AT_ONCE,
                                      .rank = view->rank,
                                      .is_reversed = view->is_reversed};
    struct groups_reply *groups = &reply->groups;
    if (is_merged)
        backlog_groups_merged(reader->matches.matched, &limit, clock_now(), &reply->arena, &groups->list,
                              &groups->parts);
    else
        backlog_groups_limited(reader->matches.matched, view->pivot, NULL, &limit, clock_now(), &reply->arena,
                               &groups->list);
    if (view->pivot == PIVOT_PATH)
        reader_paths_name(reader, &groups->list, &reply->arena);
}

// What groups are called does not depend on the filter. Those that were not listed without it, and those of
// closed events, are described by a sample. true: some are described now.
static bool
describe_matched(struct reader *reader, const struct event_group **sorted, size_t count,
                 const struct group_list *list)
{
    struct backlog *matched = reader->matches.matched;
    uint64_t *keys = alloc_array(list->count + 1, sizeof *keys);
    int64_t *ids = alloc_array(list->count + 1, sizeof *ids);
    size_t unknown = 0;
    bool is_some = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->groups[i].text.pattern)
            continue;
        const struct event_group *group = group_of_key(sorted, count, list->groups[i].key);
        is_some = true;
        if (!group || !group->text.pattern) {
            keys[unknown] = list->groups[i].key;
            ids[unknown++] = list->groups[i].sample_id;
            continue;
        }
        struct group_text text = group->text;
        text.category = group->category;
        text.has_category = true;
        text.is_overridden = group->is_overridden;
        backlog_describe(matched, group->key, &text);
    }
    struct err ignored = {0}; // tried again at the next reply
    if (!reader->session.link.is_lost)
        (void)!reader_backlog_describe_groups(reader, matched, keys, ids, unknown, &ignored);
    free(keys);
    free(ids);
    return is_some;
}

static void
take_history(const struct event_group **sorted, size_t count, struct group_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct event_group *group = &list->groups[i];
        const struct event_group *whole = group_of_key(sorted, count, group->key);
        if (!whole || group->part_count)
            continue;
        group->is_new = whole->is_new;
        group->is_returned = whole->is_returned;
        group->outcomes = whole->outcomes;
    }
}

struct reply *
reader_matches_groups(struct reader *reader, const struct reply *all)
{
    struct group_matches *matches = &reader->matches;
    struct reply *reply = reply_create(REPLY_GROUPS, all->number);
    struct groups_reply *groups = &reply->groups;
    const struct list_job *job = &matches->job;
    groups->pivot = all->groups.pivot;
    bool is_by_error = groups->pivot == PIVOT_ERROR;
    bool is_merged = reader->groups.is_merged && is_by_error && !reader->groups.has_within;
    groups->matched =
        (struct groups_matched){.is_on = true,
                                .is_whole = matches->is_whole,
                                .is_stopped = matches->is_stopped,
                                .scanned = job->scanned,
                                .total = (int64_t)matches->looked_count,
                                .undecided = matches->is_whole ? matches->undecided : job->undecided,
                                .events = all->groups.list.events,
                                .groups = is_merged ? all->groups.parts.total : all->groups.list.total};
    list_matched(reader, reply, false);
    if (is_by_error) {
        struct arena arena = {0};
        const struct group_limit limit = {.most = GROUPS_AT_ONCE};
        struct group_list known = all->groups.list;
        if (is_merged)
            backlog_groups_limited(reader->counts.backlog, PIVOT_ERROR, NULL, &limit, clock_now(), &arena,
                                   &known);
        const struct event_group **sorted = sorted_by_key(&known);
        bool is_described = describe_matched(reader, sorted, known.count, &groups->list);
        if (is_described || is_merged) {
            arena_reset(&reply->arena);
            list_matched(reader, reply, is_merged);
        }
        take_history(sorted, known.count, &groups->list);
        free(sorted);
        arena_release(&arena);
    }
    reply->is_last = all->is_last && (matches->is_whole || matches->is_stopped);
    return reply;
}
