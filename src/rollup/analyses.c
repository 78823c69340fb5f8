#include "rollup/analyses.h"

#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "store/rollup/rollup.h"
#include "store/rollup/stats_closed.h"

static const int64_t HOUR = 3600 * US_PER_SECOND; // of the rollup: they begin at whole hours of UTC

static void
take_errors(const struct backlog *backlog, struct arena *arena, struct stats *stats)
{
    struct group_list list;
    const struct group_limit limit = {.most = STATS_ERRORS, .rank = RANK_COUNT};
    backlog_groups_limited(backlog, PIVOT_ERROR, NULL, &limit, clock_now(), arena, &list);
    stats->error_count = list.count;
    stats->errors = arena_array(arena, stats->error_count, sizeof *stats->errors);
    for (size_t i = 0; i < stats->error_count; i++) {
        const struct event_group *group = &list.groups[i];
        stats->errors[i] = (struct stats_error){.message = group->text.sample ? group->text.sample : "",
                                                .group = group->key,
                                                .count = group->count,
                                                .first_at = group->first_at,
                                                .last_at = group->last_at};
    }
}

// --- hours ---

static void
add_to_hour(struct stats *stats, int64_t hour, int64_t count)
{
    int64_t at = stats->hour_count && hour != TIME_ABSENT ? (hour - stats->hours[0].hour) / HOUR : -1;
    if (at >= 0 && hour >= stats->hours[0].hour && (size_t)at < stats->hour_count)
        stats->hours[at].count += count;
}

static void
take_hours(const struct backlog *backlog, const struct stats_closed *closed, struct arena *arena,
           struct stats *stats)
{
    struct group_list list;
    backlog_groups(backlog, PIVOT_HOUR, NULL, clock_now(), arena, &list);
    stats->hour_count = closed->hour_count;
    stats->hours = arena_array(arena, closed->hour_count, sizeof *stats->hours);
    for (size_t i = 0; i < closed->hour_count; i++)
        stats->hours[i].hour = closed->hours[i];
    for (size_t i = 0; i < list.count; i++)
        add_to_hour(stats, list.groups[i].value[0] ? list.groups[i].first_at : TIME_ABSENT,
                    list.groups[i].count);
    for (size_t i = 0; i < closed->count; i++) {
        const struct stats_closed_row *row = &closed->rows[i];
        add_to_hour(stats, row->hour, row->resolved + row->discarded + row->other);
    }
}

// The hours of the table's zone are those of the rollup: whole ones, one after another.
static bool
has_hours_of_rollup(const struct stats_closed *closed)
{
    bool is = true;
    for (size_t i = 0; is && i < closed->hour_count; i++)
        is = closed->hours[i] == closed->hours[0] + (int64_t)i * HOUR && closed->hours[i] % HOUR == 0;
    return is;
}

// --- types ---

struct typed {
    struct stats_type type;
    int64_t timed;
    double seconds;
};

static int
compare_names(const char *a, const char *b)
{
    return bytes_compare(bytes_of(a), bytes_of(b));
}

static int
by_name(const void *left, const void *right)
{
    return compare_names(((const struct typed *)left)->type.event_type,
                         ((const struct typed *)right)->type.event_type);
}

static int
by_total(const void *left, const void *right)
{
    const struct typed *a = left, *b = right;
    if (a->type.total != b->type.total)
        return a->type.total < b->type.total ? 1 : -1;
    return by_name(left, right);
}

static int
by_timed(const void *left, const void *right)
{
    const struct stats_resolution *a = left, *b = right;
    if (a->resolved != b->resolved)
        return a->resolved < b->resolved ? 1 : -1;
    return compare_names(a->event_type, b->event_type);
}

// Rows of the same type become one; returns how many are left.
static size_t
fold_types(struct typed *all, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_name(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        struct typed *into = &all[kept - 1];
        into->type.total += all[i].type.total;
        into->type.pending += all[i].type.pending;
        into->type.resolved += all[i].type.resolved;
        into->timed += all[i].timed;
        into->seconds += all[i].seconds;
    }
    if (kept)
        qsort(all, kept, sizeof *all, by_total);
    return kept;
}

static void
take_types(const struct group_list *pending, const struct stats_closed *closed, struct arena *arena,
           struct stats *stats)
{
    struct typed *all = alloc_array(pending->count + closed->count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < pending->count; i++) {
        const struct event_group *group = &pending->groups[i];
        all[count++].type = (struct stats_type){.event_type = group->value[0] ? group->value : NULL,
                                                .total = group->count,
                                                .pending = group->count};
    }
    for (size_t i = 0; i < closed->count; i++) {
        const struct stats_closed_row *row = &closed->rows[i];
        all[count++] = (struct typed){.type = {.event_type = row->event_type,
                                               .total = row->resolved + row->discarded + row->other,
                                               .resolved = row->resolved},
                                      .timed = row->timed,
                                      .seconds = row->seconds};
    }
    stats->type_count = fold_types(all, count);
    stats->types = arena_array(arena, stats->type_count, sizeof *stats->types);
    stats->resolutions = arena_array(arena, stats->type_count, sizeof *stats->resolutions);
    for (size_t i = 0; i < stats->type_count; i++) {
        stats->types[i] = all[i].type;
        if (all[i].timed > 0)
            stats->resolutions[stats->resolution_count++] =
                (struct stats_resolution){.event_type = all[i].type.event_type,
                                          .resolved = all[i].timed,
                                          .mean_seconds = all[i].seconds / (double)all[i].timed};
    }
    if (stats->resolution_count)
        qsort(stats->resolutions, stats->resolution_count, sizeof *stats->resolutions, by_timed);
    free(all);
}

// --- all of them ---

static void
take_pending(const struct group_list *pending, const struct stats_closed *closed, struct stats *stats)
{
    stats->pending.pending = pending->events;
    for (size_t i = 0; i < closed->count; i++) {
        stats->pending.resolved += closed->rows[i].resolved;
        stats->pending.discarded += closed->rows[i].discarded;
        stats->pending.other += closed->rows[i].other;
    }
}

struct closed_ahead {
    struct lane *lane;
    struct arena arena;
    struct stats_closed closed;
    bool is_read;
};

static void
read_ahead(struct lane *lane, void *job)
{
    struct closed_ahead *ahead = job;
    struct store *store = lane_connection(lane);
    struct err ignored = {0}; // the caller reads by its own connection, which says what is wrong
    ahead->is_read =
        store_connect(store, &ignored) && stats_closed_read(store, &ahead->arena, &ahead->closed, &ignored);
    (void)!lane_put(lane, ahead);
}

struct closed_ahead *
closed_ahead_start(const struct store_settings *settings)
{
    struct closed_ahead *ahead = alloc_bytes(sizeof *ahead);
    ahead->lane = lane_create(&(struct lane_settings){.name = "closed",
                                                      .work = read_ahead,
                                                      .connection = store_create(settings),
                                                      .interrupt = store_lane_interrupt,
                                                      .close = store_lane_close,
                                                      .jobs = 1,
                                                      .results = 1});
    (void)!lane_give(ahead->lane, ahead, 0);
    return ahead;
}

void
closed_ahead_stop(struct closed_ahead *ahead)
{
    if (!ahead)
        return;
    lane_destroy(ahead->lane);
    arena_release(&ahead->arena);
    free(ahead);
}

static bool
read_closed(struct store *store, struct closed_ahead *ahead, struct arena *arena, struct stats_closed *closed,
            struct err *err)
{
    bool is_read = ahead && lane_take(ahead->lane, -1) && ahead->is_read;
    if (is_read)
        *closed = ahead->closed;
    return is_read || stats_closed_read(store, arena, closed, err);
}

// Whole seconds of the oldest and the newest.
static void
bounds_of(const struct group_list *types, int64_t *first_at, int64_t *last_at)
{
    *first_at = *last_at = TIME_ABSENT;
    for (size_t i = 0; i < types->count; i++) {
        const struct event_group *group = &types->groups[i];
        if (group->first_at != TIME_ABSENT && (*first_at == TIME_ABSENT || group->first_at < *first_at))
            *first_at = group->first_at;
        if (group->last_at != TIME_ABSENT && (*last_at == TIME_ABSENT || group->last_at > *last_at))
            *last_at = group->last_at;
    }
}

// Pending events out of the rollup, closed ones out of the table. *is_read false: not in this zone.
static bool
read_with_rollup(struct store *store, const struct backlog *backlog, struct closed_ahead *ahead,
                 struct arena *arena, struct stats *stats, bool *is_read, struct err *err)
{
    struct group_list types;
    struct stats_closed closed;
    int64_t first_at, last_at;
    *is_read = false;
    if (store_info(store)->zone_us % HOUR != 0)
        return true;
    backlog_groups(backlog, PIVOT_TYPE, NULL, clock_now(), arena, &types);
    bounds_of(&types, &first_at, &last_at);
    *stats = (struct stats){0};
    if (!stats_bounds_read(store, first_at, last_at, &stats->pending.oldest_at, &stats->pending.newest_at,
                           err) ||
        !read_closed(store, ahead, arena, &closed, err))
        return false;
    *is_read = has_hours_of_rollup(&closed);
    if (!*is_read)
        return true;
    take_pending(&types, &closed, stats);
    take_hours(backlog, &closed, arena, stats);
    take_types(&types, &closed, arena, stats);
    return true;
}

bool
analyses_read(struct store *store, bool has_rollup, struct closed_ahead *ahead, struct arena *arena,
              struct stats *stats, struct err *err)
{
    struct backlog *backlog = backlog_create();
    bool is_read = false;
    bool ok = !has_rollup || (rollup_read(store, backlog, true, err) &&
                              read_with_rollup(store, backlog, ahead, arena, stats, &is_read, err));
    ok = ok && (is_read || stats_read(store, has_rollup, arena, stats, err));
    if (ok && has_rollup)
        take_errors(backlog, arena, stats);
    backlog_destroy(backlog);
    return ok;
}
