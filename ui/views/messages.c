// Every message of this session again, newest first.
#include <stdlib.h>
#include "base/alloc.h"
#include "ui/app.h"
#include "ui/widgets/pager.h"
#include "ui/widgets/statusbar.h"

struct messages {
    struct pager *pager;
};

static const enum action footer[] = {DO_SEARCH, DO_NEXT_MATCH, DO_WRAP, DO_BACK, DO_HELP, DO_NONE};

static enum role
role_of(enum say say)
{
    switch (say) {
    case SAY_OK:
        return ROLE_STATUS_OK;
    case SAY_WARN:
        return ROLE_STATUS_WARN;
    case SAY_ERROR:
        return ROLE_STATUS_ERROR;
    case SAY_INFO:
        break;
    }
    return ROLE_TEXT;
}

static void
build(const struct app *app, struct messages *messages)
{
    struct app_message message;
    char at[TIME_TEXT];
    size_t count = 0;
    pager_begin(messages->pager);
    for (; app_message(app, count, &message); count++)
        pager_printf(messages->pager, role_of(message.say), "%s  %s", time_of_day(message.at, at),
                     message.text);
    if (count == 0)
        pager_printf(messages->pager, ROLE_DIM, "nothing was said yet");
    pager_end(messages->pager);
}

static bool
search_accepted(struct app *app, void *state, struct bytes text)
{
    struct err err = {0};
    if (pager_search(((struct messages *)state)->pager, text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

static bool
messages_handle(struct app *app, void *state, enum action action)
{
    struct messages *messages = state;
    if (pager_handle(messages->pager, action))
        return true;
    switch ((int)action) {
    case DO_SEARCH:
        app_prompt(app,
                   &(struct prompt_request){.label = "/", .history = "search", .accepted = search_accepted});
        return true;
    case DO_COPY:
    case DO_COPY_ID:
        app_copy(app, pager_line_at(messages->pager), "message");
        return true;
    case DO_REFRESH:
        build(app, messages);
        return false; // the app also looks at the database
    default:
        return false;
    }
}

static void
messages_layout(struct app *app, void *state, const struct view_areas *areas)
{
    (void)app;
    pager_layout(((struct messages *)state)->pager, areas->body);
}

static void
messages_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    const struct messages *messages = state;
    char words[64];
    if (areas->line.rows > 0) {
        int col = areas->line.col + 1;
        if (*pager_search_words(messages->pager, words))
            chip_draw(canvas, areas->line.row, &col, areas->line.col + areas->line.cols - 14, ROLE_FILTER,
                      bytes_of(words));
        canvas_styled(canvas, areas->line.row, areas->line.col, areas->line.cols - 1,
                      bytes_of(pager_position(messages->pager, words)),
                      &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});
    }
    pager_draw(messages->pager, canvas, areas->body);
}

static bool
messages_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    (void)state;
    if (i > 0)
        return false;
    strbuf_add_text(out, "messages");
    return true;
}

static void *
messages_open(struct app *app, const void *argument)
{
    (void)argument;
    struct messages *messages = alloc_bytes(sizeof *messages);
    messages->pager = pager_create();
    pager_set_ascii(messages->pager, app_config(app)->is_ascii);
    build(app, messages);
    return messages;
}

static void
messages_close(struct app *app, void *state)
{
    (void)app;
    struct messages *messages = state;
    pager_destroy(messages->pager);
    free(messages);
}

const struct view view_messages = {
    .name = "messages",
    .context = CONTEXT_VIEW_messages,
    .footer = footer,
    .open = messages_open,
    .close = messages_close,
    .handle = messages_handle,
    .crumb = messages_crumb,
    .draw = messages_draw,
    .layout = messages_layout,
};
