// Operations that are not over, newest first, each with how far it is.
#include "ui/app/operation_words.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static void
operations_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor *monitor = &facts->monitor;
    panel_rows_begin(app, rows, monitor->operation_count);
    for (size_t i = 0; i < monitor->operation_count; i++) {
        const struct operation *operation = &monitor->operations[i];
        if (operation_state_is_final(operation->state))
            continue;
        struct outcomes outcomes = outcomes_of(operation);
        rows->list[rows->count++] = (struct panel_row){
            .name =
                arena_printf(app_frame(app), "%" PRId64 " %s", operation->no, action_name(operation->action)),
            .figures = arena_printf(app_frame(app), "%s %3d%%", operation_standing(operation, app_frame(app)),
                                    outcomes_percent(&outcomes)),
            .count = operation->total ? outcomes_percent(&outcomes) : 0,
            .role = operation_standing_role(operation),
            .key = operation->no,
        };
    }
    rows->whole = 100;
    if (facts->has_monitor && !rows->count)
        rows->empty = MSG_NONE_RUNS;
}

static void
operations_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    app_open(app, &view_operation, &row->key);
}

const struct panel panel_operations = {
    .name = "operations",
    .least = 4,
    .most = 8,
    .step = 1,
    .rows = operations_rows,
    .open = operations_open,
};
