#include "tests/terminal/sample_app.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/term/term.h"
#include "ui/widgets/table.h"

// Every kind of text that must not drive a terminal: OSC, CSI, CR, C1, bidi, DEL, bytes that are no UTF-8.
// NOLINTNEXTLINE(misc-misleading-bidirectional)
static const char hostile[] = "a\033]0;title\ab\033[31mc\r\nd\xc2\x9b"
                              "31me\xe2\x80\xae"
                              "f\x9b\xff\177g";

struct sample_app {
    struct table table;
    int64_t count;
    char filter[64];
    char before[64];
};

static int64_t
row_id(const void *rows, size_t index)
{
    (void)rows;
    return (int64_t)index + 1000;
}

static void
draw_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct sample_app *toy = rows;
    if (column == 0)
        (void)canvas_count(canvas, area.row, area.col, area.cols, (int64_t)index, ROLE_GROUP_COUNT);
    else if (index == 1)
        (void)canvas_text(canvas, area.row, area.col, area.cols, (struct bytes){hostile, sizeof hostile - 1},
                          ROLE_TEXT);
    else
        (void)canvas_printf(canvas, area.row, area.col, area.cols, ROLE_TEXT, "row %zu %s ▁▂▃ 漢字 é", index,
                            toy->filter);
    if (column == 1 && index == 2 && strcmp(toy->filter, "link") == 0)
        canvas_link(canvas, area.row, area.col + 6, 4, "https://trace.example/a%20b");
}

static struct table_model
model_of(const struct sample_app *toy)
{
    static const struct table_column columns[] = {
        {.title = "count", .width = 8, .at_right = true},
        {.title = "text", .width = 10, .widest = TABLE_REST},
    };
    return (struct table_model){.count = (size_t)toy->count,
                                .id = row_id,
                                .cell = draw_cell,
                                .columns = columns,
                                .column_count = 2,
                                .rows = toy};
}

static int64_t row_count; // of the toy that runs in this process

static void *
sample_app_open(struct app *app, const void *argument)
{
    (void)app;
    (void)argument;
    struct sample_app *toy = alloc_bytes(sizeof *toy);
    toy->count = row_count;
    return toy;
}

static void
sample_app_close(struct app *app, void *state)
{
    (void)app;
    free(state);
}

static void
filter_changed(struct app *app, void *state, struct bytes text)
{
    struct sample_app *toy = state;
    snprintf(toy->filter, sizeof toy->filter, "%.*s", BYTES_ARGS(text));
    struct err err = {.kind = ERR_USAGE, .column = (int)text.len, .text = "this cannot be"};
    app_prompt_error(app, bytes_ends(text, "(") ? &err : NULL);
}

static void
filter_cancelled(struct app *app, void *state)
{
    struct sample_app *toy = state;
    (void)app;
    snprintf(toy->filter, sizeof toy->filter, "%s", toy->before);
}

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    (void)state;
    struct bytes reason = dialog_value(dialog, 0);
    if (bytes_equal_text(reason, "crash"))
        raise(SIGSEGV);
    if (bytes_equal_text(reason, "die"))
        die("the toy was told to");
    app_say(app, SAY_OK, "done: %.*s", BYTES_ARGS(reason));
}

static void
cancelled(struct app *app, void *state)
{
    (void)state;
    app_say(app, SAY_INFO, "nothing was done");
}

static void
ask(struct app *app)
{
    struct dialog_request request = {
        .title = "Reprocess",
        .confirm = "Reprocess",
        .typed_count = 2114,
        .fields = {{.label = "reason"}},
        .field_count = 1,
        .command = "redrive reprocess --group 8f3a",
        .confirmed = confirmed,
        .cancelled = cancelled,
    };
    struct dialog *dialog = app_dialog(app, &request);
    dialog_line(dialog, ROLE_DIALOG, "2,114 selected events, 7 hidden by the filter");
}

static bool
move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct sample_app *toy = state;
    struct table_model model = model_of(toy);
    return table_handle(&toy->table, &model, action);
}

static bool
ask_filter(struct app *app, void *state, enum action action)
{
    (void)action;
    struct sample_app *toy = state;
    snprintf(toy->before, sizeof toy->before, "%s", toy->filter);
    app_prompt(app, &(struct prompt_request){.label = "/",
                                             .text = toy->filter,
                                             .changed = filter_changed,
                                             .cancelled = filter_cancelled});
    return true;
}

static bool
reprocess(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    ask(app);
    return true;
}

static bool
copy_id(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_copy(app, (struct bytes){hostile, sizeof hostile - 1}, "text");
    return true;
}

static bool
open_nothing(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)state;
    (void)action;
    return false;
}

static const struct view_action actions[] = {
    {.part = table_moves, .run = move},       {.part = table_ranges, .run = move},
    {.action = DO_OPEN, .run = open_nothing}, {.action = DO_SELECT, .run = open_nothing},
    {.action = DO_FILTER, .run = ask_filter}, {.action = DO_REPROCESS, .run = reprocess},
    {.action = DO_COPY_ID, .run = copy_id},   {0},
};

static void
sample_app_layout(struct app *app, void *state, const struct view_areas *areas)
{
    (void)app;
    struct sample_app *toy = state;
    struct table_model model = model_of(toy);
    table_layout(&toy->table, &model, areas->body);
}

static void
sample_app_draw(const struct app *app, const void *state, struct canvas *canvas,
                const struct view_areas *areas)
{
    (void)app;
    const struct sample_app *toy = state;
    struct table_model model = model_of(toy);
    char position[48];
    if (areas->line.rows > 0)
        (void)canvas_printf(canvas, areas->line.row, 1, areas->line.cols - 1, ROLE_STATUS, "filter %s  %s",
                            toy->filter, table_position(&toy->table, position));
    table_draw(&toy->table, &model, canvas, areas->body);
}

static bool
sample_app_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    (void)state;
    strbuf_add_text(out, i == 0 ? "toy" : "");
    return i == 0;
}

static const enum action footer[] = {DO_OPEN, DO_FILTER, DO_SELECT, DO_REPROCESS, DO_HELP, DO_NONE};
static const struct view view_toy = {
    .name = "toy",
    .context = CONTEXT_LIST,
    .footer = footer,
    .open = sample_app_open,
    .close = sample_app_close,
    .actions = actions,
    .layout = sample_app_layout,
    .draw = sample_app_draw,
    .crumb = sample_app_crumb,
};

int
sample_app_run(void *context)
{
    const struct sample_app_options *options = context;
    static const struct view_row rows[] = {{&view_toy, 1}};
    struct err err = {0};
    const char *idle = getenv("REDRIVE_TEST_FD");
    struct term *term =
        term_open(&(struct term_options){.color = options->color, .is_ascii = options->is_ascii}, &err);
    if (!term) {
        fprintf(stderr, "toy: %s\n", err.text);
        return 2;
    }
    row_count = options->rows;
    int64_t fd = -1;
    (void)!text_parse_int(bytes_of(idle ? idle : ""), &fd, NULL);
    struct app_config config = {.views = rows,
                                .view_count = 1,
                                .label = "PROD",
                                .where = "db1/orders",
                                .is_ascii = term_is_ascii(term),
                                .look.theme = options->theme,
                                .idle_fd = (int)fd};
    struct app *app = app_create(&config, &err);
    if (app && term_note(term))
        app_say(app, SAY_WARN, "%s", term_note(term));
    int status = app ? app_run(app, term) : 2;
    term_close(term);
    app_destroy(app);
    if (err_is_set(&err))
        fprintf(stderr, "toy: %s\n", err.text);
    return status;
}
