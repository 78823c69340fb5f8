#include "rollup/analyses.h"

#include "base/clock.h"
#include "store/rollup/rollup.h"

static void
take_errors(const struct backlog *backlog, struct arena *arena, struct stats *stats)
{
    struct group_list list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, clock_now(), arena, &list);
    stats->error_count = list.count < STATS_ERRORS ? list.count : STATS_ERRORS;
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

bool
analyses_read(struct store *store, bool has_rollup, struct arena *arena, struct stats *stats, struct err *err)
{
    struct backlog *backlog = backlog_create();
    bool ok = (!has_rollup || rollup_read(store, backlog, false, err)) &&
              stats_read(store, has_rollup, arena, stats, err);
    if (ok && has_rollup)
        take_errors(backlog, arena, stats);
    backlog_destroy(backlog);
    return ok;
}
