// Another connection without leaving the program: what ends here is asked about, the backend tries the other
// one, and only when that is reached the app ends. The screen command starts it again with the other one.
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
    const char *profile = app->config->connections.list[connection].profile;
    return profile ? profile : MSG_AS_STARTED;
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
