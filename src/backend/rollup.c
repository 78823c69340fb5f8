// The backlog out of the rollup in the database: some hundred rows instead of all events.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const int64_t LOOK_WHILE_COUNTING = US_PER_SECOND / 20;
static const int64_t READ_WHILE_COUNTING = US_PER_SECOND / 5; // a look is cheap, reading takes from the count
static const int64_t READING = 4; // reading takes at most one part in so many of the time
static const int64_t LATE_AFTER = 5 * US_PER_SECOND;
static const int64_t UNKEPT_AFTER = 3 * US_PER_SECOND; // a maintainer takes a moment to begin

bool
reader_rollup_usable(struct reader *reader)
{
    struct rollup_state state;
    if (store_info(reader->session.store)->schema_version == 0 ||
        !rollup_state(reader->session.store, &state, NULL))
        return false;
    if (state.exists && !state.is_ours && !state.may_keep)
        return false;
    return state.may_keep || (state.is_kept && state.is_ours);
}

// Nobody maintains the rollup, and this screen may not.
static bool
are_stale(const struct rollup_state *state)
{
    return !state->may_keep && (!state->is_ours || !state->is_kept);
}

// A maintainer that cannot read the table keeps nothing and tells nobody on the screen: reads it here, so
// that the error is this screen's own.
static bool
look_why_unkept(struct reader *reader, const struct rollup_state *state, struct err *err)
{
    int64_t lowest, highest, now = clock_mono();
    if (state->is_kept || reader->counts.unkept_at == 0) {
        reader->counts.unkept_at = state->is_kept ? 0 : now;
        return true;
    }
    if (now - reader->counts.unkept_at < UNKEPT_AFTER)
        return true;
    reader->counts.unkept_at = now;
    return store_id_bounds(reader->session.store, &lowest, &highest, err);
}

static bool
send_arrivals(struct reader *reader, int64_t highest, struct err *err)
{
    bool is_over = true;
    if (highest <= reader->counts.seen_highest)
        return true;
    bool is_followed =
        reader->list.number && !reader->list.is_running && reader->list.query.source == LIST_PENDING;
    if (!is_followed && !reader->matches.is_on) {
        reader->counts.seen_highest = highest;
        return true;
    }
    return reader_backlog_arrivals(reader, highest, &is_over, err);
}

static bool
read_rollup(struct reader *reader, bool all_hours, struct err *err)
{
    int64_t began = clock_mono();
    backlog_keep_texts(reader->counts.backlog, GROUPS_AT_ONCE);
    if (!rollup_read(reader->session.store, reader->counts.backlog, all_hours, err))
        return false;
    int64_t now = clock_mono(), pause = (now - began) * READING;
    reader->counts.has_all_hours = all_hours;
    reader->counts.is_partial = reader->counts.is_counting || reader->counts.is_listing;
    reader->counts.read_at =
        now + (reader->counts.is_counting && pause < READ_WHILE_COUNTING ? READ_WHILE_COUNTING : pause);
    reader->groups.is_dirty = true;
    reader->counts.pending = (int64_t)backlog_count(reader->counts.backlog);
    return true;
}

bool
reader_rollup_look(struct reader *reader, struct err *err)
{
    struct rollup_state state;
    if (!reader_categories_look(reader, err) || !rollup_state(reader->session.store, &state, err))
        return false;
    if (are_stale(&state)) {
        reader->counts.has_rollup = false;
        backlog_destroy(reader->counts.backlog);
        reader->counts.backlog = NULL;
        reader_backlog_begin(reader);
        return true;
    }
    if (!look_why_unkept(reader, &state, err))
        return false;
    bool was_counting = reader->counts.is_counting;
    bool was_partial = was_counting || reader->counts.is_listing;
    int64_t was_behind = reader->counts.behind;
    bool is_ours = state.exists && state.is_ours; // else the maintainer is about to start over
    reader->counts.is_counting = !is_ours || state.is_counting;
    reader->counts.is_listing = is_ours && state.is_listing;
    if (was_counting && !reader->counts.is_counting)
        reader->groups.send_at = 0; // that it is exact now is what people wait for
    // Arrivals of the last moments are always on their way: only a lasting delay is reported.
    bool is_late = state.exact_at == TIME_ABSENT || state.as_of - state.exact_at > LATE_AFTER;
    reader->counts.behind = reader->counts.is_counting || !is_late ? 0 : state.behind;
    reader->counts.scanned = is_ours ? state.counted : 0;
    // Which events returned is known by id: what was read before all ids were listed lacks some.
    if (was_partial && !reader->counts.is_counting && !reader->counts.is_listing)
        reader->counts.rollup_token = 0;
    bool is_due = (was_counting && !reader->counts.is_counting) || clock_mono() >= reader->counts.read_at;
    if (is_ours && is_due && state.token != reader->counts.rollup_token) {
        if (!read_rollup(reader, reader->groups.pivot == PIVOT_HOUR, err))
            return false;
        reader->counts.rollup_token = state.token;
    }
    if (!is_ours)
        reader->counts.rollup_token = 0;
    reader->groups.is_dirty |=
        was_counting != reader->counts.is_counting || was_behind != reader->counts.behind;

    if (is_ours && !send_arrivals(reader, state.highest, err))
        return false;
    if (!reader->counts.is_counting && reader->counts.pending == 0 &&
        reader->counts.last_closed_at == TIME_ABSENT &&
        !store_last_closed(reader->session.store, &reader->counts.last_closed_at,
                           reader->counts.last_closed_by, err))
        return false;
    if (reader->counts.pending > 0)
        reader->counts.last_closed_at = TIME_ABSENT;
    reader->counts.as_of = state.as_of;
    int64_t pause = reader->session.settings->refresh_us;
    if ((reader->counts.is_counting || reader->counts.is_listing) && pause > LOOK_WHILE_COUNTING)
        pause = LOOK_WHILE_COUNTING;
    reader->counts.poll_at = clock_mono() + pause;
    return true;
}

bool
reader_rollup_readable(const struct reader *reader)
{
    return !reader->counts.has_rollup || (!reader->counts.is_counting && !reader->counts.is_listing);
}

bool
reader_rollup_all_hours(struct reader *reader, struct err *err)
{
    return reader->counts.has_all_hours || read_rollup(reader, true, err);
}

// --- lists ---

static struct rollup_list *
make_list(struct reader *reader, const struct list_job *job)
{
    struct rollup_list *list = alloc_bytes(sizeof *list);
    list->pivot = job->query.pivot;
    list->value = job->query.has_value ? job->query.value : NULL;
    list->oldest_first = job->query.oldest_first;
    enum category category;
    if (list->pivot == PIVOT_CATEGORY && list->value) {
        if (!category_parse(bytes_of(list->value), &category))
            category = CATEGORY_COUNT;
        list->groups = backlog_keys_of(reader->counts.backlog, category, &list->group_count);
    }
    return list;
}

void
reader_rollup_forget(struct list_job *list)
{
    if (list->others)
        free(list->others->groups);
    free(list->others);
    list->others = NULL;
}

bool
reader_rollup_ids(struct reader *reader, struct list_job *list, size_t first, struct err *err)
{
    list->others = make_list(reader, list);
    list->candidates = alloc_array(first, sizeof *list->candidates);
    if (!rollup_first_ids(reader->session.store, list->others, list->candidates, first,
                          &list->candidate_count, err)) {
        reader_rollup_forget(list);
        return false;
    }
    if (list->candidate_count < first)
        reader_rollup_forget(list);
    return true;
}

struct appending {
    struct reader *reader;
    struct list_job *list;
    size_t capacity;
};

// The ids of a whole backlog take a while: another list, or the end of this one, does not wait for them.
static bool
asks_for_list(const void *message)
{
    const struct request *request = message;
    return request->kind == REQUEST_LIST || request->kind == REQUEST_CANCEL;
}

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
    const struct session *session = &appending->reader->session;
    return !session->is_stopping && !mailbox_has(session->inbox, asks_for_list);
}

bool
reader_rollup_other_ids(struct reader *reader, struct list_job *list, struct err *err)
{
    struct appending appending = {.reader = reader, .list = list, .capacity = list->candidate_count};
    size_t before = list->candidate_count;
    bool ok = rollup_other_ids(reader->session.store, list->others, append_ids, &appending, err);
    if (!ok)
        list->candidate_count = before; // they are read again
    else
        reader_rollup_forget(list);
    return ok;
}
