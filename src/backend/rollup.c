// The backlog out of sums that somebody keeps in the database: some hundred rows instead of all events.
#include "backend/session.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const int64_t LOOK_WHILE_COUNTING = US_PER_SECOND / 20;
static const int64_t READ_WHILE_COUNTING = US_PER_SECOND / 5; // a look is cheap, reading takes from the count
static const int64_t LATE_AFTER = 5 * US_PER_SECOND;

bool
desk_sums_usable(struct desk *desk)
{
    struct rollup_state state;
    if (store_info(desk->store)->schema_version == 0 || !rollup_state(desk->store, &state, NULL))
        return false;
    if (state.exists && !state.is_ours && !state.may_keep)
        return false;
    return state.may_keep || (state.is_kept && state.is_ours);
}

// The sums stopped to be those of the table: nobody keeps them, and this screen may not.
static bool
are_stale(const struct rollup_state *state)
{
    return !state->may_keep && (!state->is_ours || !state->is_kept);
}

static bool
tell_arrivals(struct desk *desk, int64_t highest, struct err *err)
{
    bool is_over = true;
    if (highest <= desk->seen_highest)
        return true;
    if (!desk->list.number || desk->list.is_running || desk->list.query.source != LIST_PENDING) {
        desk->seen_highest = highest;
        return true;
    }
    return desk_backlog_arrivals(desk, highest, &is_over, err);
}

static bool
read_sums(struct desk *desk, bool all_hours, struct err *err)
{
    if (!rollup_read(desk->store, desk->backlog, all_hours, err))
        return false;
    desk->has_all_hours = all_hours;
    desk->read_at = clock_mono() + READ_WHILE_COUNTING;
    desk->is_dirty = true;
    desk->pending = (int64_t)backlog_count(desk->backlog);
    return true;
}

bool
desk_sums_look(struct desk *desk, struct err *err)
{
    struct rollup_state state;
    if (!desk_categories_look(desk, err) || !rollup_state(desk->store, &state, err))
        return false;
    if (are_stale(&state)) {
        desk->is_summed = false;
        backlog_destroy(desk->backlog);
        desk->backlog = NULL;
        desk_backlog_begin(desk);
        return true;
    }
    bool was_counting = desk->is_counting;
    int64_t was_behind = desk->behind;
    bool is_ours = state.exists && state.is_ours; // else the keeper is about to begin anew
    desk->is_counting = !is_ours || state.is_counting;
    desk->is_listing = is_ours && state.is_listing;
    if (was_counting && !desk->is_counting)
        desk->tell_at = 0; // that it is exact now is what people wait for
    // Arrivals of the last moments are always on their way: only what lasts is told.
    bool is_late = state.exact_at == TIME_ABSENT || state.as_of - state.exact_at > LATE_AFTER;
    desk->behind = desk->is_counting || !is_late ? 0 : state.behind;
    desk->scanned = is_ours ? state.counted : 0;
    bool is_due = !desk->is_counting || clock_mono() >= desk->read_at;
    if (is_ours && is_due && state.token != desk->rollup_token) {
        if (!read_sums(desk, desk->pivot == PIVOT_HOUR, err))
            return false;
        desk->rollup_token = state.token;
    }
    if (!is_ours)
        desk->rollup_token = 0;
    desk->is_dirty |= was_counting != desk->is_counting || was_behind != desk->behind;

    if (is_ours && !tell_arrivals(desk, state.highest, err))
        return false;
    if (!desk->is_counting && desk->pending == 0 && desk->last_closed_at == TIME_ABSENT &&
        !store_last_closed(desk->store, &desk->last_closed_at, desk->last_closed_by, err))
        return false;
    if (desk->pending > 0)
        desk->last_closed_at = TIME_ABSENT;
    desk->as_of = state.as_of;
    int64_t pause = desk->settings->refresh_us;
    if ((desk->is_counting || desk->is_listing) && pause > LOOK_WHILE_COUNTING)
        pause = LOOK_WHILE_COUNTING;
    desk->poll_at = clock_mono() + pause;
    return true;
}

bool
desk_sums_readable(const struct desk *desk)
{
    return !desk->is_summed || (!desk->is_counting && !desk->is_listing);
}

bool
desk_sums_all_hours(struct desk *desk, struct err *err)
{
    return desk->has_all_hours || read_sums(desk, true, err);
}

// --- lists ---

static struct rollup_list *
make_list(struct desk *desk, const struct list_job *job)
{
    struct rollup_list *list = alloc_bytes(sizeof *list);
    list->pivot = job->query.pivot;
    list->value = job->query.has_value ? job->query.value : NULL;
    list->oldest_first = job->query.oldest_first;
    enum category category;
    if (list->pivot == PIVOT_KIND && list->value) {
        if (!category_parse(bytes_of(list->value), &category))
            category = CATEGORY_COUNT;
        list->groups = backlog_keys_of(desk->backlog, category, &list->group_count);
    }
    return list;
}

void
desk_sums_forget(struct list_job *list)
{
    if (list->others)
        free(list->others->groups);
    free(list->others);
    list->others = NULL;
}

bool
desk_sums_ids(struct desk *desk, struct list_job *list, size_t first, struct err *err)
{
    list->others = make_list(desk, list);
    list->candidates = alloc_array(first, sizeof *list->candidates);
    if (!rollup_first_ids(desk->store, list->others, list->candidates, first, &list->candidate_count, err)) {
        desk_sums_forget(list);
        return false;
    }
    if (list->candidate_count < first)
        desk_sums_forget(list);
    return true;
}

struct appending {
    struct desk *desk;
    struct list_job *list;
    size_t capacity;
};

static bool
append_ids(void *context, const int64_t *ids, size_t count)
{
    struct appending *appending = context;
    struct list_job *list = appending->list;
    size_t wanted = size_add(list->candidate_count, count);
    if (wanted > appending->capacity) {
        appending->capacity = wanted + wanted / 4;
        list->candidates = alloc_resize(list->candidates, appending->capacity, sizeof *list->candidates);
    }
    memcpy(list->candidates + list->candidate_count, ids, count * sizeof *ids);
    list->candidate_count = wanted;
    return !appending->desk->is_stopping;
}

bool
desk_sums_other_ids(struct desk *desk, struct list_job *list, struct err *err)
{
    struct appending appending = {.desk = desk, .list = list, .capacity = list->candidate_count};
    size_t before = list->candidate_count;
    bool ok = rollup_other_ids(desk->store, list->others, append_ids, &appending, err);
    if (!ok)
        list->candidate_count = before; // they are read again
    else
        desk_sums_forget(list);
    return ok;
}
