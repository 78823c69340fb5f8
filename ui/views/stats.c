// The five analyses of the whole table, as `redrive stats` prints them: one page of text with bars. They are
// counted when the page is opened and on refresh, never by themselves: counting reads every event.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/views/events/row.h"
#include "ui/views/notice.h"
#include "ui/views/text_page.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"

enum {
    MARGIN = 2, // of the pager's lines, and one cell at the right
    NAME_LEAST = 10,
    NAME_MOST = 50,
    COUNT_LEAST = 8, // "resolved"
    MINUTE_WIDTH = 16,
    BAR_LEAST = 5,
    BAR_MOST = 40,
    BOTH_TIMES_FROM = 100, // columns of the screen
    LINE_SPANS = 2,
    HOURS = 7 * 24,
    CHART_ROWS = 7,   // the axis with them
    CHART_GUTTER = 10 // for the number at the left of the chart
};

struct stats_view {
    struct text_page page; // first: see text_page.h
    struct arena arena;    // of the analyses
    struct stats stats;
    bool has_answer;
    int64_t counted_at;
    uint64_t number; // of the request that is waited for, or 0
    struct err err;  // of the last one
    int cols;        // that the text was built for
};

static const enum action footer[] = {DO_REFRESH, DO_SEARCH, DO_BACK, DO_HELP, DO_NONE};

// --- lines ---

struct stats_drawing {
    struct pager *pager;
    const struct stats *stats;
    struct canvas like; // for glyphs
    int cols;           // of a line
    int count_width;    // of the widest count
    struct strbuf line;
    struct canvas_span spans[LINE_SPANS];
    size_t span_count;
};

static void
end_line(struct stats_drawing *drawing, enum role role)
{
    pager_spans(drawing->pager, role, strbuf_bytes(&drawing->line), drawing->spans, drawing->span_count);
    strbuf_reset(&drawing->line);
    drawing->span_count = 0;
}

static void
add_right(struct stats_drawing *drawing, int width, const char *text)
{
    strbuf_printf(&drawing->line, "%*s", width, text);
}

static void
add_count(struct stats_drawing *drawing, int64_t count)
{
    char text[TEXT_SHORT];
    add_right(drawing, drawing->count_width, text_count(count, text));
}

// Cut where it is too long, so that the counts line up.
static void
add_name(struct stats_drawing *drawing, int width, const char *name)
{
    const struct canvas *like = &drawing->like;
    struct strbuf visible = {0};
    text_visible(&visible, bytes_of(name ? name : glyph_text(like, GLYPH_NONE)), false);
    struct bytes text = strbuf_bytes(&visible);
    int cells = text_cells(text, like->is_ascii);
    if (cells > width) {
        text.len = text_fit(text, 0, width - 1, like->is_ascii);
        cells = text_cells(text, like->is_ascii) + 1;
        strbuf_add(&drawing->line, text);
        strbuf_add_text(&drawing->line, glyph_text(like, GLYPH_ELLIPSIS));
    } else {
        strbuf_add(&drawing->line, text);
    }
    strbuf_printf(&drawing->line, "%*s", width - cells, "");
    strbuf_release(&visible);
}

// The hour and the minute of an instant, "" for none.
static const char *
minute_text(int64_t at, char out[TIME_TEXT])
{
    out[0] = '\0';
    if (at != TIME_ABSENT)
        (void)time_local(at, out);
    out[MINUTE_WIDTH] = '\0';
    return out;
}

// A bar over the rest of the line, as a share of the most. Anything above zero is at least one cell.
static void
add_bar(struct stats_drawing *drawing, int64_t count, int64_t most)
{
    int room = drawing->cols - text_cells(strbuf_bytes(&drawing->line), drawing->like.is_ascii) - 2;
    room = room > BAR_MOST ? BAR_MOST : room;
    if (room < BAR_LEAST)
        return;
    strbuf_add_text(&drawing->line, "  ");
    int len = most > 0 ? (int)((double)count / (double)most * room + 0.5) : 0;
    size_t from = drawing->line.len;
    for (int i = 0; i < len || (i == 0 && count > 0); i++)
        strbuf_add_text(&drawing->line, glyph_text(&drawing->like, GLYPH_FULL));
    if (drawing->line.len > from)
        drawing->spans[drawing->span_count++] =
            (struct canvas_span){.from = from, .len = drawing->line.len - from, .role = ROLE_GRAPH};
}

static void
add_none(struct stats_drawing *drawing, const char *why)
{
    pager_line(drawing->pager, ROLE_DIM, bytes_of(why));
}

// --- the analyses ---

static void
add_time(struct stats_drawing *drawing, const char *name, int64_t at)
{
    char text[TIME_TEXT];
    if (at != TIME_ABSENT)
        pager_printf(drawing->pager, ROLE_DIM, "%-*s %s", NAME_LEAST, name, time_local(at, text));
}

static void
add_pending(struct stats_drawing *drawing)
{
    const struct stats_pending *pending = &drawing->stats->pending;
    struct stats_state states[STATS_STATES];
    size_t count = stats_states(pending, states);
    int64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = states[i].count > most ? states[i].count : most;
    pager_section(drawing->pager, "Pending events", NULL, false);
    for (size_t i = 0; i < count; i++) {
        add_name(drawing, NAME_LEAST, states[i].name);
        add_count(drawing, states[i].count);
        add_bar(drawing, states[i].count, most);
        end_line(drawing, ROLE_TEXT);
    }
    add_time(drawing, "oldest", pending->oldest_at);
    add_time(drawing, "newest", pending->newest_at);
}

static void
add_errors(struct stats_drawing *drawing)
{
    const struct stats *stats = drawing->stats;
    bool has_first = drawing->cols + MARGIN + 1 >= BOTH_TIMES_FROM;
    char at[TIME_TEXT];
    pager_section(drawing->pager, "Most common errors", NULL, false);
    if (stats->error_count == 0) {
        add_none(drawing, "nothing pending");
        return;
    }
    add_right(drawing, drawing->count_width, "events");
    if (has_first)
        strbuf_printf(&drawing->line, "  %-*s", MINUTE_WIDTH, "first");
    strbuf_printf(&drawing->line, "  %-*s  %s", MINUTE_WIDTH, "last",
                  stats->errors[0].group ? "error, one per group" : "error, one per message");
    end_line(drawing, ROLE_HEADER);
    for (size_t i = 0; i < stats->error_count; i++) {
        const struct stats_error *error = &stats->errors[i];
        add_count(drawing, error->count);
        if (has_first)
            strbuf_printf(&drawing->line, "  %-*s", MINUTE_WIDTH, minute_text(error->first_at, at));
        strbuf_printf(&drawing->line, "  %-*s  ", MINUTE_WIDTH, minute_text(error->last_at, at));
        const char *message = error->message ? error->message : glyph_text(&drawing->like, GLYPH_NONE);
        text_visible(&drawing->line, bytes_of(message + event_package_len(bytes_of(message))), false);
        end_line(drawing, ROLE_TEXT);
    }
}

// Hours without errors are left out.
// As many hours a column as the width asks for, the newest at the right.
static void
add_hours(struct stats_drawing *drawing)
{
    const struct stats *stats = drawing->stats;
    uint32_t columns[HOURS] = {0};
    const struct stats_hour *busiest = NULL;
    size_t per = 1;
    while (HOURS / per > (size_t)(drawing->cols > CHART_GUTTER ? drawing->cols - CHART_GUTTER : 1) &&
           per < HOURS)
        per++;
    size_t count = (HOURS + per - 1) / per;
    for (size_t i = 0; i < stats->hour_count && i < HOURS; i++) {
        const struct stats_hour *hour = &stats->hours[stats->hour_count - 1 - i];
        columns[count - 1 - i / per] += (uint32_t)hour->count;
        busiest = !busiest || hour->count > busiest->count ? hour : busiest;
    }
    pager_section(drawing->pager, "Errors per hour, last 7 days", NULL, false);
    if (!busiest || !busiest->count) {
        add_none(drawing, "none arrived");
        return;
    }
    char at[TIME_TEXT];
    char text[TEXT_SHORT];
    struct canvas picture;
    struct strbuf lines = {0};
    const struct chart chart = {.values = columns, .count = count, .from = "7 days ago", .to = "now"};
    canvas_init(&picture, CHART_ROWS, drawing->cols, drawing->like.is_ascii);
    (void)chart_draw(&picture, canvas_area(&picture), &chart, ROLE_GRAPH);
    canvas_to_text(&picture, &lines);
    struct bytes rows = strbuf_bytes(&lines);
    rows.len -= rows.len > 0; // the last line end
    pager_line(drawing->pager, ROLE_GRAPH, rows);
    pager_printf(drawing->pager, ROLE_DIM, "%zu hour%s a column; most in one: %s, at %s", per,
                 per == 1 ? "" : "s", text_count(busiest->count, text), minute_text(busiest->hour, at));
    canvas_release(&picture);
    strbuf_release(&lines);
}

// Of the longest event type, as far as the counts behind it leave room.
static int
name_width(const struct stats_drawing *drawing, int counts)
{
    const struct stats *stats = drawing->stats;
    int width = NAME_LEAST;
    for (size_t i = 0; i < stats->type_count; i++) {
        const char *type = stats->types[i].event_type;
        int cells = type ? text_cells(bytes_of(type), drawing->like.is_ascii) : 0;
        width = cells > width ? cells : width;
    }
    int room = drawing->cols - counts * (drawing->count_width + 1);
    width = width > NAME_MOST ? NAME_MOST : width;
    width = width > room ? room : width;
    return width < NAME_LEAST ? NAME_LEAST : width;
}

static void
add_types(struct stats_drawing *drawing)
{
    const struct stats *stats = drawing->stats;
    static const char *const titles[] = {"total", "pending", "resolved"};
    enum { COUNTS = sizeof titles / sizeof *titles };
    int width = name_width(drawing, COUNTS);
    pager_section(drawing->pager, "Per event type", NULL, false);
    add_name(drawing, width, "event type");
    for (int i = 0; i < COUNTS; i++)
        add_right(drawing, drawing->count_width + 1, titles[i]);
    end_line(drawing, ROLE_HEADER);
    for (size_t i = 0; i < stats->type_count; i++) {
        const struct stats_type *type = &stats->types[i];
        const int64_t counts[COUNTS] = {type->total, type->pending, type->resolved};
        add_name(drawing, width, type->event_type);
        for (int c = 0; c < COUNTS; c++) {
            strbuf_add_char(&drawing->line, ' ');
            add_count(drawing, counts[c]);
        }
        add_bar(drawing, type->total, stats->types[0].total);
        end_line(drawing, ROLE_TEXT);
    }
}

static void
add_resolutions(struct stats_drawing *drawing)
{
    const struct stats *stats = drawing->stats;
    int width = name_width(drawing, 3); // below those of the types
    double most = 0;
    char mean[TEXT_SHORT];
    pager_section(drawing->pager, "Mean time to resolution", NULL, false);
    if (stats->resolution_count == 0) {
        add_none(drawing, "nothing resolved yet");
        return;
    }
    add_name(drawing, width, "event type");
    add_right(drawing, drawing->count_width + 1, "resolved");
    add_right(drawing, drawing->count_width + 1, "mean");
    end_line(drawing, ROLE_HEADER);
    for (size_t i = 0; i < stats->resolution_count; i++)
        most = stats->resolutions[i].mean_seconds > most ? stats->resolutions[i].mean_seconds : most;
    for (size_t i = 0; i < stats->resolution_count; i++) {
        const struct stats_resolution *resolution = &stats->resolutions[i];
        add_name(drawing, width, resolution->event_type);
        strbuf_add_char(&drawing->line, ' ');
        add_count(drawing, resolution->resolved);
        add_right(drawing, drawing->count_width + 1, text_seconds(resolution->mean_seconds, mean));
        add_bar(drawing, (int64_t)resolution->mean_seconds, (int64_t)most);
        end_line(drawing, ROLE_TEXT);
    }
}

static int64_t
all_events(const struct stats *stats)
{
    return stats->pending.pending + stats->pending.resolved + stats->pending.discarded + stats->pending.other;
}

static void
add_analyses(struct stats_drawing *drawing)
{
    add_pending(drawing);
    add_errors(drawing);
    add_hours(drawing);
    add_types(drawing);
    add_resolutions(drawing);
}

static void
stats_build(const struct app *app, struct stats_view *view, int cols)
{
    char most[TEXT_SHORT];
    int count_width = (int)strlen(text_count(all_events(&view->stats), most));
    struct stats_drawing drawing = {
        .pager = view->page.pager,
        .stats = &view->stats,
        .like = {.is_ascii = app_config(app)->is_ascii},
        .cols = cols - MARGIN - 1,
        .count_width = count_width < COUNT_LEAST ? COUNT_LEAST : count_width,
    };
    view->cols = cols;
    pager_begin(drawing.pager);
    if (all_events(drawing.stats) > 0)
        add_analyses(&drawing);
    pager_end(drawing.pager);
    strbuf_release(&drawing.line);
}

// --- the view ---

static void
stats_ask(struct app *app, struct stats_view *view)
{
    if (view->number)
        return;
    err_clear(&view->err);
    view->number = app_send(app, request_create(REQUEST_STATS));
}

static bool
stats_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    stats_ask(app, state);
    return true;
}

static const struct view_action actions[] = {
    {.part = pager_handles, .run = text_page_move},
    {.action = DO_SEARCH, .run = text_page_search},
    {.action = DO_REFRESH, .run = stats_refresh},
    {0},
};

static void
stats_take(struct app *app, struct stats_view *view, struct reply *reply)
{
    arena_release(&view->arena);
    arena_adopt(&view->arena, &reply->arena);
    view->stats = reply->figures.stats;
    view->has_answer = true;
    view->counted_at = app_now(app);
    view->cols = 0;
}

// A failure is shown in place of the numbers; over older numbers it goes to the message line.
static bool
stats_receive(struct app *app, void *state, struct reply *reply)
{
    struct stats_view *view = state;
    if (reply->kind == REPLY_STATUS && reply->status.link == LINK_LIVE && view->err.kind == ERR_UNREACHABLE)
        stats_ask(app, view);
    if (!reply->number || reply->number != view->number)
        return false;
    view->number = 0;
    view->err = reply->err;
    if (reply->kind != REPLY_STATS)
        return !view->has_answer;
    stats_take(app, view, reply);
    return true;
}

static void
stats_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct stats_view *view = state;
    if (view->has_answer && view->cols != areas->body.cols)
        stats_build(app, view, areas->body.cols);
    text_page_layout(app, state, areas);
}

// Why there are no numbers, or NULL.
static const char *
stats_empty_words(const struct stats_view *view)
{
    if (view->has_answer)
        return all_events(&view->stats) ? NULL : "No events in the table; nothing to count.";
    return err_is_set(&view->err) ? view->err.text : "counting: this reads every event of the table";
}

static void
stats_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct stats_view *view = state;
    const char *empty = stats_empty_words(view);
    char at[TIME_TEXT];
    int col;
    int limit = text_page_draw_line(&view->page, canvas, areas->line, &col);
    if (areas->line.rows > 0 && view->has_answer)
        chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), "counted %s",
                                        time_brief(view->counted_at, app_now(app), at))));
    if (areas->line.rows > 0 && view->number)
        chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS_INFO, BYTES("counting"));
    if (empty) {
        notice_draw(canvas, areas->body, empty);
        return;
    }
    pager_draw(view->page.pager, canvas, areas->body);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static void *
stats_open(struct app *app, const void *argument)
{
    (void)argument;
    struct stats_view *view = alloc_bytes(sizeof *view);
    text_page_init(&view->page, app, "stats");
    (void)pager_handle(view->page.pager, DO_WRAP); // rows are cut, so that columns line up
    stats_ask(app, view);
    return view;
}

static void
stats_close(struct app *app, void *state)
{
    (void)app;
    struct stats_view *view = state;
    text_page_release(&view->page);
    arena_release(&view->arena);
    free(view);
}

const struct view view_stats = {
    .name = "stats",
    .context = CONTEXT_VIEW_stats,
    .actions = actions,
    .footer = footer,
    .open = stats_open,
    .close = stats_close,
    .receive = stats_receive,
    .crumb = text_page_crumb,
    .draw = stats_draw,
    .layout = stats_layout,
};
