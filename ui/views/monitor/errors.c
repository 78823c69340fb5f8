// Error types: the pending events by the class of their error, most of them first.
#include "ui/views/events/row.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

// What the cursor keeps to: a class, 0: none.
static int64_t
class_key(const char *name)
{
    return name ? (int64_t)bytes_hash(bytes_of(name)) : 0;
}

// Without its package, which says less.
static const char *
short_name(const char *name)
{
    return name ? name + event_package_len(bytes_of(name)) : "no class";
}

static void
errors_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor_pending *pending = &facts->monitor.pending;
    panel_rows_begin(app, rows, pending->class_count + 1);
    for (size_t i = 0; i < pending->class_count; i++)
        panel_rows_add(app, rows, short_name(pending->classes[i].name), pending->classes[i].count,
                       pending->count)
            ->key = class_key(pending->classes[i].name);
    rows->summary = "of pending";
    if (pending->in_other_classes > 0)
        rows->summary =
            arena_printf(app_frame(app), "%s in others", panel_count(app, pending->in_other_classes));
    if (facts->has_monitor && !rows->count)
        rows->empty = MSG_NOTHING_PENDING;
}

static void
errors_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    const struct monitor_pending *pending = &facts->monitor.pending;
    for (size_t i = 0; i < pending->class_count; i++)
        if (class_key(pending->classes[i].name) == row->key)
            panel_open_events(app, event_facet_term("class", pending->classes[i].name, app_frame(app)), true);
}

const struct panel panel_errors = {
    .name = "error types",
    .least = 5,
    .most = 13,
    .step = 1,
    .rows = errors_rows,
    .open = errors_open,
};
