#include "ui/app/app.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "ui/app/private.h"
#include "ui/term/clipboard.h"

// A file that cannot be used keeps nobody from working: the built-in one serves, and the sentence is on the
// message line.
static void
load_files(struct app *app, const struct app_config *config)
{
    struct strbuf warnings = {0};
    struct err err = {0};
    app->theme = theme_load(config->theme ? config->theme : "default", &config->places, &warnings, &err);
    if (!app->theme) {
        app_say(app, SAY_ERROR, "%s; the default theme is used", err.text);
        app->theme = theme_load("default", NULL, NULL, NULL);
    }
    err_clear(&err);
    app->keymap = keymap_load(config->keymap ? config->keymap : "default", &config->places, &warnings, &err);
    if (!app->keymap) {
        app_say(app, SAY_ERROR, "%s; the default keymap is used", err.text);
        app->keymap = keymap_load("default", NULL, NULL, NULL);
    }
    struct bytes rest = strbuf_bytes(&warnings);
    for (size_t at = 0; at < rest.len;) {
        size_t end = bytes_find(rest, BYTES("\n"), at);
        end = end == SIZE_MAX ? rest.len : end;
        app_say(app, SAY_WARN, "%.*s", BYTES_ARGS(bytes_slice(rest, at, end - at)));
        at = end + 1;
    }
    strbuf_release(&warnings);
}

struct app *
app_create(const struct app_config *config, struct err *err)
{
    struct app *app = alloc_bytes(sizeof *app);
    app->selection = alloc_bytes(sizeof *app->selection);
    app->config = config;
    app->now = clock_now();
    app->needs_draw = true;
    app->takes_mouse = config->takes_mouse;
    app->unknown.link = LINK_CONNECTING;
    app->unknown.has_schema = true;
    app->unknown.as_of = app->unknown.last_closed_at = TIME_ABSENT;
    canvas_init(&app->canvas, 24, 80, config->is_ascii);
    load_files(app, config);
    if (!app->theme || !app->keymap) {
        err_set(err, ERR_INTERNAL, "the built-in theme and keymap cannot be read");
        app_destroy(app);
        return NULL;
    }
    if (config->start_note)
        app_say(app, SAY_WARN, "%s", config->start_note);
    for (int place = 1; place <= PLACES && app->place == 0; place++)
        app_open_place(app, place);
    if (app->place == 0) {
        err_set(err, ERR_INTERNAL, "no view has a place");
        app_destroy(app);
        return NULL;
    }
    app->last_place = app->place;
    return app;
}

void
app_destroy(struct app *app)
{
    if (!app)
        return;
    app_close_all(app);
    app_prompt_close(app);
    dialog_destroy(app->dialog);
    app_close_menu(app);
    for (size_t i = 0; i < app->unsent_count; i++)
        request_destroy(app->unsent[i]);
    free(app->unsent);
    free(app->expected);
    reply_destroy(app->status);
    selection_release(app->selection);
    free(app->selection);
    for (size_t i = 0; i < MESSAGES; i++)
        free((char *)(uintptr_t)app->messages[i].text);
    prompt_release(&app->prompt);
    strbuf_release(&app->copy);
    arena_release(&app->frame);
    canvas_release(&app->canvas);
    keymap_destroy(app->keymap);
    theme_destroy(app->theme);
    free(app);
}

const struct app_config *
app_config(const struct app *app)
{
    return app->config;
}

const struct keymap *
app_keymap(const struct app *app)
{
    return app->keymap;
}

const struct theme *
app_theme(const struct app *app)
{
    return app->theme;
}

const struct status *
app_status(const struct app *app)
{
    return app->status ? &app->status->status : &app->unknown;
}

int64_t
app_now(const struct app *app)
{
    return app->now;
}

struct arena *
app_frame(const struct app *app)
{
    return (struct arena *)(uintptr_t)&app->frame; // scratch is no state
}

bool
app_is_paused(const struct app *app)
{
    return app->is_paused;
}

bool
app_is_stale(const struct app *app)
{
    return app_status(app)->link == LINK_LOST;
}

bool
app_can_change(const struct app *app, const char **why_not)
{
    const struct status *status = app_status(app);
    const char *why = NULL;
    if (app->config->is_read_only || status->is_read_only)
        why = app->config->read_only_why ? app->config->read_only_why
                                         : "this session is read-only; nothing is changed";
    else if (status->link == LINK_LOST)
        why = "the connection is lost; nothing can be changed until it is back";
    else if (!status->has_schema)
        why = "redrive's own schema is missing; run `redrive migrate` first";
    if (why_not)
        *why_not = why;
    return why == NULL;
}

struct selection *
app_selection(const struct app *app)
{
    return app->selection;
}

void
app_quit(struct app *app)
{
    app->is_over = true;
}

void
app_redraw(struct app *app)
{
    app->needs_draw = true;
}

bool
app_set_theme(struct app *app, const char *name, struct err *err)
{
    struct theme *theme = theme_load(name, &app->config->places, NULL, err);
    if (!theme)
        return false;
    theme_destroy(app->theme);
    app->theme = theme;
    app->wants_theme = app->needs_draw = true;
    return true;
}

void
app_say(struct app *app, enum say say, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);

    struct app_message *slot = &app->messages[app->message_count++ % MESSAGES];
    free((char *)(uintptr_t)slot->text);
    *slot = (struct app_message){.at = clock_now(), .say = say, .text = strbuf_detach(&text)};
    app->has_message = app->is_message_new = app->needs_draw = true;
}

void
app_say_err(struct app *app, const struct err *err)
{
    app_say(app, err->kind == ERR_CANCELLED ? SAY_INFO : SAY_ERROR, "%s", err->text);
}

bool
app_message(const struct app *app, size_t i, struct app_message *message)
{
    if (i >= app->message_count || i >= MESSAGES)
        return false;
    *message = app->messages[(app->message_count - 1 - i) % MESSAGES];
    return true;
}

void
app_copy(struct app *app, struct bytes text, const char *what)
{
    strbuf_reset(&app->copy);
    clipboard_clean(text, &app->copy);
    app->wants_copy = true;
    char size[TEXT_SHORT];
    app_say(app, SAY_INFO, "%s: %s sent to the terminal's clipboard%s", what, text_size(app->copy.len, size),
            text.len > CLIPBOARD_LIMIT ? ", cut at 64 KiB" : "");
}

void
app_prompt(struct app *app, const struct prompt_request *request)
{
    app_close_menu(app);
    prompt_open(&app->prompt, request, app->config->state_home);
    app->has_prompt = app->needs_draw = true;
    app->prompt_owner = app->caller ? app->caller : app_top(app);
}

void
app_prompt_error(struct app *app, const struct err *err)
{
    err_clear(&app->prompt.error);
    if (err)
        app->prompt.error = *err;
    app->needs_draw = true;
}

void
app_prompt_close(struct app *app)
{
    if (app->has_prompt)
        prompt_release(&app->prompt);
    app->has_prompt = false;
    app->prompt_owner = NULL;
    app->needs_draw = true;
}

struct dialog *
app_dialog(struct app *app, const struct dialog_request *request)
{
    app_dialog_close(app);
    app_close_menu(app);
    app->dialog = dialog_create(request, app->config->label, app->key);
    app->dialog_owner = app->caller ? app->caller : app_top(app);
    app->wants_flush = app->needs_draw = true;
    app->has_message = false; // "collecting…" and the like: this is what came of it
    app->pending.count = 0;
    return app->dialog;
}

void
app_dialog_close(struct app *app)
{
    dialog_destroy(app->dialog);
    app->dialog = NULL;
    app->dialog_owner = NULL;
    app->needs_draw = true;
}

void
app_menu(struct app *app, const struct menu_request *request)
{
    app_close_menu(app);
    struct menu *menu = &app->menu;
    *menu = (struct menu){.is_open = request->count > 0,
                          .owner = app->caller ? app->caller : app_top(app),
                          .items = alloc_array(request->count, sizeof *menu->items),
                          .count = request->count,
                          .chosen = request->chosen};
    snprintf(menu->title, sizeof menu->title, "%s", request->title);
    for (size_t i = 0; i < request->count; i++) {
        menu->items[i] = request->items[i];
        menu->items[i].text = alloc_text(request->items[i].text);
        if (request->items[i].is_current)
            menu->cursor = i;
    }
    app->needs_draw = true;
}

void
app_close_menu(struct app *app)
{
    for (size_t i = 0; i < app->menu.count; i++)
        free((char *)(uintptr_t)app->menu.items[i].text);
    free(app->menu.items);
    app->menu = (struct menu){0};
    app->needs_draw = true;
}

static bool
take_flag(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

bool
app_needs_draw(const struct app *app)
{
    return app->needs_draw;
}

bool
app_is_idle(const struct app *app)
{
    return !app->needs_draw && !app->owes_rest && !app_has_outstanding(app);
}

bool
app_is_over(const struct app *app)
{
    return app->is_over;
}

bool
app_wants_suspend(struct app *app)
{
    return take_flag(&app->wants_suspend);
}

bool
app_wants_repaint(struct app *app)
{
    return take_flag(&app->wants_repaint);
}

bool
app_wants_flush(struct app *app)
{
    return take_flag(&app->wants_flush);
}

bool
app_wants_theme(struct app *app)
{
    return take_flag(&app->wants_theme);
}

bool
app_takes_mouse(const struct app *app)
{
    return app->takes_mouse;
}

struct bytes
app_wants_copy(struct app *app)
{
    return take_flag(&app->wants_copy) ? strbuf_bytes(&app->copy) : BYTES_ABSENT;
}
