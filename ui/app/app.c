#include "ui/app/app.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ui/app/private.h"
#include "ui/term/clipboard.h"
#include "ui/app/texts.h"

// Work of a view that is due so soon belongs to what was asked for last.
#define COPIED_SHOWN 40 // bytes of what was copied, in the message
#define SHORTLY (US_PER_SECOND * 600 / 1000)

// A file that cannot be used keeps nobody from working: the built-in one serves, and the sentence is on the
// message line.
static void
load_files(struct app *app, const struct app_config *config)
{
    struct strbuf warnings = {0};
    struct err err = {0};
    app->theme.now =
        theme_load(config->look.theme ? config->look.theme : THEME_AUTO, &config->places, &warnings, &err);
    if (!app->theme.now) {
        app_say(app, SAY_ERROR, MSG_DEFAULT_THEME, err.text);
        app->theme.now = theme_load(THEME_AUTO, NULL, NULL, NULL);
    }
    err_clear(&err);
    app->keymap =
        keymap_load(config->look.keymap ? config->look.keymap : "default", &config->places, &warnings, &err);
    if (!app->keymap) {
        app_say(app, SAY_ERROR, MSG_DEFAULT_KEYMAP, err.text);
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
    app->picture.again_at = -1;
    app_redraw(app);
    app->takes_mouse = config->takes_mouse;
    app->times_by_clock = config->times_by_clock;
    app->mail.unknown.link = LINK_CONNECTING;
    app->mail.unknown.has_schema = true;
    app->mail.unknown.as_of = app->mail.unknown.last_closed_at = TIME_ABSENT;
    canvas_init(&app->picture.canvas, 24, 80, config->is_ascii);
    load_files(app, config);
    if (!app->theme.now || !app->keymap) {
        err_set(err, ERR_INTERNAL, "the built-in theme and keymap cannot be read");
        app_destroy(app);
        return NULL;
    }
    if (config->start.place)
        app_open_place(app, config->start.place);
    for (int place = 1; place <= PLACES && app->stacks.place == 0; place++)
        app_open_place(app, place);
    if (app->stacks.place == 0) {
        err_set(err, ERR_INTERNAL, "no view has a place");
        app_destroy(app);
        return NULL;
    }
    app->stacks.last_place = app->stacks.place;
    if (config->start.place && config->start.filter)
        app_carry_filter(app, config->start.filter);
    return app;
}

void
app_destroy(struct app *app)
{
    if (!app)
        return;
    app_close_all(app);
    app_prompt_close(app);
    dialog_destroy(app->windows.dialog);
    app_close_menu(app);
    for (size_t i = 0; i < app->mail.unsent_count; i++)
        request_destroy(app->mail.unsent[i]);
    free(app->mail.unsent);
    free(app->mail.expected);
    reply_destroy(app->mail.status);
    reply_destroy(app->mail.people);
    selection_release(app->selection);
    free(app->selection);
    for (size_t i = 0; i < MESSAGES; i++)
        free((char *)(uintptr_t)app->messages.ring[i].text);
    prompt_release(&app->windows.prompt);
    strbuf_release(&app->copy);
    free(app->program.command);
    free(app->program.file);
    arena_release(&app->picture.frame);
    canvas_release(&app->picture.canvas);
    keymap_destroy(app->keymap);
    theme_destroy(app->theme.now);
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
    return app->theme.now;
}

const struct status *
app_status(const struct app *app)
{
    return app->mail.status ? &app->mail.status->status : &app->mail.unknown;
}

const struct people *
app_people(const struct app *app)
{
    static const struct people nobody;
    return app->mail.people ? &app->mail.people->people : &nobody;
}

int64_t
app_now(const struct app *app)
{
    return app->now;
}

struct arena *
app_frame(const struct app *app)
{
    return (struct arena *)(uintptr_t)&app->picture.frame; // scratch is no state
}

bool
app_is_on_top(const struct app *app, const void *state)
{
    return app_top(app)->state == state;
}

bool
app_is_at_rest(const struct app *app)
{
    const struct windows *windows = &app->windows;
    return !windows->prompt_owner && !windows->menu.is_open && !windows->dialog && !app->is_paused &&
           !app_is_stale(app);
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
        why = app->config->read_only_why ? app->config->read_only_why : MSG_READ_ONLY;
    else if (status->link == LINK_LOST)
        why = MSG_NO_CHANGES_OFFLINE;
    else if (!status->has_schema)
        why = MSG_MIGRATE_BEFORE_CHANGES;
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
    app->life = APP_IS_OVER;
}

void
app_redraw(struct app *app)
{
    app->picture.state = PICTURE_DUE;
}

// Messages for a terminal that has only ASCII: the signs that our own sentences use.
static void
spell_signs(struct strbuf *text)
{
    static const struct {
        const char *sign, *ascii;
    } signs[] = {{"·", "-"}, {"…", "..."}, {"→", "->"}};
    struct strbuf out = {0};
    for (size_t at = 0; at < text->len;) {
        struct bytes rest = bytes_slice(strbuf_bytes(text), at, text->len - at);
        size_t i = 0;
        while (i < sizeof signs / sizeof *signs && !bytes_starts(rest, signs[i].sign))
            i++;
        bool is_sign = i < sizeof signs / sizeof *signs;
        if (is_sign)
            strbuf_add_text(&out, signs[i].ascii);
        else
            strbuf_add_char(&out, rest.data[0]);
        at += is_sign ? strlen(signs[i].sign) : 1;
    }
    strbuf_release(text);
    *text = out;
}

static void
put_message(struct app *app, enum say say, struct strbuf *text)
{
    if (app->config->is_ascii)
        spell_signs(text);
    struct app_message *slot = &app->messages.ring[app->messages.count++ % MESSAGES];
    free((char *)(uintptr_t)slot->text);
    *slot = (struct app_message){.at = clock_now(), .say = say, .text = strbuf_detach(text)};
    app->messages.line = LINE_NEW;
    app->messages.operation = 0;
    app_redraw(app);
}

void
app_say(struct app *app, enum say say, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    put_message(app, say, &text);
}

void
app_say_about(struct app *app, enum say say, int64_t operation, int64_t until, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    size_t at = bytes_find(strbuf_bytes(&text), BYTES(MSG_LEFT), 0);
    char left[TEXT_SHORT] = "";
    if (at != SIZE_MAX) { // the list of messages keeps the time that was left when it was said
        text_age(until > clock_now() ? until - clock_now() + US_PER_SECOND - 1 : 0, left);
        strbuf_splice(&text, at, sizeof MSG_LEFT - 1, bytes_of(left));
    }
    put_message(app, say, &text);
    app->messages.left_at = at;
    app->messages.left_len = strlen(left);
    app->messages.operation = app->messages.told = operation;
    app->messages.until = until;
    app->messages.told_end = OUTCOME_WELL;
}

bool
app_counts_down(const struct app *app)
{
    const struct messages *messages = &app->messages;
    return messages->line != LINE_EMPTY && messages->operation && messages->until != TIME_ABSENT &&
           messages->until != INT64_MAX;
}

// What went well has been read by now, and hides how another operation fares. Warnings stay until a key.
static bool
hides_operation(const struct app *app)
{
    struct app_message newest;
    const struct operation *running = &app_status(app)->running;
    if (!app_message(app, 0, &newest) || !running->no || running->no == app->messages.operation)
        return false;
    bool is_read = newest.say == SAY_INFO || newest.say == SAY_OK;
    return is_read && !app_counts_down(app) && app->now - newest.at >= MESSAGE_HIDES_FOR;
}

void
app_expire_message(struct app *app)
{
    const struct messages *messages = &app->messages;
    const struct operation *running = &app_status(app)->running;
    bool is_over = app_counts_down(app) && app->now >= messages->until;
    bool runs = messages->operation && messages->until == TIME_ABSENT && running->no == messages->operation &&
                running->state != OPERATION_FROZEN;
    if (messages->line != LINE_EMPTY && (is_over || runs || hides_operation(app)))
        app->messages.line = LINE_EMPTY;
}

// Is it what `u` undoes, and is there something to undo?
static bool
is_undoable(const struct app *app, const struct news_reply *news)
{
    struct app_deed deed = app_deed(app);
    bool closes = deed.action == ACTION_DISCARD || deed.action == ACTION_RESOLVE;
    return deed.operation == news->operation && closes && news->severity == OUTCOME_WELL;
}

// Does the line tell of an operation that was just confirmed here and has not begun, and how to undo it?
static bool
is_announcing(const struct app *app)
{
    const struct messages *messages = &app->messages;
    struct app_message newest;
    if (messages->line == LINE_EMPTY || !messages->operation || !app_message(app, 0, &newest))
        return false;
    bool is_read = clock_now() - newest.at >= MESSAGE_HIDES_FOR; // one that begins at two stands for hours
    return messages->until != INT64_MAX && (app_counts_down(app) || !is_read);
}

// Only in the list of messages, below the one that stands on the line.
static void
put_beneath(struct app *app, enum say say, const char *sentence)
{
    struct messages *messages = &app->messages;
    struct app_message *beneath = &messages->ring[(messages->count - 1) % MESSAGES];
    struct app_message *newest = &messages->ring[messages->count++ % MESSAGES];
    struct strbuf text = {0};
    strbuf_add_text(&text, sentence);
    if (app->config->is_ascii)
        spell_signs(&text);
    free((char *)(uintptr_t)newest->text);
    *newest = *beneath;
    *beneath = (struct app_message){.at = clock_now(), .say = say, .text = strbuf_detach(&text)};
    app_redraw(app);
}

// Events may return after the end: the same message then says so. What else stands on the line gives way only
// to an end that is worse than what was told, and what was just confirmed only to a warning.
void
app_say_end(struct app *app, const struct news_reply *news)
{
    static const enum say says[] = {
        [OUTCOME_WELL] = SAY_OK,       [OUTCOME_OPEN] = SAY_INFO,    [OUTCOME_INCOMPLETE] = SAY_INFO,
        [OUTCOME_RETURNED] = SAY_WARN, [OUTCOME_FAILED] = SAY_ERROR,
    };
    struct messages *messages = &app->messages;
    bool is_shown = messages->line != LINE_EMPTY && messages->operation == news->operation;
    bool is_ended = messages->told == news->operation && messages->told_end != OUTCOME_WELL;
    if (is_ended && !is_shown && news->severity <= messages->told_end)
        return;
    if (!is_shown && is_announcing(app) && says[news->severity] < SAY_WARN) {
        put_beneath(app, says[news->severity], news->sentence);
        return;
    }
    if (is_shown && messages->until == INT64_MAX)
        messages->count--; // the slot of the message that this one replaces
    app_say_about(app, says[news->severity], news->operation, INT64_MAX, "%s%s", news->sentence,
                  is_undoable(app, news) ? MSG_END_UNDO : "");
    messages->told_end = news->severity;
}

void
app_say_err(struct app *app, const struct err *err)
{
    app_say(app, err->kind == ERR_CANCELLED ? SAY_INFO : SAY_ERROR, "%s", err->text);
}

bool
app_message(const struct app *app, size_t i, struct app_message *message)
{
    if (i >= app->messages.count || i >= MESSAGES)
        return false;
    *message = app->messages.ring[(app->messages.count - 1 - i) % MESSAGES];
    return true;
}

void
app_copy(struct app *app, struct bytes text, const char *what)
{
    strbuf_reset(&app->copy);
    clipboard_clean(text, &app->copy);
    app->wishes |= WISH_COPY;
    struct bytes shown = strbuf_bytes(&app->copy);
    bool is_long = shown.len > COPIED_SHOWN;
    shown.len = is_long ? utf8_cut(shown, COPIED_SHOWN) : shown.len;
    app_say(app, SAY_INFO, MSG_COPIED, what, BYTES_ARGS(shown), is_long ? "…" : "",
            text.len > CLIPBOARD_LIMIT ? ", cut at 64 KiB" : "");
}

void
app_prompt(struct app *app, const struct prompt_request *request)
{
    app_close_menu(app);
    prompt_open(&app->windows.prompt, request, app->config->state_home);
    app_redraw(app);
    app->windows.prompt_owner = app->stacks.caller ? app->stacks.caller : app_top(app);
}

void
app_prompt_error(struct app *app, const struct err *err)
{
    err_clear(&app->windows.prompt.error);
    if (err)
        app->windows.prompt.error = *err;
    app_redraw(app);
}

void
app_prompt_close(struct app *app)
{
    if (app->windows.prompt_owner)
        prompt_release(&app->windows.prompt);
    app->windows.prompt_owner = NULL;
    app_redraw(app);
}

int64_t
app_typed_count(const struct app *app, int64_t events)
{
    bool is_asked = app->config->decision.is_protected || events > app->config->decision.confirm_above;
    return is_asked ? events : 0;
}

bool
app_has_dialog(const struct app *app)
{
    return app->windows.dialog != NULL;
}

struct dialog *
app_dialog(struct app *app, const struct dialog_request *request)
{
    if (app->windows.dialog)
        app_dialog_end(app, DIALOG_CANCELLED); // who opened it forgets it
    app_close_menu(app);
    struct dialog_request shown = *request;
    if (shown.command)
        shown.command = app_command(app, shown.command);
    app->windows.dialog = dialog_create(&shown, app->config->label, app_environment_role(app));
    app->windows.dialog_owner = app->stacks.caller ? app->stacks.caller : app_top(app);
    app->wishes |= WISH_FLUSH;
    app_redraw(app);
    app->messages.line = LINE_EMPTY; // "collecting" and the like: this is the result
    app->keys.pending.count = 0;
    return app->windows.dialog;
}

void
app_dialog_close(struct app *app)
{
    dialog_destroy(app->windows.dialog);
    app->windows.dialog = NULL;
    app->windows.dialog_owner = NULL;
    app_redraw(app);
}

void
app_menu(struct app *app, const struct menu_request *request)
{
    app_close_menu(app);
    struct menu *menu = &app->windows.menu;
    *menu = (struct menu){.is_open = request->count > 0,
                          .owner = app->stacks.caller ? app->stacks.caller : app_top(app),
                          .items = alloc_array(request->count, sizeof *menu->items),
                          .count = request->count,
                          .chosen = request->chosen,
                          .moved = request->moved,
                          .left = request->left};
    snprintf(menu->title, sizeof menu->title, "%s", request->title);
    for (size_t i = 0; i < request->count; i++) {
        menu->items[i] = request->items[i];
        menu->items[i].text = alloc_text(request->items[i].text);
        if (request->items[i].is_current)
            menu->cursor = i;
    }
    app_redraw(app);
}

void
app_run_program(struct app *app, const char *command, const char *file,
                void (*ended)(struct app *app, void *state, int status))
{
    free(app->program.command);
    free(app->program.file);
    app->program =
        (struct app_program){.command = alloc_text(command), .file = alloc_text(file), .ended = ended};
    app->program_owner = app->stacks.caller ? app->stacks.caller : app_top(app);
    app->wishes |= WISH_RUN;
}

const struct app_program *
app_program(const struct app *app)
{
    return &app->program;
}

void
app_program_ended(struct app *app, int status)
{
    struct instance *owner = app->program_owner;
    app->program_owner = NULL;
    app_redraw(app);
    if (owner)
        AS_CALLER(app, owner, app->program.ended(app, owner->state, status));
}

bool
app_is_working(const struct app *app)
{
    int64_t due = app_due_after(app);
    return due >= 0 && due < SHORTLY;
}

void
app_close_menu(struct app *app)
{
    for (size_t i = 0; i < app->windows.menu.count; i++)
        free((char *)(uintptr_t)app->windows.menu.items[i].text);
    free(app->windows.menu.items);
    app->windows.menu = (struct menu){0};
    app_redraw(app);
}

bool
app_needs_draw(const struct app *app)
{
    return app->picture.state == PICTURE_DUE;
}

bool
app_is_idle(const struct app *app)
{
    return app->picture.state == PICTURE_WHOLE && app->picture.again_at < 0 && !app_has_outstanding(app);
}

bool
app_is_over(const struct app *app)
{
    return app->life == APP_IS_OVER;
}

bool
app_wants(struct app *app, enum app_wish wish)
{
    bool is_wished = (app->wishes & (unsigned)wish) != 0;
    app->wishes &= ~(unsigned)wish;
    return is_wished;
}

struct moments
app_moments(const struct app *app)
{
    return (struct moments){.now = app_now(app), .by_clock = app->times_by_clock};
}

bool
app_takes_mouse(const struct app *app)
{
    return app->takes_mouse;
}

struct bytes
app_copied(const struct app *app)
{
    return strbuf_bytes(&app->copy);
}

void
app_did(struct app *app, const struct app_deed *deed)
{
    app->deed = *deed;
}

struct app_deed
app_deed(const struct app *app)
{
    return app->deed;
}
