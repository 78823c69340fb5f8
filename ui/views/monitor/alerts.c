// Alerts that fire or are about to, as redrive watch evaluated them last. The title says the first thing to
// do about the one under the cursor.
#include <string.h>
#include "base/text.h"
#include "ui/views/events/row.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static const int64_t EVALUATED_IS_OLD = 2 * 60 * US_PER_SECOND;

// "firing 5m", by the clock "firing 14:02:11", "ana is on it"
static const char *
alerts_figures(const struct app *app, const struct alert_row *row)
{
    char age[TEXT_SHORT];
    const char *word = alert_state_name(row->state);
    if (row->state == ALERT_ACKNOWLEDGED)
        return arena_printf(app_frame(app), "%s is on it", row->acknowledgement.who);
    return arena_printf(app_frame(app), "%s %s", word, moment_text(app_moments(app), row->since, age));
}

static const char *
label_of_alert(const struct alert_row *row, const char *name)
{
    for (size_t i = 0; i < row->label_count; i++)
        if (strcmp(row->labels[i].name, name) == 0)
            return row->labels[i].value;
    return NULL;
}

// "Timeout (00c7918f6f1b7231): 120 events arrived within 10m": what it is about goes before what is measured,
// because a narrow panel cuts the end.
static const char *
subject_first(const struct app *app, const struct alert_row *row)
{
    const char *colon = strstr(row->summary, ": ");
    if (!colon || strcmp(row->condition, "halted") == 0)
        return row->summary;
    const char *subject = colon + 2, *class = label_of_alert(row, "error_class");
    if (class && bytes_starts(bytes_of(subject), class))
        subject += event_package_len(bytes_of(class));
    return arena_printf(app_frame(app), "%s: %.*s", subject, (int)(colon - row->summary), row->summary);
}

static void
alerts_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct alert_board *board = &facts->monitor.alerts;
    size_t firing = alert_board_firing(board);
    panel_rows_begin(app, rows, board->count);
    for (size_t i = 0; i < board->count; i++) {
        const struct alert_row *row = &board->rows[i];
        if (row->state == ALERT_INACTIVE)
            continue;
        struct panel_row *added = &rows->list[rows->count++];
        *added = (struct panel_row){
            .name = arena_printf(app_frame(app), "%s  %s", row->rule, subject_first(app, row)),
            .figures = alerts_figures(app, row),
            .count = -1,
            .key = (int64_t)bytes_hash(
                bytes_of(arena_printf(app_frame(app), "%s\n%s", row->rule, row->instance))),
        };
    }
    if (!facts->has_monitor)
        return;
    char age[TEXT_SHORT];
    if (!board->as_of || board->measured_at == TIME_ABSENT)
        rows->empty = MSG_NOT_EVALUATED;
    else if (board->as_of - board->measured_at > EVALUATED_IS_OLD)
        rows->summary =
            arena_printf(app_frame(app), MSG_EVALUATED_AGO, text_age(board->as_of - board->measured_at, age));
    else if (firing > 0)
        rows->summary = arena_printf(app_frame(app), MSG_FIRING, firing);
    if (!rows->empty && !rows->count && !rows->summary)
        rows->empty = MSG_NO_ALERT;
}

static const struct alert_row *
alert_of(const struct app *app, const struct monitor_facts *facts, int64_t key)
{
    const struct alert_board *board = &facts->monitor.alerts;
    for (size_t i = 0; i < board->count; i++)
        if ((int64_t)bytes_hash(bytes_of(
                arena_printf(app_frame(app), "%s\n%s", board->rows[i].rule, board->rows[i].instance))) == key)
            return &board->rows[i];
    return NULL;
}

static const char *
alerts_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
               size_t cursor)
{
    const struct alert_row *row = cursor == NO_CURSOR ? NULL : alert_of(app, facts, rows->list[cursor].key);
    return row && row->description ? row->description : rows->summary;
}

// What it is about: the events of its group, category or type; operations; else the groups.
static void
alerts_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *of)
{
    static const char *const about_operations[] = {"halted",  "no-worker",        "in-doubt",
                                                   "success", "publish-failures", "reprocess-failures"};
    const struct alert_row *row = alert_of(app, facts, of->key);
    if (!row)
        return;
    const char *group = label_of_alert(row, "group");
    const char *category = label_of_alert(row, "category");
    const char *type = label_of_alert(row, "event_type");
    if (group || category) {
        panel_open_events(
            app,
            arena_printf(app_frame(app), "%s:%s", group ? "group" : "category", group ? group : category),
            true);
        return;
    }
    if (type) {
        panel_open_events(app, event_facet_term("type", type, app_frame(app)), true);
        return;
    }
    const char *topic = label_of_alert(row, "topic");
    if (topic) {
        panel_open_events(app, event_facet_term("topic", topic, app_frame(app)), true);
        return;
    }
    int place = 1;
    for (size_t i = 0; i < sizeof about_operations / sizeof *about_operations; i++)
        if (strcmp(row->condition, about_operations[i]) == 0)
            place = 4;
    app_go(app, place);
}

const struct panel panel_alerts = {
    .name = "alerts",
    .least = 3,
    .most = 10,
    .step = 1,
    .rows = alerts_rows,
    .summary = alerts_summary,
    .open = alerts_open,
};
