#include "ui/views/monitor/panel.h"

#include "base/text.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/views/monitor/texts.h"
#include "ui/views/notice.h"

enum { NAME_LEAST = 6, BAR_LEAST = 4, BAR_MOST = 40, WALL_MINUTE = 16 };

const struct panel *const monitor_panels[] = {
#define PANEL(name) &panel_##name,
#include "ui/views/monitor/panels.def"
#undef PANEL
};
const int monitor_panel_count = sizeof monitor_panels / sizeof *monitor_panels;

// --- rows ---

void
panel_rows_begin(const struct app *app, struct panel_rows *rows, size_t most)
{
    *rows = (struct panel_rows){.list = arena_array(app_frame(app), most + 1, sizeof *rows->list)};
}

const char *
panel_count(const struct app *app, int64_t count)
{
    char text[TEXT_SHORT];
    return arena_text(app_frame(app), bytes_of(text_count(count, text)));
}

const char *
panel_share(const struct app *app, int64_t count, int64_t whole)
{
    if (whole <= 0)
        return "0%";
    if (count > 0 && count * 100 < whole)
        return "<1%";
    return arena_printf(app_frame(app), "%d%%", (int)((double)count * 100 / (double)whole));
}

struct panel_row *
panel_rows_add(const struct app *app, struct panel_rows *rows, const char *name, int64_t count, int64_t whole)
{
    struct panel_row *row = &rows->list[rows->count];
    *row = (struct panel_row){
        .name = name,
        .count = count,
        .key = (int64_t)rows->count,
        .figures =
            arena_printf(app_frame(app), "%s %4s", panel_count(app, count), panel_share(app, count, whole)),
    };
    rows->count++;
    return row;
}

const char *
panel_span(const struct app *app, const struct monitor_facts *facts)
{
    return arena_printf(app_frame(app), MSG_SPAN, trend_span_name(facts->monitor.trend.span));
}

// --- drawing ---

// Where the parts of a line stand, the same for all lines of a panel.
struct line_cells {
    int name, figures, bar;
};

static struct line_cells
measure(const struct panel_rows *rows, const struct canvas *canvas, int width)
{
    struct line_cells cells = {.name = NAME_LEAST};
    bool has_bars = false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct panel_row *row = &rows->list[i];
        int name = row->name ? text_cells(bytes_of(row->name), canvas->is_ascii) : 1;
        int figures = row->figures ? text_cells(bytes_of(row->figures), canvas->is_ascii) : 0;
        cells.name = name > cells.name ? name : cells.name;
        cells.figures = figures > cells.figures ? figures : cells.figures;
        has_bars |= row->count > 0;
    }
    int room = width - 3 - cells.figures; // the gutter, and blanks between
    cells.bar = room - cells.name - 1;
    int wish = room / 4;
    if (cells.bar < wish)
        cells.bar = wish;
    cells.bar = cells.bar < BAR_LEAST || !has_bars ? 0 : cells.bar > BAR_MOST ? BAR_MOST : cells.bar;
    int most = room - (cells.bar ? cells.bar + 1 : 0);
    cells.name = cells.name > most ? most : cells.name;
    return cells;
}

static void
draw_bar(struct canvas *canvas, int row, int col, int width, const struct panel_row *of, int64_t most)
{
    if (width <= 0 || of->count <= 0 || most <= 0)
        return;
    int len = (int)((double)of->count / (double)most * width + 0.5);
    for (int i = 0; i < len || i == 0; i++)
        (void)canvas_glyph(canvas, row, col + i, GLYPH_FULL, of->role ? of->role : ROLE_GRAPH);
}

static void
draw_bars(const struct panel_rows *rows, size_t cursor, struct canvas *canvas, struct area area)
{
    struct line_cells cells = measure(rows, canvas, area.cols);
    size_t room = (size_t)area.rows;
    size_t top = cursor != NO_CURSOR && cursor >= room ? cursor - room + 1 : 0;
    int64_t most = rows->whole;
    for (size_t i = 0; i < rows->count && !rows->whole; i++)
        most = rows->list[i].count > most ? rows->list[i].count : most;
    for (size_t i = top; i < rows->count && i < top + room; i++) {
        const struct panel_row *row = &rows->list[i];
        struct area line = area_take_top(&area, 1);
        if (cursor == NO_CURSOR && i + 1 == room && rows->count > room) {
            (void)canvas_printf(canvas, line.row, line.col + 1, line.cols - 1, ROLE_DIM, MSG_MORE,
                                rows->count - i);
            break;
        }
        int col = line.col + 1;
        if (row->name)
            (void)canvas_text(canvas, line.row, col, cells.name, bytes_of(row->name), ROLE_TEXT);
        else
            (void)canvas_glyph(canvas, line.row, col, GLYPH_NONE, ROLE_DIM);
        col += cells.name + 1;
        (void)canvas_styled(canvas, line.row, col, cells.figures, bytes_of(row->figures ? row->figures : ""),
                            &(struct canvas_style){.role = ROLE_TEXT, .at_right = true});
        draw_bar(canvas, line.row, col + cells.figures + 1, cells.bar, row, most);
        if (i == cursor) {
            canvas_cursor_row(canvas, (struct area){line.row, line.col + 1, 1, line.cols - 1});
            (void)canvas_glyph(canvas, line.row, line.col, GLYPH_CURSOR, ROLE_CURSOR_MARK);
        }
    }
}

static void
draw_title(const struct panel *panel, bool is_focus, const char *summary, struct canvas *canvas,
           struct area line)
{
    enum role role = is_focus ? ROLE_SECTION : ROLE_HEADER;
    int end = line.col + line.cols;
    int col = line.col + 1;
    if (is_focus)
        (void)canvas_glyph(canvas, line.row, line.col, GLYPH_CURSOR, ROLE_CURSOR_MARK);
    col += canvas_text(canvas, line.row, col, end - col, bytes_of(panel->name), role) + 2;
    if (summary && col < end)
        (void)canvas_styled(canvas, line.row, col, end - col, bytes_of(summary),
                            &(struct canvas_style){.role = ROLE_DIM, .at_right = !panel->is_wide});
}

void
panel_draw(const struct app *app, const struct panel *panel, const struct monitor_facts *facts, bool is_focus,
           size_t cursor, struct canvas *canvas, struct area area)
{
    struct panel_rows rows;
    panel->rows(app, facts, &rows);
    cursor = is_focus && cursor < rows.count ? cursor : NO_CURSOR;
    const char *summary = panel->summary ? panel->summary(app, facts, &rows, cursor) : rows.summary;
    draw_title(panel, is_focus, summary, canvas, area_take_top(&area, 1));
    if (rows.empty) {
        notice_draw(canvas, area, rows.empty);
    } else if (panel->draw) {
        panel->draw(app, facts, &rows, cursor, canvas, area);
    } else {
        draw_bars(&rows, cursor, canvas, area);
    }
}

// --- opening ---

void
panel_open_events(struct app *app, const char *filter, bool is_pending)
{
    struct events_argument argument = {.fixed = filter, .title = filter};
    if (is_pending)
        argument.query.source = LIST_PENDING;
    else
        argument.query = (struct list_query){.source = LIST_CLOSED,
                                             .statuses = 1u << EVENT_PENDING | 1u << EVENT_RESOLVED |
                                                         1u << EVENT_DISCARDED | 1u << EVENT_OTHER};
    app_open(app, &view_events, &argument);
}

static const char *
wall_minute(struct app *app, int64_t instant, char out[TIME_TEXT])
{
    (void)time_rfc3339(instant, filter_line_context(app).zone_us, out);
    out[WALL_MINUTE] = '\0';
    return out;
}

const char *
panel_created(struct app *app, int64_t from, int64_t to)
{
    char low[TIME_TEXT], high[TIME_TEXT];
    const char *before =
        to == INT64_MAX ? "" : arena_printf(app_frame(app), "created:<%s", wall_minute(app, to, high));
    if (from == INT64_MIN)
        return before;
    return arena_printf(app_frame(app), "created:>=%s%s%s", wall_minute(app, from, low), *before ? " " : "",
                        before);
}
