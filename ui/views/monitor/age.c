// How old the pending events are, by whole hours.
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static void
age_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor_ages *ages = &facts->monitor.pending.ages;
    char age[TEXT_SHORT];
    panel_rows_begin(app, rows, MONITOR_AGES);
    if (!facts->has_monitor)
        return;
    if (!ages->is_known || !facts->monitor.pending.count) {
        rows->empty = facts->monitor.pending.count ? MSG_HOURS_UNKNOWN : MSG_NOTHING_PENDING;
        return;
    }
    for (int i = 0; i < MONITOR_AGES; i++)
        if (ages->counts[i])
            panel_rows_add(app, rows, monitor_age_name((enum monitor_age)i), ages->counts[i],
                           facts->monitor.pending.count)
                ->key = i;
    if (ages->oldest_at != TIME_ABSENT)
        rows->summary =
            arena_printf(app_frame(app), "oldest %s", moment_text(app_moments(app), ages->oldest_at, age));
}

static void
age_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    const struct monitor_ages *ages = &facts->monitor.pending.ages;
    int64_t to = row->key > 0 ? ages->from[row->key - 1] : INT64_MAX;
    panel_open_events(app, panel_created(app, ages->from[row->key], to), true);
}

const struct panel panel_age = {
    .name = "age of pending",
    .least = 4,
    .most = 7,
    .step = 1,
    .rows = age_rows,
    .open = age_open,
};
