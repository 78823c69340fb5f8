// Another connection without leaving the program: what ends here is asked about, the backend tries the other
// one, and only when that is reached the app ends. The screen command starts it again with the other one.
#include <string.h>
#include "base/text.h"
#include "ui/app/private.h"
#include "ui/app/texts.h"
#include "ui/widgets/statusbar.h"

enum role
app_environment_role(const struct app *app)
{
    return environment_role(app->config->label, app->config->label_color);
}

// What the operator calls it.
static const char *
name_of(const struct app *app, size_t connection)
{
    const struct app_connection *it = &app->config->connections.list[connection];
    const struct app_connection *here = &app->config->connections.list[app->config->connections.current];
    if (it->table && it->of == here->of)
        return it->table;
    return it->profile ? it->profile : MSG_AS_STARTED;
}

static void
connection_try(struct app *app)
{
    struct request *request = request_create(REQUEST_CONNECT);
    request->connection = app->change.to;
    app_say(app, SAY_INFO, MSG_CONNECTING_TO, name_of(app, app->change.to));
    app->change.number = app_send_own(app, request);
}

static void
connection_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    (void)state;
    (void)dialog;
    connection_try(app);
}

// The dialog, where something of this screen alone would end.
static void
connection_ask(struct app *app, bool is_busy)
{
    char count[TEXT_SHORT];
    size_t selected = app->selection->count;
    struct strbuf title = {0};
    strbuf_printf(&title, MSG_CHANGE_TITLE, name_of(app, app->change.to));
    struct dialog *dialog = app_dialog(app, &(struct dialog_request){.title = strbuf_text(&title),
                                                                     .confirm = "Change",
                                                                     .confirmed = connection_confirmed});
    if (selected)
        dialog_line(dialog, ROLE_DIALOG, MSG_CHANGE_UNSELECTS, text_count((int64_t)selected, count),
                    selected == 1 ? "" : "s");
    if (is_busy)
        dialog_line(dialog, ROLE_DIALOG, MSG_CHANGE_STOPS);
    dialog_line(dialog, ROLE_DIM, MSG_CHANGE_KEEPS);
    strbuf_release(&title);
}

void
app_connect(struct app *app, size_t connection)
{
    const char *why = app_unsaved(app);
    if (connection == app->config->connections.current)
        app_say(app, SAY_INFO, MSG_CONNECTED_ALREADY, name_of(app, connection));
    else if (why)
        app_say(app, SAY_WARN, "%s", why);
    else if (app_is_confirming(app))
        app_say(app, SAY_WARN, MSG_CHANGE_BUSY);
    else {
        app->change = (struct connection_change){.to = connection};
        bool is_busy = app_is_collecting(app);
        if (is_busy || app->selection->count)
            connection_ask(app, is_busy);
        else
            connection_try(app);
    }
}

// The person may have begun something since: that is not thrown away by an answer.
void
app_connected(struct app *app, const struct reply *reply)
{
    if (reply->number != app->change.number)
        return;
    app->change.number = 0;
    const char *name = name_of(app, app->change.to);
    if (reply->kind == REPLY_ERROR && reply->err.kind != ERR_CANCELLED)
        app_say(app, SAY_ERROR, MSG_NOT_CONNECTED, name, reply->err.text);
    else if (reply->kind == REPLY_ERROR)
        app_say_err(app, &reply->err);
    else if (app_unsaved(app) || app->windows.dialog || app_is_confirming(app))
        app_say(app, SAY_WARN, MSG_CHANGE_LATE, name);
    else {
        app->change.is_reached = true;
        app_quit(app);
    }
}

bool
app_is_leaving_for(const struct app *app, size_t *connection)
{
    *connection = app->change.to;
    return app->change.is_reached;
}

int
app_place(const struct app *app)
{
    return app->stacks.place;
}

const char *
app_filter(const struct app *app)
{
    const struct stack *here = &app->stacks.places[app->stacks.place];
    const struct stack *first = &app->stacks.places[1];
    const struct instance *of = here->depth && here->views[0]->view->filter ? here->views[0]
                                : first->depth                              ? first->views[0]
                                                                            : NULL;
    return of && of->view->filter ? of->view->filter(of->state) : "";
}

const char *
app_list_filter(const struct app *app)
{
    const struct stack *here = &app->stacks.places[app->stacks.place];
    for (int i = here->depth; i-- > 0;)
        if (here->views[i]->view->filter)
            return here->views[i]->view->filter(here->views[i]->state);
    return app_filter(app);
}

const char *
app_command(const struct app *app, const char *command)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    static const char program[] = "redrive ";
    const char *table = app_status(app)->table;
    if (!table[0] || !bytes_starts(bytes_of(command), program))
        return command;
    const char *quote = table[strspn(table, plain)] ? "'" : "";
    struct strbuf text = {0};
    strbuf_printf(&text, "%s--table %s", program, quote);
    for (const char *c = table; *c; c++)
        strbuf_add_text(&text, *c == '\'' ? "'\\''" : (char[]){*c, '\0'});
    strbuf_printf(&text, "%s %s", quote, command + sizeof program - 1);
    command = arena_text(app_frame(app), strbuf_bytes(&text));
    strbuf_release(&text);
    return command;
}

// Of the list of connections, those that `is_choice` takes; the menu tells their places apart by number.
typedef bool is_choice_fn(const struct app_connections *all, size_t i);

static bool
stands_for_profile(const struct app_connections *all, size_t i)
{
    return all->list[i].of == i;
}

static bool
is_table_here(const struct app_connections *all, size_t i)
{
    return all->list[i].table && all->list[i].of == all->list[all->current].of;
}

static void
connection_chosen(struct app *app, size_t index, is_choice_fn *is_choice)
{
    const struct app_connections *all = &app->config->connections;
    for (size_t i = 0; i < all->count; i++)
        if (is_choice(all, i) && index-- == 0) {
            if (i != all->current)
                app_connect(app, i);
            return;
        }
}

static void
profile_chosen(struct app *app, void *state, size_t index)
{
    (void)state;
    connection_chosen(app, index, stands_for_profile);
}

static void
table_chosen(struct app *app, void *state, size_t index)
{
    (void)state;
    connection_chosen(app, index, is_table_here);
}

static bool
choose(struct app *app, const struct menu_request *menu, is_choice_fn *is_choice)
{
    const struct app_connections *all = &app->config->connections;
    struct menu_request request = *menu;
    struct menu_item *items = arena_array(app_frame(app), all->count + 1, sizeof *items);
    for (size_t i = 0; i < all->count; i++)
        if (is_choice(all, i))
            items[request.count++] = (struct menu_item){
                .text = is_choice == is_table_here ? all->list[i].table : all->list[i].words,
                .is_current = i == all->current ||
                              (is_choice == stands_for_profile && i == all->list[all->current].of)};
    request.items = items;
    if (request.count > 1)
        app_menu(app, &request);
    return request.count > 1;
}

bool
app_choose_profile(struct app *app)
{
    return choose(app, &(struct menu_request){.title = "profile", .chosen = profile_chosen},
                  stands_for_profile);
}

bool
app_choose_table(struct app *app)
{
    return choose(app, &(struct menu_request){.title = "table of dead letters", .chosen = table_chosen},
                  is_table_here);
}
