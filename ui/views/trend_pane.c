#include "ui/views/trend_pane.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"

enum {
    GUTTER = 18, // a name and its greatest value
    CELLS_MOST = 4,
    ROWS_LEAST = 18, // of the body
    ROWS_TALL = 34,
    FIXED_ROWS = 3, // values at the cursor, marks, axis
    WALL_MINUTE = 16,
};
static const int64_t LOOK_EVERY = 5 * US_PER_SECOND;

// The points as they are drawn: some of them share a column.
struct columns {
    struct trend_point *list; // heap
    size_t count;
    int64_t length; // of each, µs
    int cells;      // of each
};

static struct columns
fold_into(const struct trend_pane *pane, int cols)
{
    struct columns columns = {.list = alloc_array(pane->trend.count + 1, sizeof *columns.list)};
    int room = cols - GUTTER - 1 > 1 ? cols - GUTTER - 1 : 1;
    columns.count = trend_fold(&pane->trend, (size_t)room, columns.list, &columns.length);
    columns.cells = columns.count ? room / (int)columns.count : 1;
    columns.cells = columns.cells > CELLS_MOST ? CELLS_MOST : columns.cells;
    return columns;
}

// The column that holds the cursor, the newest where it has left the chart; -1: there is no cursor.
static int
cursor_column(const struct trend_pane *pane, const struct columns *columns)
{
    if (!pane->cursor_at || !columns->count)
        return -1;
    for (size_t i = 0; i < columns->count; i++)
        if (pane->cursor_at < columns->list[i].at + columns->length)
            return (int)i;
    return (int)columns->count - 1;
}

static void
trend_ask(struct app *app, struct trend_pane *pane)
{
    struct request *request = request_create(REQUEST_TREND);
    request->span = pane->span;
    pane->number = app_send(app, request);
    pane->look_at = clock_mono() + LOOK_EVERY;
}

void
trend_pane_init(struct app *app, struct trend_pane *pane)
{
    pane->span = TREND_6_HOURS;
    trend_ask(app, pane);
}

void
trend_pane_release(struct trend_pane *pane)
{
    arena_release(&pane->arena);
}

void
trend_pane_tick(struct app *app, struct trend_pane *pane, bool is_shown)
{
    pane->look_at = clock_mono() + LOOK_EVERY;
    if (is_shown && !app_is_paused(app) && !app_is_stale(app))
        trend_ask(app, pane);
}

bool
trend_pane_receive(struct app *app, struct trend_pane *pane, struct reply *reply, bool *is_news)
{
    (void)app;
    *is_news = false;
    if (!reply->number || reply->number != pane->number)
        return false;
    pane->number = 0;
    // Without the schema, or without a connection, there is nothing new to draw; the header says so.
    if (reply->kind != REPLY_TREND)
        return true;
    *is_news = !pane->has_answer || !trend_is_same(&pane->trend, &reply->trend);
    arena_release(&pane->arena);
    arena_adopt(&pane->arena, &reply->arena);
    pane->trend = reply->trend;
    pane->has_answer = true;
    return true;
}

struct area
trend_pane_layout(struct trend_pane *pane, struct area *body)
{
    pane->cols = body->cols;
    if (!pane->has_answer || body->rows < ROWS_LEAST)
        return (struct area){.row = body->row, .col = body->col};
    return area_take_top(body, body->rows < ROWS_TALL ? FIXED_ROWS + 4 : FIXED_ROWS + 8);
}

// --- drawing ---

enum line { LINE_PENDING, LINE_IN, LINE_OUT, LINES };
static const char *const line_names[LINES] = {"pending", "in", "out"};

// Below 0: nobody looked.
static int64_t
value_of(const struct trend_point *point, enum line line)
{
    if (line == LINE_PENDING)
        return point->pending;
    int64_t moved = line == LINE_IN ? point->arrived + point->restored : trend_left(point);
    return moved == 0 && point->pending < 0 ? -1 : moved;
}

static uint32_t
scaled(int64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : value < 0 ? 0 : (uint32_t)value;
}

static void
draw_line(struct canvas *canvas, struct area area, const struct columns *columns, enum line line, int cursor)
{
    char greatest[TEXT_SHORT];
    int64_t most = 0;
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
                        (int)i == cursor ? ROLE_STATUS_INFO : role);
    }
}

static const char *
known(struct arena *frame, int64_t value)
{
    char text[TEXT_SHORT];
    return value < 0 ? "not known" : arena_text(frame, bytes_of(text_count(value, text)));
}

static bool
is_anything_known(const struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        if (value_of(&columns->list[i], LINE_PENDING) >= 0 || value_of(&columns->list[i], LINE_IN) >= 0)
            return true;
    return false;
}

// What the line above the chart says: the column under the cursor, or the newest one.
static const char *
values_words(const struct app *app, const struct trend_pane *pane, const struct columns *columns, int cursor)
{
    struct arena *frame = app_frame(app);
    const struct trend_point *point = &columns->list[cursor < 0 ? (int)columns->count - 1 : cursor];
    char from[TIME_TEXT];
    const char *words =
        arena_printf(frame, "pending %s   in %s   out %s", known(frame, point->pending),
                     known(frame, value_of(point, LINE_IN)), known(frame, value_of(point, LINE_OUT)));
    if (cursor < 0)
        return words;
    const struct trend_mark *mark = trend_mark_in(&pane->trend, point->at, point->at + columns->length);
    const char *at = arena_text(frame, bytes_of(time_brief(point->at, app_now(app), from)));
    if (mark && mark->operation)
        return arena_printf(frame, "%s   %s   operation %lld: %s", at, words, (long long)mark->operation,
                            mark->text);
    return arena_printf(frame, "%s   %s%s%s", at, words, mark ? "   " : "", mark ? mark->text : "");
}

// The cursor stands where a mark would; what the mark says is told above then.
static void
draw_marks(const struct trend_pane *pane, struct canvas *canvas, struct area area,
           const struct columns *columns, int cursor)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct trend_point *point = &columns->list[i];
        const struct trend_mark *mark = trend_mark_in(&pane->trend, point->at, point->at + columns->length);
        enum glyph glyph = (int)i == cursor ? GLYPH_UP : mark && mark->operation ? GLYPH_DOT : GLYPH_RISING;
        if (mark || (int)i == cursor)
            (void)canvas_glyph(canvas, area.row, area.col + GUTTER + (int)i * columns->cells, glyph,
                               ROLE_STATUS_INFO);
    }
}

void
trend_pane_draw(const struct app *app, const struct trend_pane *pane, struct canvas *canvas, struct area area)
{
    if (!area.rows)
        return;
    struct columns columns = fold_into(pane, area.cols);
    int cursor = cursor_column(pane, &columns);
    int width = (int)columns.count * columns.cells;
    int thin = (area.rows - FIXED_ROWS) / 4;
    struct area head = area_take_top(&area, 1);
    struct area axis = area_take_bottom(&area, 1);
    struct area marks = area_take_bottom(&area, 1);
    const char *span = trend_span_name(pane->trend.span);
    bool is_known = is_anything_known(&columns);
    const char *words = is_known || cursor >= 0
                            ? values_words(app, pane, &columns, cursor)
                            : "Nothing is known of this time yet; it is written while redrive runs.";
    (void)canvas_text(canvas, head.row, head.col + 1, head.cols - 1, bytes_of(words),
                      is_known ? ROLE_TEXT : ROLE_DIM);
    for (enum line line = 0; line < LINES && is_known; line++)
        draw_line(canvas, area_take_top(&area, line == LINE_PENDING ? 2 * thin : thin), &columns, line,
                  cursor);
    draw_marks(pane, canvas, marks, &columns, cursor);
    (void)canvas_printf(canvas, axis.row, axis.col + GUTTER, width, ROLE_GRAPH_AXIS, "%s ago", span);
    (void)canvas_styled(canvas, axis.row, axis.col + GUTTER, width, BYTES("now"),
                        &(struct canvas_style){.role = ROLE_GRAPH_AXIS, .at_right = true});
    free(columns.list);
}

// --- keys ---

static void
move_cursor(struct trend_pane *pane, int by)
{
    struct columns columns = fold_into(pane, pane->cols);
    int cursor = cursor_column(pane, &columns);
    int last = (int)columns.count - 1;
    cursor = cursor < 0 ? last : cursor + by;
    cursor = cursor < 0 ? 0 : cursor > last ? last : cursor;
    if (last >= 0)
        pane->cursor_at = columns.list[cursor].at;
    free(columns.list);
}

static const char *
wall_minute(struct app *app, int64_t instant, char out[TIME_TEXT])
{
    (void)time_rfc3339(instant, filter_line_context(app).zone_us, out);
    out[WALL_MINUTE] = '\0';
    return out;
}

// Every event that was created in the column, whatever became of it.
static void
open_column(struct app *app, struct trend_pane *pane)
{
    struct columns columns = fold_into(pane, pane->cols);
    int cursor = cursor_column(pane, &columns);
    cursor = cursor < 0 ? (int)columns.count - 1 : cursor;
    char from[TIME_TEXT], to[TIME_TEXT];
    int64_t at = columns.list[cursor].at;
    // The end of a range goes through its minute.
    const char *filter = arena_printf(app_frame(app), "created:%s..%s", wall_minute(app, at, from),
                                      wall_minute(app, at + columns.length - 1, to));
    struct events_argument argument = {
        .query = {.source = LIST_CLOSED,
                  .statuses =
                      1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER},
        .fixed = filter,
        .title = filter,
    };
    free(columns.list);
    app_open(app, &view_events, &argument);
}

bool
trend_pane_handle(struct app *app, struct trend_pane *pane, enum action action)
{
    if (!pane->has_answer)
        return false;
    if (action == DO_LEFT || action == DO_RIGHT) {
        move_cursor(pane, action == DO_LEFT ? -1 : 1);
        return true;
    }
    if (action == DO_OPEN) {
        open_column(app, pane);
        return true;
    }
    if (action == DO_BACK) {
        bool had_cursor = pane->cursor_at != 0;
        pane->cursor_at = 0;
        return had_cursor;
    }
    bool is_longer = action == DO_SPAN_LONGER;
    if (pane->span == (is_longer ? TREND_SPANS - 1 : 0))
        return true;
    pane->span = is_longer ? pane->span + 1 : pane->span - 1;
    trend_ask(app, pane);
    return true;
}
