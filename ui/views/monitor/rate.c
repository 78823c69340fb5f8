// The rate: how many events come in and go out a minute, and how long it takes at this rate until nothing is
// pending.
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"
#include "ui/widgets/sparkline.h"

enum { LABEL = 4, NUMBER = 10, ROWS = 4, PER_HOUR_BELOW = 1 };
static const int64_t MINUTE = 60 * US_PER_SECOND;

static void
rate_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    const struct trend *trend = &facts->monitor.trend;
    panel_rows_begin(app, rows, trend->count);
    for (size_t i = 0; i < trend->count; i++)
        rows->list[rows->count++] = (struct panel_row){.key = trend->points[i].at};
    if (facts->has_monitor && !trend->count)
        rows->empty = MSG_NO_SCHEMA;
}

// The point under the cursor, else the last one that is over.
static const struct trend_point *
point_of(const struct trend *trend, size_t cursor)
{
    if (cursor != NO_CURSOR)
        return &trend->points[cursor];
    return trend->count > 1 ? &trend->points[trend->count - 2] : NULL;
}

static const char *
rate_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
             size_t cursor)
{
    const struct trend *trend = &facts->monitor.trend;
    char at[TIME_TEXT];
    (void)rows;
    if (!point_of(trend, cursor))
        return NULL;
    int64_t minutes = trend_span_point(trend->span) / MINUTE;
    if (cursor == NO_CURSOR)
        return minutes == 1 ? "a minute, the last one"
                            : arena_printf(app_frame(app), "a minute, last %" PRId64 " min", minutes);
    return arena_printf(app_frame(app), "a minute, from %s",
                        time_brief(point_of(trend, cursor)->at, app_now(app), at));
}

static double
per_minute(const struct trend *trend, int64_t moved)
{
    return (double)moved / ((double)trend_span_point(trend->span) / (double)MINUTE);
}

static const char *
rate_text(const struct app *app, double rate)
{
    double size = rate < 0 ? -rate : rate;
    return size > 0 && size < PER_HOUR_BELOW ? arena_printf(app_frame(app), "%.1f", rate)
                                             : panel_count(app, (int64_t)(rate + (rate < 0 ? -0.5 : 0.5)));
}

static bool
is_known(const struct trend_point *point)
{
    return point->pending >= 0 || trend_came(point) || trend_left(point);
}

static int64_t
moved(const struct trend_point *point, bool is_in)
{
    return is_in ? trend_came(point) : trend_left(point);
}

// One cell a column; a time at which nobody looked is a gap.
static void
draw_curve(const struct app *app, const struct trend *trend, bool is_in, struct canvas *canvas,
           struct area line)
{
    struct trend_point *points = arena_array(app_frame(app), trend->count + 1, sizeof *points);
    int64_t length, most = 0;
    size_t count = line.cols > 0 && trend->count ? trend_fold(trend, (size_t)line.cols, points, &length) : 0;
    for (size_t i = 0; i < count; i++)
        most = moved(&points[i], is_in) > most ? moved(&points[i], is_in) : most;
    for (size_t i = 0; i < count; i++) {
        struct area cell = area_take_left(&line, 1);
        int64_t value = moved(&points[i], is_in);
        if (is_known(&points[i]))
            column_draw(canvas, cell, value ? (uint32_t)value : 1, value ? (uint32_t)most : UINT32_MAX,
                        value ? ROLE_GRAPH : ROLE_GRAPH_AXIS);
    }
}

static void
draw_line(const struct app *app, const struct trend *trend, bool is_in, size_t cursor, struct canvas *canvas,
          struct area line)
{
    const struct trend_point *point = point_of(trend, cursor);
    bool is_there = point && is_known(point);
    const char *number = is_there ? rate_text(app, per_minute(trend, moved(point, is_in))) : "not known";
    (void)canvas_text(canvas, line.row, line.col + 1, LABEL, bytes_of(is_in ? "in" : "out"), ROLE_TEXT);
    (void)canvas_styled(canvas, line.row, line.col + 1 + LABEL, NUMBER - 1, bytes_of(number),
                        &(struct canvas_style){.role = is_there ? ROLE_STRONG : ROLE_DIM, .at_right = true});
    (void)area_take_left(&line, 1 + LABEL + NUMBER);
    (void)area_take_right(&line, 1);
    draw_curve(app, trend, is_in, canvas, line);
}

// Of less than one a minute, by hours.
static const char *
net_text(const struct app *app, double rate)
{
    if (rate < PER_HOUR_BELOW)
        return arena_printf(app_frame(app), "%s an hour", panel_count(app, (int64_t)(rate * 60 + 0.5)));
    return arena_printf(app_frame(app), "%s a minute", panel_count(app, (int64_t)(rate + 0.5)));
}

// What in and out come to.
static void
draw_net(const struct app *app, const struct trend *trend, size_t cursor, struct canvas *canvas,
         struct area line)
{
    const struct trend_point *point = point_of(trend, cursor);
    if (!point || !is_known(point))
        return;
    double net = per_minute(trend, trend_came(point) - trend_left(point));
    int64_t pending = app_status(app)->pending;
    char in[TEXT_SHORT];
    const char *words = net == 0 ? "the backlog stays as it is"
                        : net > 0
                            ? arena_printf(app_frame(app), "the backlog grows by %s", net_text(app, net))
                            : arena_printf(app_frame(app), "the backlog shrinks by %s", net_text(app, -net));
    if (net < 0 && cursor == NO_CURSOR && pending > 0)
        words = arena_printf(app_frame(app), "%s, empty in %s", words,
                             text_age((int64_t)((double)pending / -net * (double)MINUTE), in));
    if (text_cells(bytes_of(words), canvas->is_ascii) > line.cols - 1) // the numbers before the noun
        words += strlen("the backlog ");
    (void)canvas_text(canvas, line.row, line.col + 1, line.cols - 1, bytes_of(words),
                      net > 0 ? ROLE_GROUP_RISING : ROLE_TEXT);
}

static void
rate_draw(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
          size_t cursor, struct canvas *canvas, struct area area)
{
    (void)rows;
    const struct trend *trend = &facts->monitor.trend;
    if (area.rows >= 1)
        draw_line(app, trend, true, cursor, canvas, area_take_top(&area, 1));
    if (area.rows >= 1)
        draw_line(app, trend, false, cursor, canvas, area_take_top(&area, 1));
    if (area.rows >= 1)
        draw_net(app, trend, cursor, canvas, area_take_top(&area, 1));
}

static void
rate_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    panel_open_events(
        app, panel_created(app, row->key, row->key + trend_span_point(facts->monitor.trend.span)), false);
}

const struct panel panel_rate = {
    .name = "rate",
    .is_time = true,
    .least = ROWS,
    .most = ROWS,
    .rows = rate_rows,
    .summary = rate_summary,
    .draw = rate_draw,
    .open = rate_open,
};
