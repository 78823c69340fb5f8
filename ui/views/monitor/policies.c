// Policies: when each runs next, or why it does not. The title says what the one under the cursor does, or
// why it halted.
#include "base/text.h"
#include "ui/app/operation_words.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

// "1,204  in 4m", "5  halted"
static const char *
policies_figures(const struct app *app, const struct policy_row *row)
{
    char age[TEXT_SHORT];
    const char *acted = panel_count(app, row->acted);
    if (row->state != POLICY_ENABLED || row->next_at == TIME_ABSENT)
        return arena_printf(app_frame(app), "%s  %s", acted, policy_state_name(row->state));
    if (row->next_at <= app_now(app))
        return arena_printf(app_frame(app), "%s  due", acted);
    return arena_printf(app_frame(app), "%s  in %s", acted, text_age(row->next_at - app_now(app), age));
}

static void
policies_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct monitor *monitor = &facts->monitor;
    size_t halted = 0;
    panel_rows_begin(app, rows, monitor->policy_count);
    for (size_t i = 0; i < monitor->policy_count; i++) {
        const struct policy_row *row = &monitor->policies[i];
        halted += row->state == POLICY_HALTED;
        rows->list[rows->count++] = (struct panel_row){.name = row->name,
                                                       .figures = policies_figures(app, row),
                                                       .count = -1,
                                                       .key = (int64_t)bytes_hash(bytes_of(row->name))};
    }
    if (halted > 0)
        rows->summary = arena_printf(app_frame(app), MSG_HALTED, halted);
    if (facts->has_monitor && !rows->count)
        rows->empty = MSG_NO_POLICY;
}

static const char *
policies_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
                 size_t cursor)
{
    (void)app;
    if (cursor == NO_CURSOR || cursor >= facts->monitor.policy_count)
        return rows->summary;
    const struct policy_row *row = &facts->monitor.policies[cursor];
    return row->halted_why ? row->halted_why : row->words;
}

// The last operation that it began.
static void
policies_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *of)
{
    for (size_t i = 0; i < facts->monitor.policy_count; i++) {
        const struct policy_row *row = &facts->monitor.policies[i];
        if ((int64_t)bytes_hash(bytes_of(row->name)) == of->key && row->operation)
            app_open(app, &view_operation, &row->operation);
    }
}

const struct panel panel_policies = {
    .name = "policies",
    .least = 3,
    .most = 8,
    .step = 1,
    .rows = policies_rows,
    .summary = policies_summary,
    .open = policies_open,
};
