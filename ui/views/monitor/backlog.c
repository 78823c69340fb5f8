// The backlog over time: pending, in and out, and marks on the time axis where an operation ran and where
// somebody set one. A time at which nobody looked is a gap.
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"
#include "ui/widgets/sparkline.h"

enum {
    GUTTER = 18, // a name and its greatest value
    CELLS_MOST = 4,
    FIXED_ROWS = 2, // marks, axis
    LEAST = 7,
    MOST = 15,
};

enum line { LINE_PENDING, LINE_IN, LINE_OUT, LINES };
static const char *const line_names[LINES] = {"pending", "in", "out"};

// The points as they are drawn: some of them share a column.
struct columns {
    struct trend_point *list; // as app_frame
    size_t count;
    int64_t length; // of each, µs
    int cells;      // of each
};

static struct columns
fold_into(const struct app *app, const struct monitor_facts *facts)
{
    const struct trend *trend = &facts->monitor.trend;
    struct columns columns = {.list = arena_array(app_frame(app), trend->count + 1, sizeof *columns.list)};
    int room = facts->chart_cols - GUTTER - 1 > 1 ? facts->chart_cols - GUTTER - 1 : 1;
    columns.count = trend_fold(trend, (size_t)room, columns.list, &columns.length);
    columns.cells = columns.count ? room / (int)columns.count : 1;
    columns.cells = columns.cells > CELLS_MOST ? CELLS_MOST : columns.cells;
    return columns;
}

// Below 0: nobody looked.
static int64_t
value_of(const struct trend_point *point, enum line line)
{
    if (line == LINE_PENDING)
        return point->pending;
    int64_t moved = line == LINE_IN ? trend_came(point) : trend_left(point);
    return moved == 0 && point->pending < 0 ? -1 : moved;
}

static void
backlog_rows(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows)
{
    struct columns columns = fold_into(app, facts);
    panel_rows_begin(app, rows, columns.count);
    for (size_t i = 0; i < columns.count; i++)
        rows->list[rows->count++] = (struct panel_row){.key = columns.list[i].at};
    if (facts->has_monitor && !columns.count)
        rows->empty = MSG_NO_SCHEMA;
}

// --- drawing ---

static uint32_t
scaled(int64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : value < 0 ? 0 : (uint32_t)value;
}

static void
draw_line(struct canvas *canvas, struct area area, const struct columns *columns, enum line line,
          size_t cursor)
{
    char greatest[TEXT_SHORT];
    int64_t most = 0;
    if (!area.rows)
        return;
    for (size_t i = 0; i < columns->count; i++) {
        int64_t value = value_of(&columns->list[i], line);
        most = value > most ? value : most;
    }
    (void)canvas_printf(canvas, area.row, area.col + 1, GUTTER - 2, ROLE_GRAPH_AXIS, "%-7s%9s",
                        line_names[line], text_count(most, greatest));
    for (size_t i = 0; i < columns->count; i++) {
        int64_t value = value_of(&columns->list[i], line);
        struct area column = {.row = area.row,
                              .col = area.col + GUTTER + (int)i * columns->cells,
                              .rows = area.rows,
                              .cols = columns->cells};
        enum role role = value > 0 ? ROLE_GRAPH : ROLE_GRAPH_AXIS;
        // Zero is the lowest block, so that a gap can be told from it.
        if (value >= 0)
            column_draw(canvas, column, value > 0 ? scaled(value) : 1, value > 0 ? scaled(most) : UINT32_MAX,
                        i == cursor ? ROLE_STATUS_INFO : role);
    }
}

static const char *
known(const struct app *app, int64_t value)
{
    return value < 0 ? "not known" : panel_count(app, value);
}

static bool
is_anything_known(const struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        if (value_of(&columns->list[i], LINE_PENDING) >= 0 || value_of(&columns->list[i], LINE_IN) >= 0)
            return true;
    return false;
}

// How many came or left in all columns of which that is known; below 0: in none.
static int64_t
sum_of(const struct columns *columns, enum line line)
{
    int64_t sum = -1;
    for (size_t i = 0; i < columns->count; i++) {
        int64_t value = value_of(&columns->list[i], line);
        if (value >= 0)
            sum = (sum < 0 ? 0 : sum) + value;
    }
    return sum;
}

// The column under the cursor, with its mark, or the whole time with what is pending at its end.
static const char *
backlog_summary(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
                size_t cursor)
{
    struct arena *frame = app_frame(app);
    struct columns columns = fold_into(app, facts);
    char from[TIME_TEXT];
    if (!rows->count || (cursor == NO_CURSOR && !is_anything_known(&columns)))
        return facts->has_monitor && rows->count ? MSG_NOT_WATCHED : NULL;
    bool is_whole = cursor == NO_CURSOR;
    const struct trend_point *point = &columns.list[is_whole ? columns.count - 1 : cursor];
    int64_t in = is_whole ? sum_of(&columns, LINE_IN) : value_of(point, LINE_IN);
    int64_t out = is_whole ? sum_of(&columns, LINE_OUT) : value_of(point, LINE_OUT);
    const char *words = arena_printf(frame, "pending %s   in %s   out %s", known(app, point->pending),
                                     known(app, in), known(app, out));
    if (is_whole)
        return words;
    const struct trend_mark *mark =
        trend_mark_in(&facts->monitor.trend, point->at, point->at + columns.length);
    const char *at = arena_text(frame, bytes_of(time_brief(point->at, app_now(app), from)));
    if (mark && mark->operation)
        return arena_printf(frame, "%s   %s   operation %" PRId64 ": %s", at, words, mark->operation,
                            mark->text);
    return arena_printf(frame, "%s   %s%s%s", at, words, mark ? "   " : "", mark ? mark->text : "");
}

// The cursor stands where a mark would; what the mark says is told above then.
static void
draw_marks(const struct trend *trend, struct canvas *canvas, struct area area, const struct columns *columns,
           size_t cursor)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct trend_point *point = &columns->list[i];
        const struct trend_mark *mark = trend_mark_in(trend, point->at, point->at + columns->length);
        enum glyph glyph = i == cursor ? GLYPH_UP : mark && mark->operation ? GLYPH_DOT : GLYPH_RISING;
        if (mark || i == cursor)
            (void)canvas_glyph(canvas, area.row, area.col + GUTTER + (int)i * columns->cells, glyph,
                               ROLE_STATUS_INFO);
    }
}

static void
backlog_draw(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
             size_t cursor, struct canvas *canvas, struct area area)
{
    (void)rows;
    struct columns columns = fold_into(app, facts);
    if (!columns.count)
        return;
    int width = (int)columns.count * columns.cells;
    struct area axis = area_take_bottom(&area, 1);
    struct area marks = area_take_bottom(&area, 1);
    int thin = area.rows / 4; // half of it is for what is pending
    for (enum line line = 0; line < LINES && is_anything_known(&columns); line++)
        draw_line(canvas, area_take_top(&area, line == LINE_PENDING ? area.rows - 2 * thin : thin), &columns,
                  line, cursor);
    draw_marks(&facts->monitor.trend, canvas, marks, &columns, cursor);
    (void)canvas_printf(canvas, axis.row, axis.col + GUTTER, width, ROLE_GRAPH_AXIS, "%s ago",
                        trend_span_name(facts->monitor.trend.span));
    (void)canvas_styled(canvas, axis.row, axis.col + GUTTER, width, BYTES("now"),
                        &(struct canvas_style){.role = ROLE_GRAPH_AXIS, .at_right = true});
}

// Every event that was created in the column, whatever became of it.
static void
backlog_open(struct app *app, const struct monitor_facts *facts, const struct panel_row *row)
{
    panel_open_events(app, panel_created(app, row->key, row->key + fold_into(app, facts).length), false);
}

const struct panel panel_backlog = {
    .name = "backlog",
    .is_wide = true,
    .is_time = true,
    .least = LEAST,
    .most = MOST,
    .rows = backlog_rows,
    .summary = backlog_summary,
    .draw = backlog_draw,
    .open = backlog_open,
};
