// Every message of this session again, newest first.
#include <stdlib.h>
#include "base/alloc.h"
#include "ui/app/app.h"
#include "ui/views/text_page.h"

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
messages_build(const struct app *app, struct pager *pager)
{
    struct app_message message;
    char at[TIME_TEXT];
    size_t count = 0;
    pager_begin(pager);
    for (; app_message(app, count, &message); count++)
        pager_printf(pager, role_of(message.say), "%s  %s", time_of_day(message.at, at), message.text);
    if (count == 0)
        pager_printf(pager, ROLE_DIM, "nothing was said yet");
    pager_end(pager);
}

static bool
messages_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct text_page *page = state;
    app_copy(app, pager_line_at(page->pager), "message");
    return true;
}

static bool
messages_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    messages_build(app, ((struct text_page *)state)->pager);
    return true;
}

static const struct view_action actions[] = {
    {.part = pager_handles, .run = text_page_move},  {.action = DO_SEARCH, .run = text_page_search},
    {.action = DO_COPY, .run = messages_copy},       {.action = DO_COPY_ID, .run = messages_copy},
    {.action = DO_REFRESH, .run = messages_refresh}, {0},
};

static void *
messages_open(struct app *app, const void *argument)
{
    (void)argument;
    struct text_page *page = alloc_bytes(sizeof *page);
    text_page_init(page, app, "messages");
    messages_build(app, page->pager);
    return page;
}

static void
messages_close(struct app *app, void *state)
{
    (void)app;
    text_page_release(state);
    free(state);
}

const struct view view_messages = {
    .name = "messages",
    .context = CONTEXT_VIEW_messages,
    .actions = actions,
    .footer = footer,
    .open = messages_open,
    .close = messages_close,
    .crumb = text_page_crumb,
    .draw = text_page_draw,
    .layout = text_page_layout,
};
