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
desk_backlog_begin(struct desk *desk)
{
    desk->poll_at = 0;
    desk->reconcile_at = 0;
    if (desk->backlog)
        return;
    desk->backlog = backlog_create();
    desk->is_summed = desk_sums_usable(desk);
    desk->rollup_token = 0;
    desk->scan_before = desk->scanned = 0;
    desk->is_counting = true;
    desk->is_dirty = true;
}

static struct group_text
describe(const struct event *event, const struct desk *desk, struct arena *arena)
{
    struct fingerprint print =
        fingerprint_explain(&(struct fingerprint_input){.message = event->error_message,
                                                        .stack = event->stack_trace,
                                                        .rules = desk->settings->store.group_rules},
                            arena);
    struct bytes line = event->error_message;
    size_t end = bytes_find(line, BYTES("\n"), 0);
    line = bytes_slice(line, 0, end == SIZE_MAX ? line.len : end);
    line.len = utf8_cut(line, SAMPLE_BYTES);
    bool is_overridden;
    enum category category =
        store_category(desk->store, print.key, print.root_class, print.pattern, &is_overridden);
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
describe_groups(struct desk *desk, const uint64_t *keys, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_ERROR | EVENT_STACK,
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(desk->store, &query, &page, err))
            return false;
        size_t end = at + event_page_answers(&page, &query);
        for (size_t row = 0; at < end; at++) {
            if (row >= page.count || page.events[row].id != ids[at])
                continue;
            struct group_text text = describe(&page.events[row++], desk, &page.arena);
            backlog_describe(desk->backlog, keys[at], &text);
        }
        event_page_release(&page);
    }
    return true;
}

// Groups are few, so this is a handful of rows once each.
static bool
describe_new_groups(struct desk *desk, struct err *err)
{
    uint64_t keys[DESCRIBE_AT_ONCE];
    int64_t ids[DESCRIBE_AT_ONCE];
    size_t cursor = 0;
    size_t count;
    do {
        count = 0;
        while (count < DESCRIBE_AT_ONCE &&
               backlog_undescribed(desk->backlog, &cursor, &keys[count], &ids[count]))
            count++;
        if (!describe_groups(desk, keys, ids, count, err))
            return false;
    } while (count == DESCRIBE_AT_ONCE);
    return true;
}

static bool
scan_page(struct desk *desk, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .before_id = desk->scan_before,
                                .limit = desk->scan_before ? SCAN_PAGE : SCAN_PAGE / 8};
    if (!store_events(desk->store, &query, &page, err))
        return false;

    backlog_add(desk->backlog, page.events, page.count);
    desk->scanned += (int64_t)page.count;
    bool is_over = page.count < query.limit;
    if (page.count)
        desk->scan_before = page.events[page.count - 1].id;
    event_page_release(&page);

    if (!describe_new_groups(desk, err))
        return false;
    desk->is_dirty = true;
    if (is_over) {
        desk->is_counting = false;
        desk->seen_highest = backlog_highest_id(desk->backlog);
        desk->poll_at = 0;
    }
    return true;
}

// Adds the pending events among these ids.
static bool
add_ids(struct desk *desk, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += SCAN_PAGE) {
        struct event_page page = {0};
        struct event_query query = {.fields = SCAN_FIELDS,
                                    .statuses = 1u << EVENT_PENDING,
                                    .ids = ids + at,
                                    .id_count = count - at < SCAN_PAGE ? count - at : SCAN_PAGE};
        if (!store_events(desk->store, &query, &page, err))
            return false;
        if (backlog_add(desk->backlog, page.events, page.count) > 0)
            desk->is_dirty = true;
        desk_list_arrived(desk, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

bool
desk_backlog_renew(struct desk *desk, const struct event *events, size_t count, struct err *err)
{
    if (desk->is_summed) {
        if (desk->rows)
            backlog_renew(desk->rows, events, count);
        return true;
    }
    if (backlog_renew(desk->backlog, events, count) > 0)
        desk->is_dirty = true;
    return describe_new_groups(desk, err);
}

bool
desk_backlog_arrivals(struct desk *desk, int64_t highest, bool *is_over, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = SCAN_FIELDS,
                                .statuses = 1u << EVENT_PENDING,
                                .after_id = desk->seen_highest,
                                .ascending = true,
                                .limit = SCAN_PAGE};
    if (!store_events(desk->store, &query, &page, err))
        return false;

    if (!desk->is_summed && backlog_add(desk->backlog, page.events, page.count) > 0)
        desk->is_dirty = true;
    desk_list_arrived(desk, page.events, page.count);
    *is_over = page.count < query.limit;
    if (page.count)
        desk->seen_highest = page.events[page.count - 1].id;
    if (*is_over && highest > desk->seen_highest)
        desk->seen_highest = highest;
    event_page_release(&page);
    return desk->is_summed || describe_new_groups(desk, err);
}

// Sequences are not commit order: rows with ids just below the highest may have appeared after it was looked
// at.
static bool
fetch_late(struct desk *desk, int64_t highest, struct err *err)
{
    struct event_page page = {0};
    struct event_query query = {.fields = 0,
                                .statuses = 1u << EVENT_PENDING,
                                .after_id = highest > LATE_WINDOW ? highest - LATE_WINDOW : 0,
                                .before_id = highest + 1,
                                .ascending = true,
                                .limit = LATE_WINDOW};
    if (!store_events(desk->store, &query, &page, err))
        return false;

    int64_t *late = alloc_array(page.count, sizeof *late);
    size_t count = 0;
    uint64_t key;
    for (size_t i = 0; i < page.count; i++)
        if (!backlog_group_of(desk->backlog, page.events[i].id, &key))
            late[count++] = page.events[i].id;
    event_page_release(&page);

    bool ok = add_ids(desk, late, count, err) && describe_new_groups(desk, err);
    free(late);
    return ok;
}

struct id_set {
    int64_t *ids;
    size_t count;
    size_t capacity;
    struct desk *desk;
};

static bool
collect_ids(void *context, const int64_t *ids, size_t count)
{
    struct id_set *set = context;
    for (size_t i = 0; i < count; i++) {
        set->ids = alloc_grow(set->ids, set->count, &set->capacity, sizeof *set->ids);
        set->ids[set->count++] = ids[i];
    }
    return !set->desk->is_stopping;
}

bool
desk_backlog_compare(struct desk *desk, struct backlog *backlog, int64_t **missing, size_t *count,
                     struct err *err)
{
    struct id_set set = {.desk = desk};
    int64_t highest = desk->seen_highest;
    *missing = NULL;
    *count = 0;
    bool ok = store_pending_ids(desk->store, collect_ids, &set, err);
    if (ok)
        backlog_reconcile(backlog, set.ids, set.count, highest, missing, count);
    free(set.ids);
    return ok;
}

static bool
reconcile(struct desk *desk, struct err *err)
{
    int64_t *missing;
    size_t missing_count;
    int64_t began = clock_mono();
    if (!desk_backlog_compare(desk, desk->backlog, &missing, &missing_count, err))
        return false;
    bool ok = add_ids(desk, missing, missing_count, err) && describe_new_groups(desk, err);
    free(missing);

    int64_t cost = clock_mono() - began;
    int64_t pause = cost * 5 > US_PER_SECOND ? cost * 5 : US_PER_SECOND;
    desk->reconcile_at = clock_mono() + pause;
    desk->is_dirty = true;
    return ok;
}

// A look at what changed behind our back. The count is exact and cheap; only when it does not agree the ids
// are compared.
static bool
look(struct desk *desk, struct err *err)
{
    int64_t pending;
    int64_t highest;
    if (!store_pending_count(desk->store, &pending, &highest, err))
        return false;

    bool is_over = true;
    if (highest > desk->seen_highest && !desk_backlog_arrivals(desk, highest, &is_over, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(desk->backlog, highest) < pending &&
        !fetch_late(desk, highest, err))
        return false;
    if (is_over && (int64_t)backlog_count_upto(desk->backlog, highest) != pending &&
        clock_mono() >= desk->reconcile_at && !reconcile(desk, err))
        return false;

    if (pending == 0 && desk->pending != 0 &&
        !store_last_closed(desk->store, &desk->last_closed_at, desk->last_closed_by, err))
        return false;
    desk->pending = pending;
    if (!store_now(desk->store, &desk->as_of, err))
        return false;
    desk->poll_at = is_over ? clock_mono() + desk->settings->refresh_us : 0;
    return true;
}

bool
desk_backlog_step(struct desk *desk)
{
    struct err err = {0};
    if (desk->is_counting && !desk->is_summed) {
        if (!scan_page(desk, &err))
            return desk_failed(desk, 0, &err);
        desk_backlog_tell(desk, false);
        return true;
    }
    if (clock_mono() < desk->poll_at)
        return false;
    if (!(desk->is_summed ? desk_sums_look : look)(desk, &err)) {
        desk->poll_at = clock_mono() + desk->settings->refresh_us;
        return desk_failed(desk, 0, &err);
    }
    desk_backlog_tell(desk, false);
    desk_tell_status(desk);
    return true;
}

void
desk_backlog_tell(struct desk *desk, bool is_forced)
{
    int64_t now = clock_mono();
    if (!desk->backlog)
        return;
    if (!is_forced && (desk->is_held || now < desk->tell_at))
        return;
    // Rates and the last hour fade with each minute, although nothing arrives.
    int64_t minute = clock_now() / MINUTE;
    if (!is_forced && !desk->is_dirty && minute == desk->told_minute)
        return;

    struct reply *reply = reply_create(REPLY_GROUPS, desk->groups_number);
    reply->pivot = desk->pivot;
    if (desk->is_merged && desk->pivot == PIVOT_ERROR && !desk->has_within)
        backlog_groups_merged(desk->backlog, clock_now(), &reply->arena, &reply->groups, &reply->parts);
    else
        backlog_groups(desk->backlog, desk->pivot, desk->has_within ? &desk->within : NULL, clock_now(),
                       &reply->arena, &reply->groups);
    reply->is_last = !desk->is_counting;
    if (!desk->has_within) {
        memcpy(desk->spark, reply->groups.spark, sizeof desk->spark);
        desk->per_minute = reply->groups.per_minute;
    }
    int64_t cost = clock_mono() - now;
    desk->tell_at = clock_mono() + (cost * 4 > TELL_EVERY ? cost * 4 : TELL_EVERY);
    desk->told_minute = minute;
    desk->is_dirty = false;
    desk_tell_status(desk);
    if (desk->groups_number)
        desk_reply(desk, reply);
    else
        reply_destroy(reply);
}

void
desk_groups_request(struct desk *desk, const struct request *request)
{
    desk->groups_number = request->number;
    desk->pivot = request->pivot;
    desk->has_within = request->has_group;
    desk->within = request->group;
    desk->is_merged = request->is_on;
    struct err err = {0};
    if (desk->backlog && desk->is_summed && desk->pivot == PIVOT_HOUR && !desk->is_lost &&
        !desk_sums_all_hours(desk, &err)) {
        desk_failed(desk, request->number, &err);
        return;
    }
    if (desk->backlog && (!desk->is_counting || desk->scanned > 0))
        desk_backlog_tell(desk, true);
}
