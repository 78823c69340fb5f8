// Keeps the backlog true: a scan from the newest event down, then short looks at what arrived and what went.
#include "backend/session.h"

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
    DESCRIBE_AT_ONCE = 64,
};
static const int64_t TELL_EVERY = 250000;
static const int64_t MINUTE = 60 * US_PER_SECOND;

static const unsigned SCAN_FIELDS = EVENT_GROUP | EVENT_COUNTED;

void
session_backlog_begin(struct session *session)
{
    session->poll_at = 0;
    session->reconcile_at = 0;
    if (session->backlog)
        return;
    session->backlog = backlog_create();
    session->has_rollup = session_rollup_usable(session);
    session->rollup_token = 0;
    session->scan_before = session->scanned = 0;
    session->is_counting = true;
    session->is_dirty = true;
}

static struct group_text
session_backlog_describe(const struct event *event, const struct session *session, struct arena *arena)
{
    struct fingerprint print =
        fingerprint_explain(&(struct fingerprint_input){.message = event->error_message,
                                                        .stack = event->stack_trace,
                                                        .rules = session->settings->store.group_rules},
                            arena);
    struct bytes line = event->error_message;
    size_t end = bytes_find(line, BYTES("\n"), 0);
    line = bytes_slice(line, 0, end == SIZE_MAX ? line.len : end);
    line.len = utf8_cut(line, SAMPLE_BYTES);
    bool is_overridden;
    enum category category =
        store_category(session->store, print.key, print.root_class, print.pattern, &is_overridden);
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
static bool
describe_groups(struct session *session, const uint64_t *keys, const int64_t *ids, size_t count,
                struct err *err)
{
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_ERROR | EVENT_STACK,
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(session->store, &query, &page, err))
            return false;
        size_t end = at + event_page_answers(&page, &query);
        for (size_t row = 0; at < end; at++) {
            if (row >= page.count || page.events[row].id != ids[at])
                continue;
            struct group_text text = session_backlog_describe(&page.events[row++], session, &page.arena);
            backlog_describe(session->backlog, keys[at], &text);
        }
        event_page_release(&page);
    }
    return true;
}

// Groups are few, so this is a handful of rows once each.
static bool
describe_new_groups(struct session *session, struct err *err)
{
    uint64_t keys[DESCRIBE_AT_ONCE];
    int64_t ids[DESCRIBE_AT_ONCE];
    size_t cursor = 0;
    size_t count;
    do {
        count = 0;
        while (count < DESCRIBE_AT_ONCE &&
               backlog_undescribed(session->backlog, &cursor, &keys[count], &ids[count]))
            count++;
        if (!describe_groups(session, keys, ids, count, err))
            return false;
    } while (count == DESCRIBE_AT_ONCE);
    return true;
}

static bool
scan_page(struct session *session, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .before_id = session->scan_before,
                                .limit = session->scan_before ? SCAN_PAGE : SCAN_PAGE / 8};
    if (!store_events(session->store, &query, &page, err))
        return false;

    backlog_add(session->backlog, page.events, page.count);
    session->scanned += (int64_t)page.count;
    bool is_over = page.count < query.limit;
    if (page.count)
        session->scan_before = page.events[page.count - 1].id;
    event_page_release(&page);

    if (!describe_new_groups(session, err))
        return false;
    session->is_dirty = true;
    if (is_over) {
        session->is_counting = false;
        session->seen_highest = backlog_highest_id(session->backlog);
        session->poll_at = 0;
    }
    return true;
}

// Adds the pending events among these ids.
static bool
session_backlog_add_ids(struct session *session, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += SCAN_PAGE) {
        struct event_page page = {0};
        struct event_query query = {.fields = SCAN_FIELDS,
                                    .statuses = 1u << EVENT_PENDING,
                                    .ids = ids + at,
                                    .id_count = count - at < SCAN_PAGE ? count - at : SCAN_PAGE};
        if (!store_events(session->store, &query, &page, err))
            return false;
        if (backlog_add(session->backlog, page.events, page.count) > 0)
            session->is_dirty = true;
        session_list_arrived(session, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

bool
session_backlog_renew(struct session *session, const struct event *events, size_t count, struct err *err)
{
    if (session->has_rollup) {
        if (session->rows)
            backlog_renew(session->rows, events, count);
        return true;
    }
    if (backlog_renew(session->backlog, events, count) > 0)
        session->is_dirty = true;
    return describe_new_groups(session, err);
}

bool
session_backlog_arrivals(struct session *session, int64_t highest, bool *is_over, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .after_id = session->seen_highest,
                                .ascending = true,
                                .limit = SCAN_PAGE};
    if (!store_events(session->store, &query, &page, err))
        return false;

    if (!session->has_rollup && backlog_add(session->backlog, page.events, page.count) > 0)
        session->is_dirty = true;
    session_list_arrived(session, page.events, page.count);
    *is_over = page.count < query.limit;
    if (page.count)
        session->seen_highest = page.events[page.count - 1].id;
    if (*is_over && highest > session->seen_highest)
        session->seen_highest = highest;
    event_page_release(&page);
    return session->has_rollup || describe_new_groups(session, err);
}

// Sequences are not commit order: rows with ids just below the highest may have appeared after it was looked
// at.
static bool
fetch_late(struct session *session, int64_t highest, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = 0,
                                .statuses = 1u << EVENT_PENDING,
                                .after_id = highest > LATE_WINDOW ? highest - LATE_WINDOW : 0,
                                .before_id = highest + 1,
                                .ascending = true,
                                .limit = LATE_WINDOW};
    if (!store_events(session->store, &query, &page, err))
        return false;

    int64_t *late = alloc_array(page.count, sizeof *late);
    size_t count = 0;
    uint64_t key;
    for (size_t i = 0; i < page.count; i++)
        if (!backlog_group_of(session->backlog, page.events[i].id, &key))
            late[count++] = page.events[i].id;
    event_page_release(&page);

    bool ok = session_backlog_add_ids(session, late, count, err) && describe_new_groups(session, err);
    free(late);
    return ok;
}

struct id_set {
    int64_t *ids;
    size_t count;
    size_t capacity;
    struct session *session;
};

static bool
collect_ids(void *context, const int64_t *ids, size_t count)
{
    struct id_set *set = context;
    for (size_t i = 0; i < count; i++) {
        set->ids = alloc_grow(set->ids, set->count, &set->capacity, sizeof *set->ids);
        set->ids[set->count++] = ids[i];
    }
    return !set->session->is_stopping;
}

bool
session_backlog_compare(struct session *session, struct backlog *backlog, int64_t **missing, size_t *count,
                        struct err *err)
{
    struct id_set set = {.session = session};
    int64_t highest = session->seen_highest;
    *missing = NULL;
    *count = 0;
    bool ok = store_pending_ids(session->store, collect_ids, &set, err);
    if (ok)
        backlog_reconcile(backlog, set.ids, set.count, highest, missing, count);
    free(set.ids);
    return ok;
}

static bool
reconcile(struct session *session, struct err *err)
{
    int64_t *missing;
    size_t missing_count;
    int64_t began = clock_mono();
    if (!session_backlog_compare(session, session->backlog, &missing, &missing_count, err))
        return false;
    bool ok =
        session_backlog_add_ids(session, missing, missing_count, err) && describe_new_groups(session, err);
    free(missing);

    int64_t cost = clock_mono() - began;
    int64_t pause = cost * 5 > US_PER_SECOND ? cost * 5 : US_PER_SECOND;
    session->reconcile_at = clock_mono() + pause;
    session->is_dirty = true;
    return ok;
}

// A look at what changed behind our back. The count is exact and cheap; only when it does not agree the ids
// are compared.
static bool
session_backlog_look(struct session *session, struct err *err)
{
    int64_t pending;
    int64_t highest;
    if (!store_pending_count(session->store, &pending, &highest, err))
        return false;

    bool is_over = true;
    if (highest > session->seen_highest && !session_backlog_arrivals(session, highest, &is_over, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(session->backlog, highest) < pending &&
        !fetch_late(session, highest, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(session->backlog, highest) != pending &&
        clock_mono() >= session->reconcile_at && !reconcile(session, err))
        return false;

    if (pending == 0 && session->pending != 0 &&
        !store_last_closed(session->store, &session->last_closed_at, session->last_closed_by, err))
        return false;
    session->pending = pending;
    if (!store_now(session->store, &session->as_of, err))
        return false;
    session->poll_at = is_over ? clock_mono() + session->settings->refresh_us : 0;
    return true;
}

bool
session_backlog_step(struct session *session)
{
    struct err err = {0};
    if (session->is_counting && !session->has_rollup) {
        if (!scan_page(session, &err))
            return session_failed(session, 0, &err);
        session_backlog_tell(session, false);
        return true;
    }
    if (clock_mono() < session->poll_at)
        return false;
    if (!(session->has_rollup ? session_rollup_look : session_backlog_look)(session, &err)) {
        session->poll_at = clock_mono() + session->settings->refresh_us;
        return session_failed(session, 0, &err);
    }
    session_backlog_tell(session, false);
    session_tell_status(session);
    return true;
}

void
session_backlog_tell(struct session *session, bool is_forced)
{
    int64_t now = clock_mono();
    if (!session->backlog)
        return;
    if (!is_forced && (session->is_held || now < session->tell_at))
        return;
    // Rates and the last hour fade with each minute, although nothing arrives.
    int64_t minute = clock_now() / MINUTE;
    if (!is_forced && !session->is_dirty && minute == session->told_minute)
        return;

    struct reply *reply = reply_create(REPLY_GROUPS, session->groups_number);
    reply->pivot = session->pivot;
    if (session->is_merged && session->pivot == PIVOT_ERROR && !session->has_within)
        backlog_groups_merged(session->backlog, clock_now(), &reply->arena, &reply->groups, &reply->parts);
    else
        backlog_groups(session->backlog, session->pivot, session->has_within ? &session->within : NULL,
                       clock_now(), &reply->arena, &reply->groups);
    reply->is_last = !session->is_counting;
    if (!session->has_within) {
        memcpy(session->spark, reply->groups.spark, sizeof session->spark);
        session->per_minute = reply->groups.per_minute;
    }
    int64_t cost = clock_mono() - now;
    session->tell_at = clock_mono() + (cost * 4 > TELL_EVERY ? cost * 4 : TELL_EVERY);
    session->told_minute = minute;
    session->is_dirty = false;
    session_tell_status(session);
    if (session->groups_number)
        session_reply(session, reply);
    else
        reply_destroy(reply);
}

void
session_groups_request(struct session *session, const struct request *request)
{
    session->groups_number = request->number;
    session->pivot = request->pivot;
    session->has_within = request->has_group;
    session->within = request->group;
    session->is_merged = request->is_on;
    struct err err = {0};
    if (session->backlog && session->has_rollup && session->pivot == PIVOT_HOUR && !session->is_lost &&
        !session_rollup_all_hours(session, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    if (session->backlog && (!session->is_counting || session->scanned > 0))
        session_backlog_tell(session, true);
}
