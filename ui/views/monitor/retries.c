// How often the pending events were retried before they became dead letters.
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static void
retries_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor_pending *pending = &facts->monitor.pending;
    panel_rows_begin(app, rows, MONITOR_RETRIES);
    if (!pending->count) {
        rows->empty = facts->has_monitor ? MSG_NOTHING_PENDING : NULL;
        return;
    }
    int last = MONITOR_RETRIES - 1;
    while (last > 0 && !pending->retries[last])
        last--;
    for (int i = 0; i <= last; i++) {
        const char *name = i == 0                     ? "none"
                           : i == MONITOR_RETRIES - 1 ? arena_printf(app_frame(app), "%d or more", i)
                                                      : arena_printf(app_frame(app), "%d", i);
        panel_rows_add(app, rows, name, pending->retries[i], pending->count)->key = i;
    }
    rows->summary = arena_printf(app_frame(app), "95%% have at most %d", pending->retries_95);
}

static void
retries_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    bool is_last = row->key == MONITOR_RETRIES - 1;
    panel_open_events(app, arena_printf(app_frame(app), "retries:%s%d", is_last ? ">=" : "", (int)row->key),
                      true);
}

const struct panel panel_retries = {
    .name = "retries",
    .least = 4,
    .most = 7,
    .step = 1,
    .rows = retries_rows,
    .open = retries_open,
};
