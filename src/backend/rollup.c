// The backlog out of sums that somebody keeps in the database: some hundred rows instead of all events.
#include "backend/session.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const int64_t LOOK_WHILE_COUNTING = US_PER_SECOND / 20;
static const int64_t READ_WHILE_COUNTING = US_PER_SECOND / 5; // a look is cheap, reading takes from the count
static const int64_t LATE_AFTER = 5 * US_PER_SECOND;

bool
session_rollup_usable(struct session *session)
{
    struct rollup_state state;
    if (store_info(session->store)->schema_version == 0 || !rollup_state(session->store, &state, NULL))
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
tell_arrivals(struct session *session, int64_t highest, struct err *err)
{
    bool is_over = true;
    if (highest <= session->seen_highest)
        return true;
    if (!session->list.number || session->list.is_running || session->list.query.source != LIST_PENDING) {
        session->seen_highest = highest;
        return true;
    }
    return session_backlog_arrivals(session, highest, &is_over, err);
}

static bool
read_rollup(struct session *session, bool all_hours, struct err *err)
{
    if (!rollup_read(session->store, session->backlog, all_hours, err))
        return false;
    session->has_all_hours = all_hours;
    session->read_at = clock_mono() + READ_WHILE_COUNTING;
    session->is_dirty = true;
    session->pending = (int64_t)backlog_count(session->backlog);
    return true;
}

bool
session_rollup_look(struct session *session, struct err *err)
{
    struct rollup_state state;
    if (!session_categories_look(session, err) || !rollup_state(session->store, &state, err))
        return false;
    if (are_stale(&state)) {
        session->has_rollup = false;
        backlog_destroy(session->backlog);
        session->backlog = NULL;
        session_backlog_begin(session);
        return true;
    }
    bool was_counting = session->is_counting;
    int64_t was_behind = session->behind;
    bool is_ours = state.exists && state.is_ours; // else the maintainer is about to begin anew
    session->is_counting = !is_ours || state.is_counting;
    session->is_listing = is_ours && state.is_listing;
    if (was_counting && !session->is_counting)
        session->tell_at = 0; // that it is exact now is what people wait for
    // Arrivals of the last moments are always on their way: only what lasts is told.
    bool is_late = state.exact_at == TIME_ABSENT || state.as_of - state.exact_at > LATE_AFTER;
    session->behind = session->is_counting || !is_late ? 0 : state.behind;
    session->scanned = is_ours ? state.counted : 0;
    bool is_due = !session->is_counting || clock_mono() >= session->read_at;
    if (is_ours && is_due && state.token != session->rollup_token) {
        if (!read_rollup(session, session->pivot == PIVOT_HOUR, err))
            return false;
        session->rollup_token = state.token;
    }
    if (!is_ours)
        session->rollup_token = 0;
    session->is_dirty |= was_counting != session->is_counting || was_behind != session->behind;

    if (is_ours && !tell_arrivals(session, state.highest, err))
        return false;
    if (!session->is_counting && session->pending == 0 && session->last_closed_at == TIME_ABSENT &&
        !store_last_closed(session->store, &session->last_closed_at, session->last_closed_by, err))
        return false;
    if (session->pending > 0)
        session->last_closed_at = TIME_ABSENT;
    session->as_of = state.as_of;
    int64_t pause = session->settings->refresh_us;
    if ((session->is_counting || session->is_listing) && pause > LOOK_WHILE_COUNTING)
        pause = LOOK_WHILE_COUNTING;
    session->poll_at = clock_mono() + pause;
    return true;
}

bool
session_rollup_readable(const struct session *session)
{
    return !session->has_rollup || (!session->is_counting && !session->is_listing);
}

bool
session_rollup_all_hours(struct session *session, struct err *err)
{
    return session->has_all_hours || read_rollup(session, true, err);
}

// --- lists ---

static struct rollup_list *
make_list(struct session *session, const struct list_job *job)
{
    struct rollup_list *list = alloc_bytes(sizeof *list);
    list->pivot = job->query.pivot;
    list->value = job->query.has_value ? job->query.value : NULL;
    list->oldest_first = job->query.oldest_first;
    enum category category;
    if (list->pivot == PIVOT_KIND && list->value) {
        if (!category_parse(bytes_of(list->value), &category))
            category = CATEGORY_COUNT;
        list->groups = backlog_keys_of(session->backlog, category, &list->group_count);
    }
    return list;
}

void
session_rollup_forget(struct list_job *list)
{
    if (list->others)
        free(list->others->groups);
    free(list->others);
    list->others = NULL;
}

bool
session_rollup_ids(struct session *session, struct list_job *list, size_t first, struct err *err)
{
    list->others = make_list(session, list);
    list->candidates = alloc_array(first, sizeof *list->candidates);
    if (!rollup_first_ids(session->store, list->others, list->candidates, first, &list->candidate_count,
                          err)) {
        session_rollup_forget(list);
        return false;
    }
    if (list->candidate_count < first)
        session_rollup_forget(list);
    return true;
}

struct appending {
    struct session *session;
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
    return !appending->session->is_stopping;
}

bool
session_rollup_other_ids(struct session *session, struct list_job *list, struct err *err)
{
    struct appending appending = {.session = session, .list = list, .capacity = list->candidate_count};
    size_t before = list->candidate_count;
    bool ok = rollup_other_ids(session->store, list->others, append_ids, &appending, err);
    if (!ok)
        list->candidate_count = before; // they are read again
    else
        session_rollup_forget(list);
    return ok;
}
