#include "tests/unit/app_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/keymap/key.h"

struct probe *newest;
int closed;

static void *
probe_open(struct app *app, const void *argument)
{
    (void)app;
    (void)argument;
    newest = alloc_bytes(sizeof *newest);
    newest->opened = 1;
    newest->chosen = 99;
    return newest;
}

static void
probe_close(struct app *app, void *state)
{
    (void)app;
    free(state);
    closed++;
}

static void
probe_shown(struct app *app, void *state)
{
    (void)app;
    ((struct probe *)state)->shown++;
}

static void
changed(struct app *app, void *state, struct bytes text)
{
    struct probe *probe = state;
    snprintf(probe->typed, sizeof probe->typed, "%.*s", BYTES_ARGS(text));
    struct err err = {.kind = ERR_USAGE, .column = 1, .text = "no digits"};
    app_prompt_error(app, bytes_equal_text(text, "1") ? &err : NULL);
}

static bool
accepted(struct app *app, void *state, struct bytes text)
{
    (void)app;
    struct probe *probe = state;
    snprintf(probe->accepted, sizeof probe->accepted, "%.*s", BYTES_ARGS(text));
    return !bytes_equal_text(text, "stay");
}

static void
cancelled(struct app *app, void *state)
{
    (void)app;
    snprintf(((struct probe *)state)->typed, sizeof(((struct probe *)state)->typed), "before");
}

static void
chosen(struct app *app, void *state, size_t index)
{
    (void)app;
    ((struct probe *)state)->chosen = index;
}

static const struct view view_probe;
static const struct view view_other;

// Anything that no other row does: remembered, and left undone.
static bool
is_any(enum action action)
{
    return action != DO_NONE;
}

static bool
remember(struct app *app, void *state, enum action action)
{
    (void)app;
    ((struct probe *)state)->last = action;
    return false;
}

static bool
open_other(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_open(app, &view_other, NULL);
    return true;
}

static bool
keep_back(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((struct probe *)state)->keeps_back;
}

static bool
ask_line(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_prompt(app, &(struct prompt_request){
                        .label = "/", .changed = changed, .accepted = accepted, .cancelled = cancelled});
    return true;
}

static bool
ask_menu(struct app *app, void *state, enum action action)
{
    static const struct menu_item items[] = {
        {.key = 'a', .text = "first"}, {.key = 'b', .text = "second"}, {.text = "third"}};
    (void)state;
    (void)action;
    app_menu(app, &(struct menu_request){.title = "order", .items = items, .count = 3, .chosen = chosen});
    return true;
}

static bool
do_nothing(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)state;
    (void)action;
    return true;
}

static bool
has_replies(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct probe *)state)->replies > 0;
}

static const struct view_action actions[] = {
    {.part = is_any, .run = remember},
    {.action = DO_OPEN, .run = open_other},
    {.action = DO_BACK, .run = keep_back},
    {.action = DO_FILTER, .run = ask_line},
    {.action = DO_SORT, .run = ask_menu},
    {.action = DO_REPROCESS, .run = do_nothing},
    {0},
};

static const struct view_action few_actions[] = {
    {.action = DO_BACK, .run = keep_back},
    {.action = DO_SEARCH, .run = ask_line},
    {.action = DO_COPY, .run = do_nothing, .is_possible = has_replies},
    {.action = DO_DISCARD, .why_not = "this is a record"},
    {0},
};
static const enum action few_in_footer[] = {DO_COPY, DO_SEARCH, DO_WRAP, DO_DISCARD, DO_QUIT, DO_NONE};

static bool
probe_receive(struct app *app, void *state, struct reply *reply)
{
    (void)app;
    struct probe *probe = state;
    if (reply->number == 0)
        probe->news++;
    else
        probe->replies++;
    probe->last_total = reply->list.total;
    return reply->kind != REPLY_ERROR;
}

static void
probe_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    const struct probe *probe = state;
    (void)canvas_printf(canvas, areas->body.row, 1, areas->body.cols - 1, ROLE_TEXT, "total %d",
                        (int)probe->last_total);
}

static bool
probe_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    (void)state;
    strbuf_add_text(out, i == 0 ? "probe" : "");
    return i == 0;
}

static int64_t
probe_due(const void *state)
{
    int64_t due = ((const struct probe *)state)->due;
    return due ? due : -1;
}

static void
probe_tick(struct app *app, void *state)
{
    struct probe *probe = state;
    probe->ticks++;
    probe->due = 0;
    app_redraw(app);
}

static const char *
probe_unsaved(const struct app *app, const void *state)
{
    (void)app;
    return ((const struct probe *)state)->unsaved;
}

static const struct view view_probe = {.name = "probe",
                                       .context = CONTEXT_LIST,
                                       .actions = actions,
                                       .open = probe_open,
                                       .close = probe_close,
                                       .shown = probe_shown,
                                       .receive = probe_receive,
                                       .crumb = probe_crumb,
                                       .draw = probe_draw,
                                       .due = probe_due,
                                       .tick = probe_tick,
                                       .unsaved = probe_unsaved};
static const struct view view_other = {.name = "other",
                                       .context = CONTEXT_TEXT,
                                       .actions = few_actions,
                                       .footer = few_in_footer,
                                       .open = probe_open,
                                       .close = probe_close,
                                       .shown = probe_shown,
                                       .receive = probe_receive,
                                       .draw = probe_draw,
                                       .unsaved = probe_unsaved};
static const struct view_row rows[] = {{&view_probe, 1}, {&view_probe, 2}, {&view_other, 4}};

static struct world *
create_world(const struct app_config *config, size_t requests, size_t replies)
{
    struct world *world = calloc(1, sizeof *world);
    world->requests = mailbox_create(requests);
    world->replies = mailbox_create(replies);
    world->config = *config;
    world->config.requests = world->requests;
    world->config.replies = world->replies;
    world->config.idle_fd = -1;
    struct err err = {0};
    world->app = app_create(&world->config, &err);
    assert_non_null(world->app);
    return world;
}

int
make_world(void **state)
{
    closed = 0;
    *state = create_world(&(struct app_config){.views = rows, .view_count = 3, .label = "PROD"}, 4, 64);
    return 0;
}

void
tell(struct world *world, struct reply *reply)
{
    assert_true(mailbox_put(world->replies, reply, 0));
    (void)app_receive(world->app, 1000000);
}

int
make_world_of(void **state, const struct app_config *config)
{
    struct world *world = create_world(config, 16, 16);
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    reply->status.link = LINK_LIVE;
    reply->status.has_schema = true;
    tell(world, reply);
    *state = world;
    return 0;
}

int
destroy_world(void **state)
{
    struct world *world = *state;
    app_destroy(world->app);
    mailbox_destroy(world->requests, request_drop);
    mailbox_destroy(world->replies, reply_drop);
    free(world);
    return 0;
}

void
press(struct app *app, const char *keys)
{
    size_t at = 0;
    uint32_t key;
    while (key_parse_next(bytes_of(keys), &at, &key, NULL)) {
        clock_skip(2 * DIALOG_PAUSE);
        app_key(app, key);
    }
}

bool
shows(struct app *app, const char *text)
{
    struct strbuf picture = {0};
    canvas_to_text(app_draw(app), &picture);
    bool is_there = strstr(strbuf_text(&picture), text) != NULL;
    strbuf_release(&picture);
    return is_there;
}

struct request *
take_request(struct world *world)
{
    return mailbox_take(world->requests, 0);
}

void
answer(struct world *world, enum reply_kind kind, uint64_t number, bool is_last, int64_t total)
{
    struct reply *reply = reply_create(kind, number);
    reply->is_last = is_last;
    reply->list.total = total;
    if (kind == REPLY_ERROR)
        err_set(&reply->err, ERR_DATA, "it did not work");
    assert_true(mailbox_put(world->replies, reply, 0));
    (void)app_receive(world->app, 1000);
}
