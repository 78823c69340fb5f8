// Draws the list of events and its preview.
#include "ui/views/events/state.h"

#include "base/text.h"
#include "ui/widgets/preview.h"
#include "ui/widgets/statusbar.h"
#include "ui/views/events/texts.h"

static int64_t
events_draw_drawn_id(const void *rows, size_t index)
{
    return ((const struct events_drawing *)rows)->events->ids[index];
}

static bool
drawn_selected(const void *rows, size_t index)
{
    const struct events_drawing *drawing = rows;
    return selection_has(app_selection(drawing->app), drawing->events->ids[index]);
}

static void
events_draw_drawn_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct events_drawing *drawing = rows;
    const struct events *events = drawing->events;
    const struct event *event = row_cache_find(&events->rows, events->ids[index]);
    const struct event_look look = {.moments = app_moments(drawing->app),
                                    .filter = events->parsed,
                                    .shared = row_cache_shared(&events->rows)};
    if (event)
        event_cell(event, (enum event_column)column, &look, canvas, area);
    else if (column == COLUMN_ID)
        canvas_count(canvas, area.row, area.col, area.cols, drawing->events->ids[index], ROLE_DIM);
}

struct table_model
events_model(const struct events_drawing *drawing)
{
    return (struct table_model){.count = drawing->events->count,
                                .id = events_draw_drawn_id,
                                .is_selected = drawn_selected,
                                .cell = events_draw_drawn_cell,
                                .columns = drawing->events->columns,
                                .column_count = EVENT_COLUMNS,
                                .rows = drawing};
}

const char *
events_title(const struct events *events, struct arena *arena)
{
    if (events->title)
        return events->title;
    if (events->query.has_value)
        return arena_printf(arena, "%s %s", pivot_name(events->query.pivot), events->query.value);
    return events->query.source == LIST_PENDING ? "all pending" : "events";
}

struct area
events_split(const struct events *events, struct area *body)
{
    return !events->shown.preview.is_hidden && events->count ? preview_take(body) : (struct area){0};
}

static void
draw_empty(const struct app *app, const struct events *events, struct canvas *canvas, struct area body)
{
    const struct status *status = app_status(app);
    char count[TEXT_SHORT];
    if (body.rows < 1)
        return;
    if (*events->progress.trouble) {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, bytes_of(events->progress.trouble),
                    ROLE_STATUS_WARN);
    } else if (!events->progress.is_complete && !events->progress.was_stopped) {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES(MSG_SEARCHING), ROLE_DIM);
    } else if (events->progress.was_stopped && !events->progress.is_complete) {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES(MSG_STOPPED_EARLY), ROLE_TEXT);
    } else if (events->filter.len && events->progress.total < 0) {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES(MSG_NOTHING_MATCHES_HERE),
                    ROLE_TEXT);
    } else if (events->filter.len) {
        canvas_printf(canvas, body.row, body.col + 1, body.cols - 1, ROLE_TEXT, MSG_NOTHING_MATCHES,
                      text_count(events->progress.total, count));
    } else if (events->query.source == LIST_PENDING && status->last_closed_at != TIME_ABSENT &&
               status->last_closed_at) {
        canvas_printf(canvas, body.row, body.col + 1, body.cols - 1, ROLE_TEXT, MSG_ALL_DONE,
                      moment_phrase(app_moments(app), status->last_closed_at, count), status->last_closed_by);
    } else {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES(MSG_NO_EVENTS), ROLE_TEXT);
    }
}

static void
events_draw_draw_line(const struct app *app, const struct events *events, struct canvas *canvas,
                      struct area line)
{
    if (line.rows < 1)
        return;
    struct arena *arena = app_frame(app);
    char a[TEXT_SHORT];
    char b[TEXT_SHORT];
    char position[48];
    const char *shown = table_position(&events->table, position);
    bool is_counted = events->progress.total >= 0;
    if (!events->progress.is_complete && !is_counted)
        shown = arena_printf(arena, MSG_SEARCHED_UNCOUNTED, text_count((int64_t)events->count, a),
                             text_count(events->progress.scanned, b));
    else if (!events->progress.is_complete)
        shown = arena_printf(arena, MSG_SEARCHED_SO_FAR, text_count((int64_t)events->count, a),
                             text_count(events->progress.scanned, b),
                             text_count(events->progress.total, (char[TEXT_SHORT]){0}));
    else if (events->filter.len && is_counted)
        shown = arena_printf(arena, MSG_POSITION_OF, shown, text_count(events->progress.total, b));
    if (!events->progress.is_begun) // what is on the screen is the list before
        shown = MSG_SEARCHING;
    bool has_failed = *events->progress.trouble != '\0';
    if (has_failed)
        shown = arena_printf(arena, MSG_SEARCH_FAILED, text_count((int64_t)events->count, a));
    int limit =
        chip_draw_at_right(canvas, line, has_failed ? ROLE_STATUS_WARN : ROLE_STATUS, bytes_of(shown));

    int col = line.col + 1;
    struct selection *selection = app_selection(app);
    if (events->fixed)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS, bytes_of(events->fixed));
    if (events->filter.len)
        chip_draw_cut(canvas, line.row, &col, limit, ROLE_FILTER,
                      bytes_of(arena_printf(arena, "/%s", strbuf_text(&events->filter))));
    if (selection->count) {
        size_t hidden =
            selection->count > 20000 ? 0 : selection_hidden(selection, events->ids, events->count);
        const char *words =
            hidden ? arena_printf(arena, "sel %s (%s hidden)", text_count((int64_t)selection->count, a),
                                  text_count((int64_t)hidden, b))
                   : arena_printf(arena, "sel %s", text_count((int64_t)selection->count, a));
        chip_draw(canvas, line.row, &col, limit, ROLE_STRONG, bytes_of(words));
    }
    if (events->progress.arrived)
        chip_draw(
            canvas, line.row, &col, limit, ROLE_STATUS_INFO,
            bytes_of(arena_printf(arena, MSG_NEW_WAIT, text_count((int64_t)events->progress.arrived, a))));
    int64_t closed = events_closed_since(events);
    if (closed)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO,
                  bytes_of(arena_printf(arena, MSG_CLOSED_SINCE, text_count(closed, a))));
    if (events->progress.undecided)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(arena, MSG_UNDECIDED, text_count(events->progress.undecided, a))));
    if (events->progress.was_stopped)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN, BYTES("stopped"));
    if (events->is_selected_only)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, BYTES("selected only"));
    const char *status = events_status_name(events);
    if (status)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, bytes_of(status));
    if (events->type)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, "all %s", events->type)));
    chip_draw(canvas, line.row, &col, limit, ROLE_STATUS, bytes_of(events_order_words(events, arena)));
}

void
events_draw_preview(const void *what, struct canvas *canvas, struct area area)
{
    const struct events *events = what;
    const struct event *event = events_cursor(events);
    if (event)
        event_preview(event, events->parsed, canvas, area);
}

void
events_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct events *events = state;
    events_draw_draw_line(app, events, canvas, areas->line);
    struct area body = areas->body;
    struct area preview = events_split(events, &body);
    if (events->count == 0) {
        draw_empty(app, events, canvas, body);
        return;
    }

    const struct events_drawing drawing = {.events = events, .app = app};
    struct table_model model = events_model(&drawing);
    table_draw(&events->table, &model, canvas, body);
    preview_draw(&events->shown.preview, canvas, preview, events_draw_preview, events);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}
