// The mean time to resolution: of all resolved events, and by event type.
#include "base/text.h"
#include "ui/views/events/row.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"

static const char *
mean_text(const struct app *app, double seconds)
{
    char text[TEXT_SHORT];
    return arena_text(app_frame(app), bytes_of(text_seconds(seconds, text)));
}

static void
resolution_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct stats *stats = &facts->stats;
    double sum = 0;
    int64_t resolved = 0;
    panel_rows_begin(app, rows, stats->resolution_count);
    for (size_t i = 0; i < stats->resolution_count; i++) {
        const struct stats_resolution *of = &stats->resolutions[i];
        rows->list[rows->count++] = (struct panel_row){
            .name = of->event_type,
            .figures = arena_printf(app_frame(app), "%s %6s", panel_count(app, of->resolved),
                                    mean_text(app, of->mean_seconds)),
            .count = (int64_t)of->mean_seconds + 1,
            .key = (int64_t)bytes_hash(bytes_of(of->event_type)),
        };
        sum += of->mean_seconds * (double)of->resolved;
        resolved += of->resolved;
    }
    if (resolved)
        rows->summary = arena_printf(app_frame(app), "mean %s", mean_text(app, sum / (double)resolved));
    if (!facts->has_stats)
        rows->empty = err_is_set(&facts->stats_err) ? facts->stats_err.text : MSG_COUNTING_TABLE;
    else if (!resolved)
        rows->empty = MSG_NONE_RESOLVED;
}

static void
resolution_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    const char *type = event_facet_term("type", row->name, app_frame(app));
    panel_open_events(app, arena_printf(app_frame(app), "status:resolved %s", type), false);
}

const struct panel panel_resolution = {
    .name = "time to resolution",
    .least = 4,
    .most = 10,
    .step = 1,
    .rows = resolution_rows,
    .open = resolution_open,
};
