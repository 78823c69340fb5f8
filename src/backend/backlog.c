// Keeps the backlog true: a scan from the newest event down, then short looks at what arrived and what went.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"
#include "core/fingerprint/fingerprint.h"
#include "store/rollup/categories.h"

enum {
    SCAN_PAGE = 4000,
    LATE_WINDOW = 20000, // ids below the highest that may still be committed late
    SAMPLE_BYTES = 300,
    DESCRIBE_AT_ONCE = 64, // new groups of a scan
    DESCRIBE_MOST = 1000,  // in one statement
};
static const int64_t SEND_EVERY = 250000;
static const int64_t MINUTE = 60 * US_PER_SECOND;

static const unsigned SCAN_FIELDS = EVENT_GROUP | EVENT_COUNTED;

void
reader_backlog_begin(struct reader *reader)
{
    reader->counts.poll_at = 0;
    reader->counts.reconcile_at = 0;
    if (reader->counts.backlog)
        return;
    reader->counts.backlog = backlog_create();
    reader->counts.has_rollup = reader_rollup_usable(reader);
    reader->counts.rollup_token = 0;
    reader->counts.has_scanned = false;
    reader->counts.scanned = 0;
    reader->counts.is_counting = true;
    reader->groups.is_dirty = true;
}

static struct group_text
reader_backlog_describe(const struct event *event, const struct reader *reader, struct arena *arena)
{
    struct fingerprint print =
        fingerprint_explain(&(struct fingerprint_input){.message = event->error_message,
                                                        .stack = event->stack_trace,
                                                        .rules = reader->session.settings->store.group_rules},
                            arena);
    struct bytes line = event_error_text(event);
    size_t end = bytes_find(line, BYTES("\n"), 0);
    line = bytes_slice(line, 0, end == SIZE_MAX ? line.len : end);
    line.len = utf8_cut(line, SAMPLE_BYTES);
    bool is_overridden;
    enum category category =
        store_category(reader->session.store, print.key, print.root_class, print.pattern, &is_overridden);
    return (struct group_text){
        .category = category,
        .has_category = true,
        .is_overridden = is_overridden,
        .pattern = arena_text(arena, bytes_present(print.pattern) ? print.pattern : BYTES("")),
        .error_class = arena_text(arena, print.root_class),
        .sample = arena_text(arena, line),
        .frame = arena_text(arena, print.frame),
    };
}

// Reads samples of these groups.
bool
reader_backlog_describe_groups(struct reader *reader, struct backlog *backlog, const uint64_t *keys,
                               const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_ERROR | EVENT_STACK,
                                          .ids = ids + at,
                                          .id_count = count - at < DESCRIBE_MOST ? count - at : DESCRIBE_MOST,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        size_t end = at + event_page_answers(&page, &query);
        for (size_t row = 0; at < end; at++) {
            if (row >= page.count || page.events[row].id != ids[at])
                continue;
            struct group_text text = reader_backlog_describe(&page.events[row++], reader, &page.arena);
            backlog_describe(backlog, keys[at], &text);
        }
        event_page_release(&page);
    }
    return true;
}

// Groups are few, so this is a handful of rows once each.
static bool
describe_new_groups(struct reader *reader, struct err *err)
{
    struct backlog *backlog = reader->counts.backlog;
    uint64_t keys[DESCRIBE_AT_ONCE];
    int64_t ids[DESCRIBE_AT_ONCE];
    size_t cursor = 0;
    size_t count;
    do {
        count = 0;
        while (count < DESCRIBE_AT_ONCE && backlog_undescribed(backlog, &cursor, &keys[count], &ids[count]))
            count++;
        if (!reader_backlog_describe_groups(reader, backlog, keys, ids, count, err))
            return false;
    } while (count == DESCRIBE_AT_ONCE);
    return true;
}

static bool
scan_page(struct reader *reader, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .before_id = reader->counts.scan_before,
                                .has_before = reader->counts.has_scanned,
                                .limit = reader->counts.has_scanned ? SCAN_PAGE : SCAN_PAGE / 8};
    if (!store_events(reader->session.store, &query, &page, err))
        return false;

    backlog_add(reader->counts.backlog, page.events, page.count);
    reader->counts.scanned += (int64_t)page.count;
    bool is_over = page.count < query.limit;
    if (page.count) {
        reader->counts.scan_before = page.events[page.count - 1].id;
        reader->counts.has_scanned = true;
    }
    event_page_release(&page);

    if (!describe_new_groups(reader, err))
        return false;
    reader->groups.is_dirty = true;
    if (is_over) {
        reader->counts.is_counting = false;
        reader->counts.seen_highest = backlog_highest_id(reader->counts.backlog);
        reader->counts.poll_at = 0;
    }
    return true;
}

// Adds the pending events among these ids.
static bool
reader_backlog_add_ids(struct reader *reader, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += SCAN_PAGE) {
        struct event_page page = {0};
        struct event_query query = {.fields = SCAN_FIELDS,
                                    .statuses = 1u << EVENT_PENDING,
                                    .ids = ids + at,
                                    .id_count = count - at < SCAN_PAGE ? count - at : SCAN_PAGE};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        if (backlog_add(reader->counts.backlog, page.events, page.count) > 0)
            reader->groups.is_dirty = true;
        reader_list_arrived(reader, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

bool
reader_backlog_renew(struct reader *reader, const struct event *events, size_t count, struct err *err)
{
    if (reader->counts.has_rollup) {
        if (reader->rows.backlog)
            backlog_renew(reader->rows.backlog, events, count);
        return true;
    }
    if (backlog_renew(reader->counts.backlog, events, count) > 0)
        reader->groups.is_dirty = true;
    return describe_new_groups(reader, err);
}

bool
reader_backlog_arrivals(struct reader *reader, int64_t highest, bool *is_over, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .after_id = reader->counts.seen_highest,
                                .has_after = true,
                                .ascending = true,
                                .limit = SCAN_PAGE};
    if (!store_events(reader->session.store, &query, &page, err))
        return false;

    if (!reader->counts.has_rollup && backlog_add(reader->counts.backlog, page.events, page.count) > 0)
        reader->groups.is_dirty = true;
    reader_list_arrived(reader, page.events, page.count);
    *is_over = page.count < query.limit;
    if (page.count)
        reader->counts.seen_highest = page.events[page.count - 1].id;
    if (*is_over && highest > reader->counts.seen_highest)
        reader->counts.seen_highest = highest;
    event_page_release(&page);
    return reader->counts.has_rollup || describe_new_groups(reader, err);
}

// Sequences are not commit order: rows with ids just below the highest may have appeared after it was looked
// at.
static bool
fetch_late(struct reader *reader, int64_t highest, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = 0,
                                .statuses = 1u << EVENT_PENDING,
                                .has_after = highest > INT64_MIN + LATE_WINDOW,
                                .after_id = highest > INT64_MIN + LATE_WINDOW ? highest - LATE_WINDOW : 0,
                                .has_before = highest < INT64_MAX,
                                .before_id = highest < INT64_MAX ? highest + 1 : 0,
                                .ascending = true,
                                .limit = LATE_WINDOW};
    if (!store_events(reader->session.store, &query, &page, err))
        return false;

    int64_t *late = alloc_array(page.count, sizeof *late);
    size_t count = 0;
    uint64_t key;
    for (size_t i = 0; i < page.count; i++)
        if (!backlog_group_of(reader->counts.backlog, page.events[i].id, &key))
            late[count++] = page.events[i].id;
    event_page_release(&page);

    bool ok = reader_backlog_add_ids(reader, late, count, err) && describe_new_groups(reader, err);
    free(late);
    return ok;
}

struct id_set {
    int64_t *ids;
    size_t count;
    size_t capacity;
    struct reader *reader;
};

static bool
collect_ids(void *context, const int64_t *ids, size_t count)
{
    struct id_set *set = context;
    for (size_t i = 0; i < count; i++) {
        set->ids = alloc_grow(set->ids, set->count, &set->capacity, sizeof *set->ids);
        set->ids[set->count++] = ids[i];
    }
    return !set->reader->session.is_stopping;
}

bool
reader_backlog_compare(struct reader *reader, struct backlog *backlog, int64_t **missing, size_t *count,
                       struct err *err)
{
    struct id_set set = {.reader = reader};
    int64_t highest = reader->counts.seen_highest;
    *missing = NULL;
    *count = 0;
    bool ok = store_pending_ids(reader->session.store, collect_ids, &set, err);
    if (ok)
        backlog_reconcile(backlog, set.ids, set.count, highest, missing, count);
    free(set.ids);
    return ok;
}

static bool
reconcile(struct reader *reader, struct err *err)
{
    int64_t *missing;
    size_t missing_count;
    int64_t began = clock_mono();
    if (!reader_backlog_compare(reader, reader->counts.backlog, &missing, &missing_count, err))
        return false;
    bool ok = reader_backlog_add_ids(reader, missing, missing_count, err) && describe_new_groups(reader, err);
    free(missing);

    int64_t cost = clock_mono() - began;
    int64_t pause = cost * 5 > US_PER_SECOND ? cost * 5 : US_PER_SECOND;
    reader->counts.reconcile_at = clock_mono() + pause;
    reader->groups.is_dirty = true;
    return ok;
}

// A look at what changed behind our back. The count is exact and cheap; only when it does not agree the ids
// are compared.
static bool
reader_backlog_look(struct reader *reader, struct err *err)
{
    int64_t pending;
    int64_t highest;
    if (!store_pending_count(reader->session.store, &pending, &highest, err))
        return false;

    bool is_over = true;
    if (highest > reader->counts.seen_highest && !reader_backlog_arrivals(reader, highest, &is_over, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(reader->counts.backlog, highest) < pending &&
        !fetch_late(reader, highest, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(reader->counts.backlog, highest) != pending &&
        clock_mono() >= reader->counts.reconcile_at && !reconcile(reader, err))
        return false;

    if (pending == 0 && reader->counts.pending != 0 &&
        !store_last_closed(reader->session.store, &reader->counts.last_closed_at,
                           reader->counts.last_closed_by, err))
        return false;
    reader->counts.pending = pending;
    if (!store_now(reader->session.store, &reader->counts.as_of, err))
        return false;
    reader->counts.poll_at = is_over ? clock_mono() + reader->session.settings->refresh_us : 0;
    return true;
}

bool
reader_backlog_step(struct reader *reader)
{
    struct err err = {0};
    if (reader->counts.is_counting && !reader->counts.has_rollup) {
        if (!scan_page(reader, &err))
            return session_failed(&reader->session, 0, &err);
        reader_backlog_send(reader, false);
        return true;
    }
    if (clock_mono() < reader->counts.poll_at)
        return false;
    if (!(reader->counts.has_rollup ? reader_rollup_look : reader_backlog_look)(reader, &err)) {
        reader->counts.poll_at = clock_mono() + reader->session.settings->refresh_us;
        return session_failed(&reader->session, 0, &err);
    }
    if (!reader_people_look(reader, &err))
        return session_failed(&reader->session, 0, &err);
    reader_backlog_send(reader, false);
    reader_send_status(reader);
    return true;
}

static void
make_path_groups(struct reader *reader, struct reply *reply)
{
    const struct groups_view *view = &reader->groups;
    const struct group_limit limit = {
        .most = GROUPS_OF_PATH, .rank = view->rank, .is_reversed = view->is_reversed};
    struct group_list *list = &reply->groups.list;
    backlog_groups_limited(reader_paths_rows(reader), PIVOT_PATH, view->has_within ? &view->within : NULL,
                           &limit, clock_now(), &reply->arena, list);
    reader_paths_name(reader, list, &reply->arena);
}

static struct reply *
make_groups(struct reader *reader)
{
    struct reply *reply = reply_create(REPLY_GROUPS, reader->groups.number);
    struct groups_reply *groups = &reply->groups;
    const struct groups_view *view = &reader->groups;
    const struct group_limit limit = {
        .most = GROUPS_AT_ONCE, .rank = view->rank, .is_reversed = view->is_reversed};
    groups->pivot = view->pivot;
    if (view->pivot == PIVOT_PATH) {
        make_path_groups(reader, reply);
        return reply;
    }
    if (view->is_merged && view->pivot == PIVOT_ERROR && !view->has_within)
        backlog_groups_merged(reader->counts.backlog, &limit, clock_now(), &reply->arena, &groups->list,
                              &groups->parts);
    else
        backlog_groups_limited(reader->counts.backlog, view->pivot, view->has_within ? &view->within : NULL,
                               &limit, clock_now(), &reply->arena, &groups->list);
    return reply;
}

static size_t
listed_keys(const struct group_list *list, bool is_all, uint64_t *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_all || !list->groups[i].text.pattern)
            keys[count++] = list->groups[i].key;
    return count;
}

// Reads the texts of listed groups that are not kept. true: the list is to be made again.
static bool
describe_listed(struct reader *reader, const struct group_list *list)
{
    struct backlog *backlog = reader->counts.backlog;
    if (reader->groups.pivot != PIVOT_ERROR || !reader->counts.has_rollup || reader->session.link.is_lost)
        return false;
    uint64_t *keys = alloc_array(list->count, sizeof *keys);
    size_t count = listed_keys(list, false, keys);
    if (count > 0 && backlog_make_room(backlog, count))
        count = listed_keys(list, true, keys);
    bool is_some = count > 0 && rollup_describe(reader->session.store, backlog, keys, count, NULL);
    free(keys);
    return is_some;
}

static void
say_what_is_partial(const struct reader *reader, const struct group_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->groups[i].outcomes.is_partial = reader->counts.has_rollup && reader->counts.is_partial;
}

void
reader_backlog_send(struct reader *reader, bool is_forced)
{
    int64_t now = clock_mono();
    if (!reader->counts.backlog)
        return;
    if (reader->groups.pivot == PIVOT_PATH && !reader_paths_rows(reader))
        return; // sent when the values are read
    const struct group_matches *matches = &reader->matches;
    bool is_early = matches->is_on && !matches->is_whole && !matches->is_stopped && !matches->job.is_running;
    if (!is_forced && (reader->groups.is_paused || now < reader->groups.send_at || is_early))
        return;
    // Rates and the last hour fade with each minute, although nothing arrives.
    int64_t minute = clock_now() / MINUTE;
    if (!is_forced && !reader->groups.is_dirty && minute == reader->groups.sent_minute)
        return;

    struct reply *reply = make_groups(reader);
    if (describe_listed(reader, &reply->groups.list)) {
        reply_destroy(reply);
        reply = make_groups(reader);
    }
    reply->is_last = !reader->counts.is_counting;
    if (!reader->groups.has_within) {
        memcpy(reader->counts.spark, reply->groups.list.spark, sizeof reader->counts.spark);
        reader->counts.per_minute = reply->groups.list.per_minute;
    }
    if (reader->matches.is_on) {
        struct reply *all = reply;
        reply = reader_matches_groups(reader, all);
        reply_destroy(all);
    }
    say_what_is_partial(reader, &reply->groups.list);
    int64_t cost = clock_mono() - now;
    reader->groups.send_at = clock_mono() + (cost * 4 > SEND_EVERY ? cost * 4 : SEND_EVERY);
    reader->groups.sent_minute = minute;
    reader->groups.is_dirty = false;
    reader_send_status(reader);
    if (reader->groups.number)
        session_reply(&reader->session, reply);
    else
        reply_destroy(reply);
}

void
reader_groups_request(struct reader *reader, const struct request *request)
{
    reader->groups.number = request->number;
    reader->groups.pivot = request->groups.pivot;
    reader->groups.has_within = request->groups.has_group;
    reader->groups.within = request->groups.group;
    reader->groups.is_merged = request->is_on;
    reader->groups.rank = request->groups.rank;
    reader->groups.is_reversed = request->groups.is_reversed;
    struct err err = {0};
    if (!reader_matches_request(reader, request, &err) || !reader_paths_request(reader, request, &err)) {
        session_error(&reader->session, request->number, &err);
        return;
    }
    if (reader->counts.backlog && reader->counts.has_rollup && reader->groups.pivot == PIVOT_HOUR &&
        !reader->session.link.is_lost && !reader_rollup_all_hours(reader, &err)) {
        session_failed(&reader->session, request->number, &err);
        return;
    }
    bool is_known = !reader->matches.is_on || reader->matches.is_whole;
    if (reader->counts.backlog && is_known && (!reader->counts.is_counting || reader->counts.scanned > 0))
        reader_backlog_send(reader, true);
}
