// Events in a file, or in a command. While they are written this page tells how many; C-c stops, and of a
// file nothing is left then. What a command says is text from outside, shown as such: its colours and other
// controls are escapes. A file's page goes away by itself when it is whole.
#include "ui/views/output.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ui/app/app.h"
#include "ui/views/text_page.h"
#include "ui/widgets/statusbar.h"

#define MSG_PIPE_HINT "one JSON object a line · csv: or ids: in front gives those · the output is shown here"
#define MSG_EXPORTED "exported %s event%s to %s"
#define MSG_LEFT_OUT "; %s deleted meanwhile and left out"
#define MSG_WITHOUT_TEXT "; %s without a text that PostgreSQL cannot return"

enum { COMMAND_CRUMB = 40 };
static const char the_selection[] = "the selection";

struct output_view {
    struct text_page page; // first: see text_page.h
    struct list_query list;
    char *what;
    struct export_asked asked; // texts are its own
    uint64_t list_number, number;
    int64_t *ids; // in the order of the list
    size_t count, capacity;
    struct export_reply told; // its `ended` is words below
    struct strbuf output, ended;
    struct err err;
};

static const enum action footer[] = {DO_SEARCH, DO_NEXT_MATCH, DO_WRAP, DO_COPY, DO_BACK, DO_HELP, DO_NONE};

static bool
output_is_running(const struct output_view *view)
{
    return view->list_number || view->number;
}

static void
output_build(struct output_view *view)
{
    struct pager *pager = view->page.pager;
    pager_begin(pager);
    struct bytes output = strbuf_bytes(&view->output);
    if (output.len)
        pager_line(pager, ROLE_TEXT,
                   bytes_ends(output, "\n") ? bytes_slice(output, 0, output.len - 1) : output);
    if (view->told.is_output_cut)
        pager_printf(pager, ROLE_STATUS_WARN, "(the first %d kB; the command said more)",
                     EXPORT_OUTPUT >> 10);
    if (err_is_set(&view->err))
        pager_printf(pager, ROLE_STATUS_ERROR, "%s", view->err.text);
    else if (view->ended.len)
        pager_printf(pager, view->told.status == 0 ? ROLE_DIM : ROLE_STATUS_ERROR, "%s",
                     strbuf_text(&view->ended));
    pager_end(pager);
}

// --- asking ---

static void
output_ask(struct app *app, struct output_view *view)
{
    if (view->count == 0) {
        (void)!err_set(&view->err, ERR_NOT_FOUND, "no events here any more; nothing was written");
        output_build(view);
        return;
    }
    struct request *request = request_create(REQUEST_EXPORT);
    request->exported = view->asked;
    request->exported.file = view->asked.file ? alloc_text(view->asked.file) : NULL;
    request->exported.command = view->asked.command ? alloc_text(view->asked.command) : NULL;
    request->id_count = view->count;
    request->ids = alloc_array(view->count, sizeof *request->ids);
    memcpy(request->ids, view->ids, view->count * sizeof *request->ids);
    view->number = app_send(app, request);
}

static void
output_add_ids(struct output_view *view, const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        view->ids = alloc_grow(view->ids, view->count, &view->capacity, sizeof *view->ids);
        view->ids[view->count++] = ids[i];
    }
}

static void
output_take_ids(struct app *app, struct output_view *view, const struct reply *reply)
{
    if (reply->kind != REPLY_LIST) {
        view->list_number = 0;
        view->err = reply->err;
        output_build(view);
        return;
    }
    if (reply->list.is_new_available)
        return; // later than the list
    if (reply->list.is_first)
        view->count = 0;
    output_add_ids(view, reply->list.ids, reply->list.count);
    if (!reply->is_last)
        return;
    view->list_number = 0;
    output_ask(app, view);
}

// The message about a file that is whole.
static void
output_say_exported(struct app *app, const struct output_view *view)
{
    char count[TEXT_SHORT];
    struct strbuf words = {0};
    const struct export_reply *told = &view->told;
    strbuf_printf(&words, MSG_EXPORTED, text_count(told->written, count), told->written == 1 ? "" : "s",
                  view->asked.file);
    if (told->gone)
        strbuf_printf(&words, MSG_LEFT_OUT, text_count(told->gone, count));
    if (told->unreadable)
        strbuf_printf(&words, MSG_WITHOUT_TEXT, text_count(told->unreadable, count));
    app_say(app, told->gone || told->unreadable ? SAY_WARN : SAY_OK, "%s", strbuf_text(&words));
    strbuf_release(&words);
}

// true: the view has closed itself.
static bool
output_take(struct app *app, struct output_view *view, const struct reply *reply)
{
    if (reply->is_last || reply->kind != REPLY_EXPORT)
        view->number = 0;
    if (reply->kind != REPLY_EXPORT) {
        view->err = reply->err;
        app_say_err(app, &reply->err);
    } else {
        view->told = reply->exported;
        strbuf_add(&view->output, reply->exported.output);
        if (reply->exported.ended) {
            strbuf_printf(&view->ended, "the command %s", reply->exported.ended);
            app_say(app, reply->exported.status == 0 ? SAY_OK : SAY_WARN, "%s", strbuf_text(&view->ended));
        }
        view->told.ended = NULL;
        view->told.output = BYTES_ABSENT;
        if (reply->is_last && view->asked.file)
            output_say_exported(app, view);
    }
    output_build(view);
    if (view->number || !view->asked.file || !app_is_on_top(app, view))
        return false;
    app_back(app);
    return true;
}

static bool
output_receive(struct app *app, void *state, struct reply *reply)
{
    struct output_view *view = state;
    if (reply->number && reply->number == view->list_number)
        output_take_ids(app, view, reply);
    else if (reply->number && reply->number == view->number)
        (void)output_take(app, view, reply);
    else
        return false;
    return true;
}

// --- actions ---

static bool
output_stop(struct app *app, void *state, enum action action)
{
    (void)action;
    struct output_view *view = state;
    if (!output_is_running(view))
        return false;
    app_cancel(app, view->list_number ? view->list_number : view->number);
    return true;
}

static bool
output_can_stop(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return output_is_running(state);
}

static bool
output_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct output_view *view = state;
    app_copy(app, pager_line_at(view->page.pager), "line");
    return true;
}

static const struct view_action actions[] = {
    {.part = pager_handles, .run = text_page_move},
    {.action = DO_SEARCH, .run = text_page_search},
    {.action = DO_COPY, .run = output_copy},
    {.action = DO_CANCEL, .run = output_stop, .is_possible = output_can_stop},
    {0},
};

// --- drawing ---

static void
output_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    const struct output_view *view = state;
    char count[TEXT_SHORT], of[TEXT_SHORT];
    int col;
    int limit = text_page_draw_line(&view->page, canvas, areas->line, &col);
    if (areas->line.rows > 0) {
        struct strbuf words = {0};
        text_count(view->list_number ? (int64_t)view->count : view->told.written, count);
        if (view->list_number)
            strbuf_printf(&words, "collecting, %s so far, C-c stops", count);
        else if (view->number)
            strbuf_printf(&words, "%s of %s, C-c stops", count, text_count((int64_t)view->count, of));
        else if (view->told.has_stopped_reading)
            strbuf_printf(&words, "the command did not read all %s events",
                          text_count((int64_t)view->count, of));
        else
            strbuf_printf(&words, "%s event%s", count, view->told.written == 1 ? "" : "s");
        chip_draw(canvas, areas->line.row, &col, limit,
                  output_is_running(view) ? ROLE_STATUS_INFO : ROLE_STATUS, strbuf_bytes(&words));
        strbuf_release(&words);
    }
    pager_draw(view->page.pager, canvas, areas->body);
}

static bool
output_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct output_view *view = state;
    if (i > 1)
        return false;
    struct bytes command = bytes_of(view->asked.command);
    if (i == 0)
        strbuf_add_text(out, view->what);
    else if (!bytes_present(command))
        strbuf_add_text(out, "export");
    else
        strbuf_printf(out, "| %.*s%s", BYTES_ARGS(bytes_slice(command, 0, utf8_cut(command, COMMAND_CRUMB))),
                      command.len > COMMAND_CRUMB ? "…" : "");
    return true;
}

// --- the view ---

static void *
output_open(struct app *app, const void *argument)
{
    const struct output_argument *given = argument;
    struct output_view *view = alloc_bytes(sizeof *view);
    text_page_init(&view->page, app, "output");
    view->list = list_query_copy(given->list);
    view->what = alloc_text(given->what);
    view->asked = given->asked;
    view->asked.file = given->asked.file ? alloc_text(given->asked.file) : NULL;
    view->asked.command = given->asked.command ? alloc_text(given->asked.command) : NULL;
    if (view->list.source == LIST_IDS && !view->list.filter) {
        output_add_ids(view, view->list.ids, view->list.id_count);
        output_ask(app, view);
    } else {
        struct request *request = request_create(REQUEST_COLLECT);
        request->list = list_query_copy(&view->list);
        view->list_number = app_send(app, request);
    }
    return view;
}

static void
output_close(struct app *app, void *state)
{
    struct output_view *view = state;
    (void)output_stop(app, view, DO_CANCEL);
    list_query_release(&view->list);
    text_page_release(&view->page);
    free(view->what);
    free(view->asked.file);
    free(view->asked.command);
    free(view->ids);
    strbuf_release(&view->output);
    strbuf_release(&view->ended);
    free(view);
}

const struct view view_output = {
    .name = "output",
    .context = CONTEXT_VIEW_output,
    .actions = actions,
    .footer = footer,
    .open = output_open,
    .close = output_close,
    .receive = output_receive,
    .crumb = output_crumb,
    .draw = output_draw,
    .layout = text_page_layout,
};

// --- from other views ---

bool
output_selection(struct app *app, struct list_query *query, const char **what)
{
    const struct selection *selection = app_selection(app);
    *query = (struct list_query){.source = LIST_IDS, .ids = selection->ids, .id_count = selection->count};
    *what = the_selection;
    return selection->count > 0;
}

static bool
output_begin(struct app *app, const struct export_asked *asked)
{
    struct output_argument argument = {.asked = *asked};
    struct list_query query;
    if (!app_events(app, &query, &argument.what))
        return false;
    argument.list = &query;
    app_open(app, &view_output, &argument);
    return true;
}

static char *
text_in_frame(struct app *app, struct bytes text)
{
    char *copy = arena_array(app_frame(app), text.len + 1, 1);
    memcpy(copy, text.data, text.len);
    return copy;
}

bool
output_export(struct app *app, struct bytes file, bool replaces, struct err *err)
{
    if (file.len == 0)
        return err_set(err, ERR_USAGE, "a file is named by its end: :export evidence.jsonl, .csv or .ids");
    (void)output_begin(app, &(struct export_asked){.file = text_in_frame(app, file), .replaces = replaces});
    return true;
}

// "csv: cut -d, -f1"
static enum export_form
form_in_front(struct bytes *command)
{
    static const struct {
        const char *word;
        enum export_form form;
    } rows[] = {{"jsonl:", EXPORT_JSONL}, {"csv:", EXPORT_CSV}, {"ids:", EXPORT_IDS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bytes_starts(*command, rows[i].word)) {
            *command = bytes_trim(bytes_slice(*command, strlen(rows[i].word), command->len));
            return rows[i].form;
        }
    return EXPORT_JSONL;
}

static bool
command_accepted(struct app *app, void *state, struct bytes text)
{
    (void)state;
    struct bytes command = bytes_trim(text);
    enum export_form form = form_in_front(&command);
    if (command.len)
        (void)output_begin(app, &(struct export_asked){.command = text_in_frame(app, command), .form = form});
    return true;
}

bool
output_ask_command(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    struct list_query query;
    const char *what;
    if (!app_events(app, &query, &what))
        return true;
    const char *label = what == the_selection ? "the selected | " : "| ";
    app_prompt(app,
               &(struct prompt_request){
                   .label = label, .history = "pipe", .hint = MSG_PIPE_HINT, .accepted = command_accepted});
    return true;
}
