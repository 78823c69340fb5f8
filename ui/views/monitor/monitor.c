// The monitor: panels that say how the backlog stands, live. It looks for news every few seconds while it is
// shown; the same picture costs the terminal nothing. What must be counted from the whole table is counted
// once a minute at most, and rarer where that takes long.
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/views/monitor/layout.h"
#include "ui/views/monitor/panel.h"
#include "ui/views/monitor/texts.h"
#include "ui/views/operations/worker_chip.h"
#include "ui/widgets/statusbar.h"

enum { COUNT_PAUSE = 20, PAGE_CELLS = sizeof "panels 10-13 of 13" - 1 };
static const int64_t LOOK_EVERY = 5 * US_PER_SECOND;
static const int64_t COUNT_EVERY = 60 * US_PER_SECOND;
static const int64_t COUNT_IS_OLD = 5 * 60 * US_PER_SECOND;

struct monitor_view {
    struct monitor_facts facts;
    enum trend_span span; // asked for
    uint64_t number;      // of the request that is waited for, or 0
    int64_t look_at;      // clock_mono
    struct {
        uint64_t number;
        int64_t asked_at, at; // clock_mono: when it was asked, and when it is to be asked again
        int64_t counted_at;
    } count;
    int focus;     // the panel
    size_t cursor; // row of it, or NO_CURSOR
    int64_t key;   // of that row
    int first;     // panel of the page
    int shown;     // panels of it
    struct area areas[MONITOR_PANELS_MOST];
};

static const enum action footer[] = {DO_OPEN,     DO_NEXT_SECTION, DO_SPAN_LONGER, DO_SPAN_SHORTER,
                                     DO_ANALYSES, DO_REFRESH,      DO_HELP,        DO_NONE};

// --- asking ---

static void
ask_monitor(struct app *app, struct monitor_view *view)
{
    struct request *request = request_create(REQUEST_MONITOR);
    request->span = view->span;
    view->number = app_send(app, request);
    view->look_at = clock_mono() + LOOK_EVERY;
}

static void
ask_count(struct app *app, struct monitor_view *view)
{
    if (view->count.number)
        return;
    view->count.asked_at = clock_mono();
    view->count.number = app_send(app, request_create(REQUEST_STATS));
}

static bool
receive_monitor(struct monitor_view *view, struct reply *reply)
{
    view->number = 0;
    // Without a connection there is nothing new to draw; the header says so.
    if (reply->kind != REPLY_MONITOR)
        return true;
    arena_release(&view->facts.arena);
    arena_adopt(&view->facts.arena, &reply->arena);
    view->facts.monitor = reply->figures.monitor;
    view->facts.has_monitor = true;
    return true;
}

static bool
receive_count(struct app *app, struct monitor_view *view, struct reply *reply)
{
    int64_t now = clock_mono(), pause = (now - view->count.asked_at) * COUNT_PAUSE;
    view->count.number = 0;
    view->count.at = now + (pause > COUNT_EVERY ? pause : COUNT_EVERY);
    view->facts.stats_err = reply->err;
    if (reply->kind != REPLY_STATS)
        return true;
    arena_release(&view->facts.stats_arena);
    arena_adopt(&view->facts.stats_arena, &reply->arena);
    view->facts.stats = reply->figures.stats;
    view->facts.has_stats = true;
    view->count.counted_at = app_now(app);
    return true;
}

static bool
monitor_receive(struct app *app, void *state, struct reply *reply)
{
    struct monitor_view *view = state;
    if (!reply->number)
        return reply->kind == REPLY_STATUS;
    if (reply->kind == REPLY_MARKED || reply->kind == REPLY_ALERT)
        ask_monitor(app, view);
    if (reply->number == view->number)
        return receive_monitor(view, reply);
    return reply->number == view->count.number && receive_count(app, view, reply);
}

static int64_t
monitor_due(const void *state)
{
    return ((const struct monitor_view *)state)->look_at;
}

static void
monitor_tick(struct app *app, void *state)
{
    struct monitor_view *view = state;
    view->look_at = clock_mono() + LOOK_EVERY;
    if (!app_is_on_top(app, state) || app_is_paused(app) || app_is_stale(app))
        return;
    // A newer question would take the place of one that takes longer than this, for ever.
    if (!app_is_waiting(app, view->number))
        ask_monitor(app, view);
    if (clock_mono() >= view->count.at)
        ask_count(app, view);
}

// --- the cursor ---

static struct panel_rows
rows_of(const struct app *app, const struct monitor_view *view)
{
    struct panel_rows rows;
    monitor_panels[view->focus]->rows(app, &view->facts, &rows);
    if (rows.empty)
        rows.count = 0;
    return rows;
}

// The row that the cursor is on now that there are others: of its instant, or with its key, or where it was.
static size_t
cursor_row(const struct app *app, const struct monitor_view *view)
{
    struct panel_rows rows = rows_of(app, view);
    if (view->cursor == NO_CURSOR || !rows.count)
        return NO_CURSOR;
    bool is_time = monitor_panels[view->focus]->is_time;
    for (size_t i = rows.count; i-- > 0;)
        if (is_time ? rows.list[i].key <= view->key : rows.list[i].key == view->key)
            return i;
    return is_time ? 0 : view->cursor < rows.count ? view->cursor : rows.count - 1;
}

static void
put_cursor(struct monitor_view *view, const struct panel_rows *rows, size_t row)
{
    view->cursor = row < rows->count ? row : NO_CURSOR;
    if (view->cursor != NO_CURSOR)
        view->key = rows->list[row].key;
}

// Into a panel, from above or from below.
static void
go_to_panel(struct app *app, struct monitor_view *view, int panel, bool is_at_end)
{
    if (panel < 0 || panel >= monitor_panel_count)
        return;
    view->focus = panel;
    view->cursor = NO_CURSOR;
    struct panel_rows rows = rows_of(app, view);
    if (!monitor_panels[panel]->is_time && rows.count)
        put_cursor(view, &rows, is_at_end ? rows.count - 1 : 0);
}

// Along the rows. False: there is none that far.
static bool
move_by(const struct app *app, struct monitor_view *view, bool is_back, size_t step)
{
    struct panel_rows rows = rows_of(app, view);
    size_t at = cursor_row(app, view);
    if (!rows.count || !step)
        return false;
    if (at == NO_CURSOR)
        at = rows.count - 1;
    else if (is_back ? at < step : rows.count - at <= step)
        return false;
    else
        at = is_back ? at - step : at + step;
    put_cursor(view, &rows, at);
    return true;
}

static bool
monitor_beside(struct app *app, void *state, enum action action)
{
    (void)move_by(app, state, action == DO_LEFT, 1);
    return true;
}

static bool
monitor_above(struct app *app, void *state, enum action action)
{
    struct monitor_view *view = state;
    bool is_back = action == DO_UP;
    if (!move_by(app, view, is_back, monitor_panels[view->focus]->step))
        go_to_panel(app, view, view->focus + (is_back ? -1 : 1), is_back);
    return true;
}

static bool
monitor_panel_step(struct app *app, void *state, enum action action)
{
    struct monitor_view *view = state;
    int by = action == DO_PREVIOUS_SECTION ? monitor_panel_count - 1 : 1;
    go_to_panel(app, view, (view->focus + by) % monitor_panel_count, false);
    return true;
}

static bool
monitor_end(struct app *app, void *state, enum action action)
{
    go_to_panel(app, state, action == DO_TOP ? 0 : monitor_panel_count - 1, false);
    return true;
}

static bool
monitor_page_step(struct app *app, void *state, enum action action)
{
    struct monitor_view *view = state;
    bool is_back = action == DO_PAGE_UP || action == DO_HALF_UP;
    int panel = is_back ? view->first - 1 : view->first + view->shown;
    go_to_panel(app, view, panel < 0 ? 0 : panel < monitor_panel_count ? panel : view->focus, false);
    return true;
}

static bool
monitor_back(struct app *app, void *state, enum action action)
{
    (void)action;
    struct monitor_view *view = state;
    if (view->focus == 0 && view->cursor == NO_CURSOR)
        return false;
    go_to_panel(app, view, 0, false);
    return true;
}

// --- other keys ---

// Without a cursor, what is newest.
static bool
monitor_open_row(struct app *app, void *state, enum action action)
{
    (void)action;
    struct monitor_view *view = state;
    struct panel_rows rows = rows_of(app, view);
    size_t at = cursor_row(app, view);
    at = at == NO_CURSOR ? rows.count - 1 : at;
    if (at < rows.count)
        monitor_panels[view->focus]->open(app, &view->facts, &rows.list[at]);
    return true;
}

static bool
monitor_span(struct app *app, void *state, enum action action)
{
    struct monitor_view *view = state;
    bool is_longer = action == DO_SPAN_LONGER;
    if (view->span == (is_longer ? TREND_SPANS - 1 : 0))
        return true;
    view->span = is_longer ? view->span + 1 : view->span - 1;
    ask_monitor(app, view);
    return true;
}

static bool
monitor_analyses(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_open(app, &view_stats, NULL);
    return true;
}

static bool
monitor_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    ask_monitor(app, state);
    ask_count(app, state);
    return true;
}

static bool
monitor_click(struct app *app, void *state, int row, int col)
{
    struct monitor_view *view = state;
    for (int i = 0; i < view->shown; i++) {
        const struct area *area = &view->areas[i];
        if (row < area->row || row >= area->row + area->rows || col < area->col ||
            col >= area->col + area->cols)
            continue;
        go_to_panel(app, view, view->first + i, false);
        return true;
    }
    return false;
}

static const char *
panel_word(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)state;
    return action == DO_NEXT_SECTION ? "next panel" : "previous panel";
}

static const struct view_action actions[] = {
    {.action = DO_LEFT, .run = monitor_beside},
    {.action = DO_RIGHT, .run = monitor_beside},
    {.action = DO_DOWN, .run = monitor_above},
    {.action = DO_UP, .run = monitor_above},
    {.action = DO_NEXT_SECTION, .run = monitor_panel_step, .word = panel_word},
    {.action = DO_PREVIOUS_SECTION, .run = monitor_panel_step, .word = panel_word},
    {.action = DO_PAGE_DOWN, .run = monitor_page_step},
    {.action = DO_PAGE_UP, .run = monitor_page_step},
    {.action = DO_HALF_DOWN, .run = monitor_page_step},
    {.action = DO_HALF_UP, .run = monitor_page_step},
    {.action = DO_TOP, .run = monitor_end},
    {.action = DO_BOTTOM, .run = monitor_end},
    {.action = DO_OPEN, .run = monitor_open_row},
    {.action = DO_SPAN_LONGER, .run = monitor_span},
    {.action = DO_SPAN_SHORTER, .run = monitor_span},
    {.action = DO_ANALYSES, .run = monitor_analyses},
    {.action = DO_REFRESH, .run = monitor_refresh},
    {.action = DO_BACK, .run = monitor_back},
    {0},
};

// --- the picture ---

static void
monitor_arrange(struct app *app, void *state, const struct view_areas *areas)
{
    struct monitor_view *view = state;
    int wishes[MONITOR_PANELS_MOST] = {0};
    struct panel_rows rows;
    view->facts.chart_cols = areas->body.cols;
    for (int i = 0; i < monitor_panel_count && i < MONITOR_PANELS_MOST; i++) {
        monitor_panels[i]->rows(app, &view->facts, &rows);
        wishes[i] = rows.count < INT8_MAX ? 1 + (int)rows.count : INT8_MAX;
    }
    view->first = monitor_page(monitor_panels, monitor_panel_count, view->focus, areas->body);
    view->shown =
        monitor_layout(monitor_panels, wishes, monitor_panel_count, view->first, areas->body, view->areas);
}

static void
draw_line_2(const struct app *app, const struct monitor_view *view, struct canvas *canvas, struct area line)
{
    const struct status *status = app_status(app);
    char text[TEXT_SHORT];
    int col = line.col + 1;
    if (!line.rows)
        return;
    const char *page = view->shown == 1
                           ? arena_printf(app_frame(app), MSG_PANEL_OF, view->first + 1, monitor_panel_count)
                           : arena_printf(app_frame(app), MSG_PANELS_OF, view->first + 1,
                                          view->first + view->shown, monitor_panel_count);
    // As wide on every page of several, so that what fits before it does not depend on the page.
    page = arena_printf(app_frame(app), "%*s", view->shown == 1 ? 0 : PAGE_CELLS, page);
    int limit = chip_draw_at_right(canvas, line, ROLE_DIM, bytes_of(page));
    chip_draw(canvas, line.row, &col, limit, ROLE_STRONG,
              bytes_of(arena_printf(app_frame(app), "%s pending", text_count(status->pending, text))));
    chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
              bytes_of(arena_printf(app_frame(app), MSG_SPAN, trend_span_name(view->span))));
    if (status->is_counting)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, BYTES("counting"));
    bool is_old = view->facts.has_stats && app_now(app) - view->count.counted_at >= COUNT_IS_OLD;
    if (is_old)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), MSG_COUNTED,
                                        moment_phrase(app_moments(app), view->count.counted_at, text))));
    worker_chip_draw(app, canvas, line.row, &col, limit);
}

static void
monitor_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct monitor_view *view = state;
    draw_line_2(app, view, canvas, areas->line);
    for (int i = 0; i < view->shown; i++) {
        bool is_focus = view->first + i == view->focus;
        panel_draw(app, monitor_panels[view->first + i], &view->facts, is_focus,
                   is_focus ? cursor_row(app, view) : NO_CURSOR, canvas, view->areas[i]);
    }
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
monitor_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    (void)state;
    if (i == 0)
        strbuf_add_text(out, "monitor");
    return i == 0;
}

static void *
monitor_open(struct app *app, const void *argument)
{
    (void)argument;
    struct monitor_view *view = alloc_bytes(sizeof *view);
    view->span = TREND_6_HOURS;
    view->facts.monitor.trend.span = view->span;
    view->cursor = NO_CURSOR;
    ask_monitor(app, view);
    ask_count(app, view);
    return view;
}

static void
monitor_close(struct app *app, void *state)
{
    (void)app;
    struct monitor_view *view = state;
    arena_release(&view->facts.arena);
    arena_release(&view->facts.stats_arena);
    free(view);
}

static void
monitor_shown(struct app *app, void *state)
{
    ask_monitor(app, state);
}

const struct view view_monitor = {
    .name = "monitor",
    .context = CONTEXT_VIEW_monitor,
    .aging = AGES_BY_MINUTES,
    .actions = actions,
    .footer = footer,
    .open = monitor_open,
    .close = monitor_close,
    .shown = monitor_shown,
    .receive = monitor_receive,
    .crumb = monitor_crumb,
    .draw = monitor_draw,
    .layout = monitor_arrange,
    .due = monitor_due,
    .tick = monitor_tick,
    .click = monitor_click,
};
