// The operations, newest first, as they change.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/operations/doubt.h"
#include "ui/views/operations/operation.h"
#include "ui/views/notice.h"
#include "ui/views/operations/row.h"
#include "ui/views/row_filter.h"
#include "ui/views/operations/steering.h"
#include "ui/views/operations/stop.h"
#include "ui/views/operations/worker_chip.h"
#include "ui/widgets/statusbar.h"
#include "ui/views/operations/texts.h"

enum { PREVIEW_ROWS = 5, PREVIEW_FROM_ROWS = 14 };

struct operations {
    struct steering steering; // first: see steering.h
    struct row_filter filter;
    char *about; // what the list was opened for, or NULL
    struct table table;
    struct table_column columns[OPERATION_COLUMNS];
    struct arena arena; // of the newest answer
    struct operation *rows;
    size_t row_count;
    struct doubt *doubts; // of all operations, and suspended slots
    size_t doubt_count;
    size_t *shown; // indexes of rows
    size_t shown_count, shown_capacity;
    bool has_preview;
    bool is_asked, has_answer;
    uint64_t number;
    struct err err; // why there is no answer
};

static const enum action footer[] = {DO_OPEN,
                                     DO_OPERATION_APPROVE,
                                     DO_OPERATION_PAUSE,
                                     DO_OPERATION_CANCEL,
                                     DO_FAILED_ONLY,
                                     DO_UNDO,
                                     DO_RATE_UP,
                                     DO_RATE_DOWN,
                                     DO_HELP,
                                     DO_NONE};

struct operations_drawing {
    const struct operations *operations;
    struct moments moments;
};

static const struct operation *
shown_operation(const struct operations *operations, size_t index)
{
    return &operations->rows[operations->shown[index]];
}

static const struct operation *
cursor_operation(const struct operations *operations)
{
    return operations->shown_count ? shown_operation(operations, operations->table.cursor) : NULL;
}

static int64_t
operations_drawn_id(const void *rows, size_t index)
{
    return shown_operation(((const struct operations_drawing *)rows)->operations, index)->no;
}

static void
operations_drawn_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct operations_drawing *drawing = rows;
    operation_cell(shown_operation(drawing->operations, index), (enum operation_column)column,
                   drawing->moments, canvas, area);
}

static struct table_model
operations_model_of(const struct operations_drawing *drawing)
{
    return (struct table_model){.count = drawing->operations->shown_count,
                                .id = operations_drawn_id,
                                .cell = operations_drawn_cell,
                                .columns = drawing->operations->columns,
                                .column_count = OPERATION_COLUMNS,
                                .rows = drawing};
}

static void
show_rows(void *state)
{
    struct operations *operations = state;
    struct strbuf text = {0};
    operations->shown_count = 0;
    for (size_t i = 0; i < operations->row_count; i++) {
        strbuf_reset(&text);
        operation_row_text(&operations->rows[i], &text);
        if (!row_filter_match(&operations->filter, strbuf_bytes(&text)))
            continue;
        if (operations->about && bytes_find(strbuf_bytes(&text), bytes_of(operations->about), 0) == SIZE_MAX)
            continue;
        operations->shown = alloc_grow(operations->shown, operations->shown_count,
                                       &operations->shown_capacity, sizeof *operations->shown);
        operations->shown[operations->shown_count++] = i;
    }
    strbuf_release(&text);
    const struct operations_drawing drawing = {.operations = operations};
    struct table_model model = operations_model_of(&drawing);
    table_sync(&operations->table, &model);
}

// Without the schema no answer would come.
static void
operations_ask(struct app *app, struct operations *operations)
{
    operations->is_asked = app_status(app)->has_schema;
    if (operations->is_asked)
        operations->number = app_send(app, request_create(REQUEST_OPERATIONS));
}

static bool
operations_ask_filter(struct app *app, void *state, enum action action)
{
    (void)action;
    struct operations *operations = state;
    row_filter_ask(app, &operations->filter, "filter operations: ", show_rows, operations);
    return true;
}

static bool
operations_end_filter(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct operations *operations = state;
    if (!row_filter_clear(&operations->filter))
        return false;
    show_rows(operations);
    return true;
}

// The first one of the operation under the cursor, else any: each waits for a person.
static const struct doubt *
doubt_of(const struct operations *operations, const struct operation *operation)
{
    for (size_t i = 0; operation && i < operations->doubt_count; i++)
        if (operations->doubts[i].chunk && operations->doubts[i].operation == operation->no)
            return &operations->doubts[i];
    return operations->doubt_count ? &operations->doubts[0] : NULL;
}

static bool
operations_move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct operations *operations = state;
    const struct operations_drawing drawing = {.operations = operations};
    struct table_model model = operations_model_of(&drawing);
    return table_handle(&operations->table, &model, action);
}

static bool
operations_steer(struct app *app, void *state, enum action action)
{
    struct operations *operations = state;
    steering_handle(app, &operations->steering, cursor_operation(operations), action);
    return true;
}

static bool
operations_can_steer(const struct app *app, const void *state, enum action action)
{
    return steering_offers(app, cursor_operation(state), action);
}

static const char *
operations_steer_word(const struct app *app, const void *state, enum action action)
{
    (void)app;
    return steering_word(cursor_operation(state), action);
}

static bool
operations_decide_doubt(struct app *app, void *state, enum action action)
{
    (void)action;
    struct operations *operations = state;
    doubt_ask(app, &operations->steering, doubt_of(operations, cursor_operation(operations)));
    return true;
}

static bool
open_operation(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct operation *operation = cursor_operation(state);
    if (operation)
        app_open(app, &view_operation, &operation->no);
    return true;
}

static bool
operations_open_trail(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct operation *operation = cursor_operation(state);
    if (operation)
        app_open(app, &view_audit, &(struct audit_argument){.operation = operation->no});
    return true;
}

static bool
operations_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct operation *operation = cursor_operation(state);
    if (operation)
        app_copy(app, bytes_of(arena_printf(app_frame(app), "%lld", (long long)operation->no)),
                 "operation number");
    return true;
}

static bool
operations_toggle_preview(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct operations *operations = state;
    operations->has_preview = !operations->has_preview;
    return true;
}

static bool
operations_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    operations_ask(app, state);
    return true;
}

static bool
operations_has_row(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return cursor_operation(state) != NULL;
}

static const struct view_action actions[] = {
    {.part = table_moves, .run = operations_move},
    {.part = steering_handles,
     .run = operations_steer,
     .is_possible = operations_can_steer,
     .word = operations_steer_word},
    {.part = steering_refuses, .why_not = steering_why_not},
    {.action = DO_DOUBT_DECIDE, .run = operations_decide_doubt},
    {.action = DO_STOP_DECIDE, .run = stop_ask},
    {.action = DO_OPEN,
     .run = open_operation,
     .command = "redrive operation N",
     .is_possible = operations_has_row},
    {.action = DO_TRAIL, .run = operations_open_trail},
    {.action = DO_COPY, .run = operations_copy},
    {.action = DO_COPY_ID, .run = operations_copy},
    {.action = DO_DETAILS, .run = operations_toggle_preview},
    {.action = DO_FILTER, .run = operations_ask_filter},
    {.action = DO_REFRESH, .run = operations_refresh},
    {.action = DO_CANCEL, .run = steering_stop},
    {.action = DO_BACK, .run = operations_end_filter},
    {0},
};

static void
take_rows(struct app *app, struct operations *operations, struct reply *reply)
{
    arena_release(&operations->arena);
    arena_adopt(&operations->arena, &reply->arena);
    operations->rows = reply->operations.list;
    operations->row_count = reply->operations.count;
    operations->doubts = reply->operations.doubts;
    operations->doubt_count = reply->operations.doubt_count;
    operation_columns(operations->rows, operations->row_count, app_now(app), operations->columns);
    operations->has_answer = true;
    err_clear(&operations->err);
    for (size_t i = 0; i < operations->row_count; i++)
        steering_seen(app, &operations->steering, &operations->rows[i]);
    show_rows(operations);
}

static bool
operations_receive(struct app *app, void *state, struct reply *reply)
{
    struct operations *operations = state;
    if (steering_receive(app, &operations->steering, reply)) {
        bool is_slot = reply->kind == REPLY_STEERED && !reply->news.operation;
        if (is_slot) // no operation changes with it
            operations_ask(app, operations);
        return true;
    }
    if (reply->kind == REPLY_STATUS && !operations->is_asked && reply->status.has_schema)
        operations_ask(app, operations);
    if (!reply->number || reply->number != operations->number)
        return false;
    if (reply->kind == REPLY_OPERATIONS)
        take_rows(app, operations, reply);
    else
        operations->err = reply->err;
    return true;
}

static struct area
operations_split(const struct operations *operations, struct area *body)
{
    struct area none = {0};
    if (!operations->has_preview || operations->shown_count == 0 || body->rows < PREVIEW_FROM_ROWS)
        return none;
    return area_take_bottom(body, PREVIEW_ROWS);
}

static void
operations_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct operations *operations = state;
    struct area body = areas->body;
    operations->columns[OPERATION_COLUMN_STARTED].width =
        moment_cells(app_moments(app).by_clock, OPERATION_STARTED_CELLS);
    operations_split(operations, &body);
    const struct operations_drawing drawing = {.operations = operations};
    struct table_model model = operations_model_of(&drawing);
    table_layout(&operations->table, &model, body);
}

static void
draw_count(const struct app *app, const struct operations *operations, enum operation_state state,
           enum role role, const char *word, struct canvas *canvas, int row, int *col, int limit)
{
    size_t count = 0;
    char text[TEXT_SHORT];
    for (size_t i = 0; i < operations->row_count; i++)
        count += operations->rows[i].state == state;
    if (count)
        chip_draw(canvas, row, col, limit, role,
                  bytes_of(arena_printf(app_frame(app), "%s %s", text_count((int64_t)count, text), word)));
}

static void
operations_draw_line(const struct app *app, const struct operations *operations, struct canvas *canvas,
                     struct area line)
{
    struct arena *arena = app_frame(app);
    char shown[TEXT_SHORT];
    char all[TEXT_SHORT];
    int col = line.col + 1;
    int limit = line.col + line.cols;
    int row = line.row;
    char position[48];
    if (line.rows < 1)
        return;
    if (operations->shown_count)
        limit = chip_draw_at_right(canvas, line, ROLE_STATUS,
                                   bytes_of(table_position(&operations->table, position)));
    if (row_filter_is_on(&operations->filter)) {
        chip_draw(canvas, row, &col, limit, ROLE_FILTER,
                  bytes_of(arena_printf(arena, "/%s", strbuf_text(&operations->filter.text))));
        chip_draw(canvas, row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, "%s / %s", text_count((int64_t)operations->shown_count, shown),
                                        text_count((int64_t)operations->row_count, all))));
    }
    if (operations->has_answer)
        chip_draw(
            canvas, row, &col, limit, ROLE_STATUS,
            bytes_of(arena_printf(arena, "%s operation%s", text_count((int64_t)operations->row_count, all),
                                  operations->row_count == 1 ? "" : "s")));
    if (app_status(app)->stop[0])
        chip_draw(canvas, row, &col, limit, ROLE_STATUS_ERROR, BYTES(MSG_STOP_CHIP));
    if (operations->doubt_count)
        chip_draw(canvas, row, &col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(arena, MSG_DOUBT_CHIP,
                                        doubt_summary(operations->doubts, operations->doubt_count, arena))));
    draw_count(app, operations, OPERATION_RUNNING, ROLE_OPERATION_RUNNING, "running", canvas, row, &col,
               limit);
    draw_count(app, operations, OPERATION_WAITING, ROLE_OPERATION_WAITING, "watching", canvas, row, &col,
               limit);
    draw_count(app, operations, OPERATION_FROZEN, ROLE_OPERATION_WAITING, "queued", canvas, row, &col, limit);
    draw_count(app, operations, OPERATION_AWAITING, ROLE_STATUS_WARN, "to approve", canvas, row, &col, limit);
    draw_count(app, operations, OPERATION_HALTED, ROLE_OPERATION_FAILED, "halted", canvas, row, &col, limit);
    worker_chip_draw(app, canvas, row, &col, limit);
}

static const char *
operations_empty_words(const struct app *app, const struct operations *operations)
{
    const struct status *status = app_status(app);
    struct arena *arena = app_frame(app);
    char count[TEXT_SHORT];
    if (!status->has_schema)
        return MSG_NO_SCHEMA;
    if (err_is_set(&operations->err))
        return operations->err.text;
    if (status->link == LINK_LOST && !operations->has_answer)
        return arena_printf(arena, MSG_UNREACHABLE, status->trouble);
    if (!operations->has_answer)
        return MSG_LOADING;
    if (operations->row_count && row_filter_is_on(&operations->filter))
        return arena_printf(arena, MSG_NOTHING_MATCHES, text_count((int64_t)operations->row_count, count));
    if (operations->about)
        return MSG_NO_OPERATION_ABOUT;
    return MSG_NO_OPERATIONS;
}

static void
operations_draw(const struct app *app, const void *state, struct canvas *canvas,
                const struct view_areas *areas)
{
    const struct operations *operations = state;
    struct area body = areas->body;
    struct area preview = operations_split(operations, &body);
    const struct operation *operation = cursor_operation(operations);
    operations_draw_line(app, operations, canvas, areas->line);
    if (!operation) {
        notice_draw(canvas, body, operations_empty_words(app, operations));
        return;
    }
    const struct operations_drawing drawing = {.operations = operations, .moments = app_moments(app)};
    struct table_model model = operations_model_of(&drawing);
    table_draw(&operations->table, &model, canvas, body);
    if (preview.rows > 1) {
        canvas_hline(canvas, preview.row, preview.col + 1, preview.cols - 2, ROLE_BORDER);
        area_take_top(&preview, 1);
        area_take_left(&preview, 1);
        operation_draw_preview(operation, canvas, preview);
    }
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
operations_click(struct app *app, void *state, int row, int col)
{
    (void)app;
    struct operations *operations = state;
    const struct operations_drawing drawing = {.operations = operations};
    struct table_model model = operations_model_of(&drawing);
    int column;
    return table_click(&operations->table, &model, row, col, &column) == TABLE_ROW;
}

static bool
operations_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct operations *operations = state;
    if (i > 0)
        return false;
    strbuf_add_text(out, "operations");
    if (operations->about)
        strbuf_printf(out, " about %s", operations->about);
    return true;
}

static void *
operations_open(struct app *app, const void *argument)
{
    const struct operations_argument *given = argument;
    struct operations *operations = alloc_bytes(sizeof *operations);
    operations->has_preview = true;
    operation_columns(NULL, 0, 0, operations->columns);
    operations->about = given && given->about ? alloc_text(given->about) : NULL;
    operations_ask(app, operations);
    return operations;
}

static void
operations_close(struct app *app, void *state)
{
    struct operations *operations = state;
    app_send(app, request_create(REQUEST_OPERATIONS_END));
    steering_release(&operations->steering);
    row_filter_release(&operations->filter);
    arena_release(&operations->arena);
    free(operations->about);
    free(operations->shown);
    free(operations);
}

// The view above may have unsubscribed from the backend's updates.
static void
operations_shown(struct app *app, void *state)
{
    operations_ask(app, state);
}

const struct view view_operations = {
    .name = "operations",
    .context = CONTEXT_VIEW_operations,
    .aging = AGES_BY_SECONDS,
    .actions = actions,
    .footer = footer,
    .open = operations_open,
    .close = operations_close,
    .shown = operations_shown,
    .receive = operations_receive,
    .crumb = operations_crumb,
    .draw = operations_draw,
    .layout = operations_layout,
    .click = operations_click,
};
