// The audit: who did what, when, on how many, why, from where. Read page by page; append-only.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/operations/operation.h"
#include "ui/app/app.h"
#include "ui/views/decide/decide.h"
#include "ui/views/notice.h"
#include "ui/views/row_filter.h"
#include "ui/widgets/statusbar.h"
#include "ui/widgets/table.h"
#include "ui/views/operations/texts.h"

enum {
    NEAR_END = 40,
    PREVIEW_ROWS = 4,
    PREVIEW_FROM_ROWS = 14,
    WHEN_WIDTH = 8, // time of day
    DATE_WIDTH = 19,
    DATE_FROM_COLS = 110,
};

// One answer and its rows. Pages are kept in the order of their numbers, newest first.
struct page {
    struct arena arena;
    struct audit_row *rows;
    size_t count;
};

enum audit_column {
    AUDIT_WHEN,
    AUDIT_WHO,
    AUDIT_WHAT,
    AUDIT_OPERATION,
    AUDIT_EVENTS,
    AUDIT_HOST,
    AUDIT_WHY,
    AUDIT_COLUMNS
};

struct audit {
    int64_t operation; // 0: all
    struct row_filter filter;
    struct table table;
    struct table_column columns[AUDIT_COLUMNS];
    bool has_preview;
    struct page *pages;
    size_t page_count, page_capacity;
    const struct audit_row **shown;
    size_t row_count, shown_count, shown_capacity;
    uint64_t number;
    bool of_people;   // without the steps of workers
    bool is_newer;    // the request asks for what is newer than the first row
    bool is_complete; // the oldest row is here
    bool has_answer;
    bool has_news; // an operation ended since
    struct err err;
};

static const enum action footer[] = {DO_OPEN, DO_FILTER, DO_FOLD, DO_REFRESH, DO_COPY, DO_HELP, DO_NONE};

static const struct table_column narrow_columns[AUDIT_COLUMNS] = {
    [AUDIT_WHEN] = {.title = "when", .width = WHEN_WIDTH, .priority = 2, .at_right = true},
    [AUDIT_WHO] = {.title = "who", .width = 8, .priority = 1},
    [AUDIT_WHAT] = {.title = "what", .width = 10},
    [AUDIT_OPERATION] = {.title = "op", .width = 4, .priority = 3, .at_right = true},
    [AUDIT_EVENTS] = {.title = "events", .width = 9, .at_right = true},
    [AUDIT_HOST] = {.title = "from", .width = 12, .priority = 5},
    [AUDIT_WHY] = {.title = "why", .width = 26, .widest = TABLE_REST, .priority = 4},
};

struct audit_drawing {
    const struct audit *audit;
    const struct app *app;
};

static int64_t
audit_drawn_id(const void *rows, size_t index)
{
    return ((const struct audit_drawing *)rows)->audit->shown[index]->no;
}

static void
audit_draw_right(struct canvas *canvas, struct area area, const char *text)
{
    canvas_styled(canvas, area.row, area.col, area.cols, bytes_of(text),
                  &(struct canvas_style){.role = ROLE_TEXT, .at_right = true});
}

// The date where there is room for it, else the time of the last day, and the age of what is older.
static void
draw_when(int64_t at, struct moments moments, struct canvas *canvas, struct area area)
{
    char text[TIME_TEXT];
    moments.by_clock |= moments.now - at < 86400 * US_PER_SECOND;
    if (area.cols >= DATE_WIDTH)
        audit_draw_right(canvas, area, time_local(at, text));
    else
        audit_draw_right(canvas, area, moment_text(moments, at, (char[TEXT_SHORT]){0}));
}

static const char *
why_of(const struct audit_row *row)
{
    return row->reason ? row->reason : row->detail ? row->detail : "";
}

static void
audit_drawn_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct audit_drawing *drawing = rows;
    const struct audit_row *row = drawing->audit->shown[index];
    struct bytes text = BYTES("");
    switch ((enum audit_column)column) {
    case AUDIT_WHEN:
        draw_when(row->at, app_moments(drawing->app), canvas, area);
        return;
    case AUDIT_OPERATION:
        if (row->operation)
            audit_draw_right(canvas, area, arena_printf(app_frame(drawing->app), "%" PRId64, row->operation));
        return;
    case AUDIT_EVENTS:
        if (row->events)
            canvas_count(canvas, area.row, area.col, area.cols, row->events, ROLE_TEXT);
        return;
    case AUDIT_WHO:
        text = bytes_of(row->who);
        break;
    case AUDIT_WHAT:
        text = bytes_of(row->action);
        break;
    case AUDIT_HOST:
        text = bytes_of(row->host);
        break;
    case AUDIT_WHY:
        text = bytes_of(why_of(row));
        break;
    case AUDIT_COLUMNS:
        break;
    }
    canvas_text(canvas, area.row, area.col, area.cols, text, column == AUDIT_WHAT ? ROLE_STRONG : ROLE_TEXT);
}

static struct table_model
audit_model_of(const struct audit_drawing *drawing)
{
    return (struct table_model){.count = drawing->audit->shown_count,
                                .id = audit_drawn_id,
                                .cell = audit_drawn_cell,
                                .columns = drawing->audit->columns,
                                .column_count = AUDIT_COLUMNS,
                                .rows = drawing};
}

static const struct audit_row *
cursor_row(const struct audit *audit)
{
    return audit->shown_count ? audit->shown[audit->table.cursor] : NULL;
}

static void
row_text(const struct audit_row *row, struct strbuf *out)
{
    strbuf_reset(out);
    row_text_add(out, row->who);
    row_text_add(out, row->host);
    row_text_add(out, row->action);
    row_text_add(out, row->reason);
    row_text_add(out, row->detail);
    if (row->operation)
        strbuf_printf(out, "\n%" PRId64, row->operation);
}

static void
show_rows(void *state)
{
    struct audit *audit = state;
    struct strbuf text = {0};
    audit->row_count = audit->shown_count = 0;
    for (size_t p = 0; p < audit->page_count; p++) {
        for (size_t i = 0; i < audit->pages[p].count; i++, audit->row_count++) {
            const struct audit_row *row = &audit->pages[p].rows[i];
            row_text(row, &text);
            if (!row_filter_match(&audit->filter, strbuf_bytes(&text)))
                continue;
            audit->shown =
                alloc_grow(audit->shown, audit->shown_count, &audit->shown_capacity, sizeof *audit->shown);
            audit->shown[audit->shown_count++] = row;
        }
    }
    strbuf_release(&text);
    const struct audit_drawing drawing = {.audit = audit};
    struct table_model model = audit_model_of(&drawing);
    table_sync(&audit->table, &model);
}

static void
forget_pages(struct audit *audit)
{
    for (size_t p = 0; p < audit->page_count; p++)
        arena_release(&audit->pages[p].arena);
    audit->page_count = 0;
    audit->is_complete = false;
}

static const struct audit_row *
first_row(const struct audit *audit)
{
    return audit->page_count && audit->pages[0].count ? &audit->pages[0].rows[0] : NULL;
}

static const struct audit_row *
last_row(const struct audit *audit)
{
    const struct page *page = audit->page_count ? &audit->pages[audit->page_count - 1] : NULL;
    return page && page->count ? &page->rows[page->count - 1] : NULL;
}

static void
audit_ask(struct app *app, struct audit *audit, bool is_newer)
{
    struct request *request = request_create(REQUEST_AUDIT);
    const struct audit_row *last = last_row(audit);
    request->operation = audit->operation;
    request->is_on = audit->of_people;
    request->before = is_newer || !last ? 0 : last->no;
    audit->is_newer = is_newer;
    audit->has_news &= !is_newer;
    err_clear(&audit->err);
    audit->number = app_send(app, request);
}

// How many rows of the newest page are new. Where the page does not reach back to the rows here, these are
// forgotten, so that no gap is left.
static size_t
keep_newer(struct audit *audit, const struct reply *reply)
{
    const struct audit_row *first = first_row(audit);
    if (!first)
        return reply->audit.count;
    size_t count = 0;
    while (count < reply->audit.count && reply->audit.rows[count].no > first->no)
        count++;
    if (count == reply->audit.count && !reply->is_last)
        forget_pages(audit);
    return count;
}

static void
take_page(struct audit *audit, struct reply *reply)
{
    bool was_empty = audit->page_count == 0;
    size_t count = audit->is_newer ? keep_newer(audit, reply) : reply->audit.count;
    was_empty |= audit->page_count == 0;
    audit->has_answer = true;
    if (was_empty || !audit->is_newer)
        audit->is_complete = reply->is_last;
    if (count > 0) {
        audit->pages =
            alloc_grow(audit->pages, audit->page_count, &audit->page_capacity, sizeof *audit->pages);
        size_t at = audit->is_newer ? 0 : audit->page_count;
        memmove(audit->pages + at + 1, audit->pages + at, (audit->page_count - at) * sizeof *audit->pages);
        audit->pages[at] = (struct page){.rows = reply->audit.rows, .count = count};
        arena_adopt(&audit->pages[at].arena, &reply->arena);
        audit->page_count++;
    }
    show_rows(audit);
}

static bool
audit_ask_filter(struct app *app, void *state, enum action action)
{
    (void)action;
    struct audit *audit = state;
    row_filter_ask(app, &audit->filter, "filter audit: ", show_rows, audit);
    return true;
}

static bool
audit_end_filter(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct audit *audit = state;
    if (!row_filter_clear(&audit->filter))
        return false;
    show_rows(audit);
    return true;
}

static bool
copy_row(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct audit_row *row = cursor_row(state);
    char at[TIME_TEXT];
    if (row)
        app_copy(app,
                 bytes_of(arena_printf(app_frame(app),
                                       "%s %s from %s: %s, operation %" PRId64 ", %" PRId64 " events: %s",
                                       time_local(row->at, at), row->who, row->host, row->action,
                                       row->operation, row->events, why_of(row))),
                 "audit entry");
    return true;
}

static bool
open_row(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct audit_row *row = cursor_row(state);
    if (row && row->operation)
        app_open(app, &view_operation, &row->operation);
    else if (row)
        app_say(app, SAY_INFO, MSG_AUDIT_NO_OPERATION);
    return true;
}

static bool
audit_move(struct app *app, void *state, enum action action)
{
    struct audit *audit = state;
    const struct audit_drawing drawing = {.audit = audit, .app = app};
    struct table_model model = audit_model_of(&drawing);
    return table_handle(&audit->table, &model, action);
}

static bool
audit_toggle_preview(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct audit *audit = state;
    audit->has_preview = !audit->has_preview;
    return true;
}

static bool
audit_fold(struct app *app, void *state, enum action action)
{
    (void)action;
    struct audit *audit = state;
    audit->of_people = !audit->of_people;
    forget_pages(audit);
    table_to_first(&audit->table);
    show_rows(audit);
    audit->has_answer = false;
    audit_ask(app, audit, false);
    return true;
}

static bool
audit_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    audit_ask(app, state, true);
    return true;
}

static bool
audit_has_row(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return cursor_row(state) != NULL;
}

static const struct view_action actions[] = {
    {.part = table_moves, .run = audit_move},
    {.action = DO_OPEN, .run = open_row, .is_possible = audit_has_row},
    {.action = DO_FILTER, .run = audit_ask_filter},
    {.action = DO_DETAILS, .run = audit_toggle_preview},
    {.action = DO_FOLD, .run = audit_fold},
    {.action = DO_COPY, .run = copy_row, .is_possible = audit_has_row},
    {.action = DO_COPY_ID, .run = copy_row},
    {.part = decide_begins, .why_not = MSG_AUDIT_FIXED},
    {.action = DO_REFRESH, .run = audit_refresh},
    {.action = DO_BACK, .run = audit_end_filter},
    {0},
};

static bool
audit_receive(struct app *app, void *state, struct reply *reply)
{
    struct audit *audit = state;
    bool has_failed = err_is_set(&audit->err) && !audit->number;
    if (reply->kind == REPLY_STATUS && reply->status.link == LINK_LIVE && has_failed)
        audit_ask(app, audit, !audit->has_answer);
    if (reply->kind == REPLY_NEWS) {
        audit->has_news = true;
        return true;
    }
    if (!reply->number || reply->number != audit->number)
        return false;
    audit->number = 0;
    audit->err = reply->err;
    if (reply->kind == REPLY_AUDIT)
        take_page(audit, reply);
    return true;
}

static struct area
audit_split(const struct audit *audit, struct area *body)
{
    struct area none = {0};
    if (!audit->has_preview || audit->shown_count == 0 || body->rows < PREVIEW_FROM_ROWS)
        return none;
    return area_take_bottom(body, PREVIEW_ROWS);
}

// The next page when the cursor, or the end of what is shown, comes near.
static void
audit_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct audit *audit = state;
    struct area body = areas->body;
    audit_split(audit, &body);
    audit->columns[AUDIT_WHEN].width =
        body.cols < DATE_FROM_COLS ? moment_cells(app_moments(app).by_clock, WHEN_WIDTH) : DATE_WIDTH;
    const struct audit_drawing drawing = {.audit = audit, .app = app};
    struct table_model model = audit_model_of(&drawing);
    table_layout(&audit->table, &model, body);
    bool is_near = audit->table.cursor + (size_t)audit->table.height + NEAR_END >= audit->shown_count;
    if (is_near && audit->has_answer && !audit->is_complete && !audit->number && !err_is_set(&audit->err))
        audit_ask(app, audit, false);
}

static void
audit_draw_line(const struct app *app, const struct audit *audit, struct canvas *canvas, struct area line)
{
    struct arena *arena = app_frame(app);
    char some[TEXT_SHORT];
    char all[TEXT_SHORT];
    char position[48];
    if (line.rows < 1)
        return;
    int col = line.col + 1;
    int limit =
        chip_draw_at_right(canvas, line, ROLE_STATUS, bytes_of(table_position(&audit->table, position)));
    text_count((int64_t)audit->row_count, all);
    if (row_filter_is_on(&audit->filter)) {
        chip_draw(canvas, line.row, &col, limit, ROLE_FILTER,
                  bytes_of(arena_printf(arena, "/%s", strbuf_text(&audit->filter.text))));
        chip_draw(
            canvas, line.row, &col, limit, ROLE_STATUS,
            bytes_of(arena_printf(arena, "%s / %s", text_count((int64_t)audit->shown_count, some), all)));
    }
    if (audit->has_answer && !audit->is_complete)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO,
                  bytes_of(arena_printf(arena, MSG_AUDIT_NEWEST, all)));
    else if (audit->has_answer)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(arena, MSG_AUDIT_ENTRIES, all, audit->row_count == 1 ? "y" : "ies")));
    if (audit->of_people)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS, BYTES(MSG_AUDIT_PEOPLE));
    if (audit->has_news)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, BYTES(MSG_AUDIT_NEWS));
}

static const char *
audit_empty_words(const struct app *app, const struct audit *audit)
{
    const struct status *status = app_status(app);
    char count[TEXT_SHORT];
    if (!status->has_schema)
        return MSG_NO_SCHEMA;
    if (err_is_set(&audit->err))
        return audit->err.text;
    if (status->link == LINK_LOST && !audit->has_answer)
        return arena_printf(app_frame(app), MSG_UNREACHABLE, status->trouble);
    if (!audit->has_answer || audit->number)
        return MSG_LOADING;
    if (row_filter_is_on(&audit->filter) && audit->row_count)
        return arena_printf(app_frame(app), MSG_NOTHING_MATCHES,
                            text_count((int64_t)audit->row_count, count));
    return MSG_AUDIT_EMPTY;
}

static void
draw_preview(const struct app *app, const struct audit_row *row, struct canvas *canvas, struct area area)
{
    char at[TIME_TEXT];
    struct arena *arena = app_frame(app);
    canvas_hline(canvas, area.row, area.col + 1, area.cols - 2, ROLE_BORDER);
    area_take_top(&area, 1);
    area_take_left(&area, 1);
    const char *const lines[] = {
        arena_printf(arena, "%s  %s by %s from %s", time_local(row->at, at), row->action, row->who,
                     row->host),
        row->reason ? arena_printf(arena, "reason: %s", row->reason) : "",
        row->detail ? row->detail : "",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines && area.rows > 0; i++) {
        if (!*lines[i])
            continue;
        struct area line = area_take_top(&area, 1);
        canvas_text(canvas, line.row, line.col, line.cols, bytes_of(lines[i]), ROLE_TEXT);
    }
}

static void
audit_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct audit *audit = state;
    struct area body = areas->body;
    struct area preview = audit_split(audit, &body);
    const struct audit_row *row = cursor_row(audit);
    audit_draw_line(app, audit, canvas, areas->line);
    if (!row) {
        notice_draw(canvas, body, audit_empty_words(app, audit));
        return;
    }
    const struct audit_drawing drawing = {.audit = audit, .app = app};
    struct table_model model = audit_model_of(&drawing);
    table_draw(&audit->table, &model, canvas, body);
    if (preview.rows > 1)
        draw_preview(app, row, canvas, preview);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
audit_click(struct app *app, void *state, int row, int col)
{
    struct audit *audit = state;
    const struct audit_drawing drawing = {.audit = audit, .app = app};
    struct table_model model = audit_model_of(&drawing);
    int column;
    return table_click(&audit->table, &model, row, col, &column) == TABLE_ROW;
}

static bool
audit_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct audit *audit = state;
    if (i > 0)
        return false;
    strbuf_add_text(out, "audit");
    if (audit->operation)
        strbuf_printf(out, " of operation %" PRId64, audit->operation);
    return true;
}

static void *
audit_open(struct app *app, const void *argument)
{
    const struct audit_argument *given = argument;
    struct audit *audit = alloc_bytes(sizeof *audit);
    audit->operation = given ? given->operation : 0;
    audit->of_people = !audit->operation;
    audit->has_preview = true;
    memcpy(audit->columns, narrow_columns, sizeof narrow_columns);
    audit_ask(app, audit, true);
    return audit;
}

static void
audit_close(struct app *app, void *state)
{
    (void)app;
    struct audit *audit = state;
    forget_pages(audit);
    free(audit->pages);
    free(audit->shown);
    row_filter_release(&audit->filter);
    free(audit);
}

static void
audit_shown(struct app *app, void *state)
{
    audit_ask(app, state, true);
}

const struct view view_audit = {
    .name = "audit",
    .context = CONTEXT_VIEW_audit,
    .aging = AGES_BY_MINUTES,
    .actions = actions,
    .footer = footer,
    .open = audit_open,
    .close = audit_close,
    .shown = audit_shown,
    .receive = audit_receive,
    .crumb = audit_crumb,
    .draw = audit_draw,
    .layout = audit_layout,
    .click = audit_click,
};
