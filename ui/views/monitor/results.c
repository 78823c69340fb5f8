// What became of the events of the reprocesses that began in the time of the chart, in percent of those that
// had their turn.
#include "base/clock.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

// What the filter language calls each; the first four are always shown.
static const struct {
    const char *name, *term;
    enum outcome_part part;
    bool is_rare;
    enum role role;
} parts[] = {
    {"stayed away", "stayed", PART_STAYED, false, ROLE_OPERATION_DONE},
    {"watching", "waiting", PART_WATCHING, false, ROLE_OPERATION_WAITING},
    {"returned", "returned", PART_RETURNED, false, ROLE_EVENT_RETURNED},
    {"refused", "refused", PART_REFUSED, false, ROLE_OPERATION_FAILED},
    {"skipped", "skipped", PART_SKIPPED, true, ROLE_OPERATION_FAILED},
    {"in doubt", "doubt", PART_IN_DOUBT, true, ROLE_OPERATION_FAILED},
    {"not sent", "unsent", PART_UNSENT, true, ROLE_GAUGE_REST},
};
enum { PARTS = sizeof parts / sizeof *parts };

static int64_t
results_from(const struct monitor_facts *facts)
{
    return facts->monitor.trend.as_of - trend_span_length(facts->monitor.trend.span);
}

// Read by its consumer, and still within the settle time: it is watched as well.
static int64_t
events_of(const struct outcomes *results, enum outcome_part part)
{
    return results->parts[part] + (part == PART_WATCHING ? results->parts[PART_TAKEN] : 0);
}

static void
results_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    struct outcomes results;
    size_t count = monitor_results(&facts->monitor, results_from(facts), &results);
    int64_t turned = results.total - results.parts[PART_UNSENT];
    panel_rows_begin(app, rows, PARTS);
    rows->summary = panel_span(app, facts);
    if (!count) {
        rows->empty = facts->has_monitor ? MSG_NO_RESULTS : NULL;
        return;
    }
    rows->summary =
        arena_printf(app_frame(app), "of %s, %s", panel_count(app, turned), panel_span(app, facts));
    rows->whole = turned ? turned : 1;
    for (int i = 0; i < PARTS; i++) {
        int64_t events = events_of(&results, parts[i].part);
        if (parts[i].is_rare && !events)
            continue;
        struct panel_row *row = panel_rows_add(app, rows, parts[i].name, events, turned);
        row->key = i;
        row->role = parts[i].role;
        if (parts[i].part == PART_UNSENT) {
            row->count = 0; // no share of those that had their turn
            row->figures = arena_printf(app_frame(app), "%s     ", panel_count(app, events));
        }
    }
}

static void
results_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    const char *filter =
        monitor_results_filter(&facts->monitor, results_from(facts), parts[row->key].term, app_frame(app));
    if (filter)
        panel_open_events(app, filter, false);
}

const struct panel panel_results = {
    .name = "reprocessed",
    .least = 5,
    .most = 8,
    .step = 1,
    .rows = results_rows,
    .open = results_open,
};
