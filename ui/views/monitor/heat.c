// Errors per hour over 7 days: a line a day, a cell an hour. What was closed or not since counts as well.
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"
#include "ui/widgets/sparkline.h"

enum { HOURS = 7 * 24, DAY_CELLS = 7, DATE = 10, DAYS_MOST = 9, ROWS = 10, HOUR_AT = 11 };
static const int64_t HOUR = 3600 * US_PER_SECOND;

static void
heat_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    panel_rows_begin(app, rows, facts->stats.hour_count);
    for (size_t i = 0; i < facts->stats.hour_count; i++)
        rows->list[rows->count++] =
            (struct panel_row){.count = facts->stats.hours[i].count, .key = facts->stats.hours[i].hour};
    if (!facts->has_stats)
        rows->empty = err_is_set(&facts->stats_err) ? facts->stats_err.text : MSG_COUNTING_TABLE;
}

static const char *
heat_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
             size_t cursor)
{
    (void)facts;
    size_t busiest = 0;
    char at[TIME_TEXT];
    for (size_t i = 0; i < rows->count; i++)
        if (rows->list[i].count > rows->list[busiest].count)
            busiest = i;
    if (!rows->count || !rows->list[busiest].count)
        return rows->count ? MSG_NO_ARRIVALS : NULL;
    const struct panel_row *row = &rows->list[cursor == NO_CURSOR ? busiest : cursor];
    const char *when = arena_text(app_frame(app), bytes_of(time_local(row->key, at)));
    return arena_printf(app_frame(app), "%s%s %.8sh", cursor == NO_CURSOR ? "peak " : "",
                        panel_count(app, row->count), when + sizeof "2026-" - 1);
}

// Days and hours as the person's clock has them.
static void
heat_draw(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
          size_t cursor, struct canvas *canvas, struct area area)
{
    (void)app;
    (void)facts;
    char day[DATE + 1] = "", at[TIME_TEXT];
    int64_t most = 0;
    int cells = (area.cols - DAY_CELLS) / 24;
    cells = cells < 1 ? 1 : cells > 3 ? 3 : cells;
    for (size_t i = 0; i < rows->count; i++)
        most = rows->list[i].count > most ? rows->list[i].count : most;
    struct area axis = area_take_bottom(&area, area.rows > 1);
    int line = -1;
    for (size_t i = 0; i < rows->count; i++) {
        const struct panel_row *row = &rows->list[i];
        (void)time_local(row->key, at);
        if (memcmp(day, at, DATE) != 0) {
            memcpy(day, at, DATE);
            if (++line >= area.rows)
                break;
            (void)canvas_text(canvas, area.row + line, area.col + 1, DAY_CELLS - 2,
                              bytes_of(day + sizeof "2026-" - 1), ROLE_GRAPH_AXIS);
        }
        int hour = (at[HOUR_AT] - '0') * 10 + at[HOUR_AT + 1] - '0';
        struct area cell = {
            .row = area.row + line, .col = area.col + DAY_CELLS + hour * cells, .rows = 1, .cols = cells};
        enum role role = row->count ? ROLE_GRAPH : ROLE_GRAPH_AXIS;
        column_draw(canvas, cell, row->count ? (uint32_t)row->count : 1,
                    row->count ? (uint32_t)most : UINT32_MAX, i == cursor ? ROLE_STATUS_INFO : role);
        if (i == cursor)
            canvas_add_attributes(canvas, cell, CELL_UNDERLINE);
    }
    for (int hour = 0; hour < 24 && axis.rows; hour += 6)
        (void)canvas_printf(canvas, axis.row, axis.col + DAY_CELLS + hour * cells, 2, ROLE_GRAPH_AXIS, "%02d",
                            hour);
}

static void
heat_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    (void)facts;
    panel_open_events(app, panel_created(app, row->key, row->key + HOUR), false);
}

const struct panel panel_heat = {
    .name = "errors per hour",
    .is_time = true,
    .least = ROWS,
    .most = ROWS,
    .step = 24,
    .rows = heat_rows,
    .summary = heat_summary,
    .draw = heat_draw,
    .open = heat_open,
};
