// From a key to its action, and the app's own actions.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ui/app/private.h"
#include "ui/app/texts.h"

#define WHEEL_ROWS 3
#define MOST_COUNT 9999
#define DOUBLE_CLICK_US 500000

static void
say_unbound(struct app *app)
{
    struct strbuf keys = {0};
    key_print_sequence(&app->keys.pending, &keys);
    char help[32];
    struct instance *top = app_top(app);
    (void)keymap_key_text(app->keymap, top ? top->view->context : CONTEXT_GLOBAL, DO_HELP, help);
    app_say(app, SAY_INFO, MSG_NOT_BOUND, strbuf_text(&keys), help);
    strbuf_release(&keys);
}

// Adds the key to those pressed so far and looks them up. MORE: waits for the next one; NONE leaves them for
// a message.
static enum keymap_answer
look_up(struct app *app, enum context context, enum action *action)
{
    if (app->keys.pending.count == KEY_SEQUENCE)
        app->keys.pending.count = 0;
    app->keys.pending.keys[app->keys.pending.count++] = app->keys.last;
    enum keymap_answer answer = keymap_find(app->keymap, context, &app->keys.pending, action);
    if (answer == KEYMAP_ACTION)
        app->keys.pending.count = 0;
    app_redraw(app);
    return answer;
}

static struct bytes
key_text(uint32_t key, char out[4])
{
    return (struct bytes){out, utf8_encode(key, out)};
}

static void
do_suspend(struct app *app)
{
    app->wishes |= WISH_SUSPEND;
}

static void
do_repaint(struct app *app)
{
    app->wishes |= WISH_REPAINT;
    app_redraw(app);
}

// Carries out actions that work in menus, prompts and dialogs too.
static bool
do_anywhere(struct app *app, enum action action)
{
    if (action == DO_SUSPEND)
        do_suspend(app);
    else if (action == DO_REDRAW)
        do_repaint(app);
    else
        return false;
    return true;
}

static void
menu_choose(struct app *app, size_t index)
{
    struct menu menu = app->windows.menu;
    struct instance *owner = menu.owner;
    app_close_menu(app);
    if (menu.chosen)
        AS_CALLER(app, owner, menu.chosen(app, owner ? owner->state : NULL, index));
}

static void
menu_move(struct app *app, size_t index)
{
    struct menu *menu = &app->windows.menu;
    menu->cursor = index;
    if (menu->moved)
        AS_CALLER(app, menu->owner, menu->moved(app, menu->owner ? menu->owner->state : NULL, index));
}

static void
menu_leave(struct app *app)
{
    struct menu menu = app->windows.menu;
    app_close_menu(app);
    if (menu.left)
        AS_CALLER(app, menu.owner, menu.left(app, menu.owner ? menu.owner->state : NULL));
}

static void
menu_key(struct app *app)
{
    struct menu *menu = &app->windows.menu;
    for (size_t i = 0; i < menu->count; i++) {
        if (menu->items[i].key == app->keys.last && app->keys.last) {
            menu_choose(app, i);
            return;
        }
    }
    enum action action = DO_NONE;
    if (look_up(app, CONTEXT_LIST, &action) != KEYMAP_ACTION) {
        app->keys.pending.count = 0;
        return;
    }
    if (do_anywhere(app, action))
        return;
    if (action == DO_DOWN)
        menu_move(app, menu->cursor + 1 < menu->count ? menu->cursor + 1 : 0);
    else if (action == DO_UP)
        menu_move(app, (menu->cursor ? menu->cursor : menu->count) - 1);
    else if (action == DO_TOP)
        menu_move(app, 0);
    else if (action == DO_BOTTOM)
        menu_move(app, menu->count - 1);
    else if (action == DO_OPEN)
        menu_choose(app, menu->cursor);
    else if (action == DO_BACK || action == DO_CANCEL)
        menu_leave(app);
}

void
app_dialog_end(struct app *app, enum dialog_outcome outcome)
{
    if (outcome == DIALOG_OPEN)
        return;
    // The dialog lives until its callback is through, which reads its values.
    struct dialog *dialog = app->windows.dialog;
    struct instance *owner = app->windows.dialog_owner;
    app->windows.dialog = NULL;
    app->windows.dialog_owner = NULL;
    app_redraw(app);
    const struct dialog_request *request = dialog_request(dialog);
    void *state = owner ? owner->state : NULL;
    if (outcome == DIALOG_CONFIRMED && request->confirmed)
        AS_CALLER(app, owner, request->confirmed(app, state, dialog));
    if (outcome == DIALOG_CANCELLED && request->cancelled)
        AS_CALLER(app, owner, request->cancelled(app, state));
    dialog_destroy(dialog);
}

// The dialog may have been closed.
static void
tell_edit(struct app *app)
{
    struct dialog *dialog = app->windows.dialog;
    struct instance *owner = app->windows.dialog_owner;
    if (dialog && dialog_take_edit(dialog) && dialog_request(dialog)->edited)
        AS_CALLER(app, owner, dialog_request(dialog)->edited(app, owner ? owner->state : NULL));
}

static void
tell_action(struct app *app, enum action action)
{
    struct dialog *dialog = app->windows.dialog;
    struct instance *owner = app->windows.dialog_owner;
    if (dialog && dialog_request(dialog)->acted)
        AS_CALLER(app, owner, dialog_request(dialog)->acted(app, owner ? owner->state : NULL, action));
}

// A letter is text there or nothing, whatever the keymap binds to it.
static void
dialog_key(struct app *app)
{
    char text[4];
    app_redraw(app);
    if (key_is_text(app->keys.last)) {
        app->keys.pending.count = 0;
        (void)dialog_type(app->windows.dialog, key_text(app->keys.last, text), false);
        tell_edit(app);
        return;
    }
    enum action action = DO_NONE;
    enum keymap_answer answer = look_up(app, CONTEXT_DIALOG, &action);
    if (answer == KEYMAP_NONE)
        app->keys.pending.count = 0;
    if (answer == KEYMAP_ACTION && do_anywhere(app, action))
        return;
    app_dialog_end(app, dialog_handle(app->windows.dialog, answer == KEYMAP_ACTION ? action : DO_NONE));
    tell_edit(app);
    if (answer == KEYMAP_ACTION)
        tell_action(app, action);
}

static void *
prompt_state(const struct app *app)
{
    void *own = app->windows.prompt.request.state;
    return own ? own : app->windows.prompt_owner->state;
}

static void
prompt_changed(struct app *app)
{
    struct instance *owner = app->windows.prompt_owner;
    app_prompt_error(app, NULL);
    if (app->windows.prompt.request.changed)
        AS_CALLER(app, owner,
                  app->windows.prompt.request.changed(app, prompt_state(app),
                                                      strbuf_bytes(&app->windows.prompt.edit.text)));
}

static void
accept_prompt(struct app *app)
{
    struct instance *owner = app->windows.prompt_owner;
    struct strbuf text = {0}; // the callback may close the prompt
    strbuf_add(&text, strbuf_bytes(&app->windows.prompt.edit.text));
    prompt_remember(&app->windows.prompt, app->config->state_home);
    bool is_done = true;
    if (app->windows.prompt.request.accepted)
        AS_CALLER(app, owner,
                  is_done =
                      app->windows.prompt.request.accepted(app, prompt_state(app), strbuf_bytes(&text)));
    strbuf_release(&text);
    if (is_done && app->windows.prompt_owner == owner)
        app_prompt_close(app);
}

static void
leave_prompt(struct app *app)
{
    struct instance *owner = app->windows.prompt_owner;
    void (*cancelled)(struct app *, void *) = app->windows.prompt.request.cancelled;
    void *state = prompt_state(app);
    app_prompt_close(app);
    if (cancelled)
        AS_CALLER(app, owner, cancelled(app, state));
}

static void
prompt_key(struct app *app)
{
    app_redraw(app);
    if (key_is_text(app->keys.last) && app->keys.pending.count == 0) {
        char text[4];
        if (prompt_type(&app->windows.prompt, key_text(app->keys.last, text)))
            prompt_changed(app);
        return;
    }
    enum action action = DO_NONE;
    enum keymap_answer answer = look_up(app, CONTEXT_PROMPT, &action);
    if (answer == KEYMAP_NONE)
        app->keys.pending.count = 0;
    if (answer != KEYMAP_ACTION || do_anywhere(app, action))
        return;
    if (action == DO_ACCEPT) {
        accept_prompt(app);
    } else if (action == DO_LEAVE || action == DO_CANCEL) {
        leave_prompt(app);
    } else {
        bool has_changed = false;
        struct instance *owner = app->windows.prompt_owner;
        AS_CALLER(app, owner,
                  has_changed = prompt_handle(&app->windows.prompt, app, prompt_state(app), action));
        if (has_changed)
            prompt_changed(app);
    }
}

// Asks the rows of the view on top, in their order. The view may be closed by the one that does it.
static bool
offer(struct app *app, enum action action)
{
    struct instance *top = app_top(app);
    const struct view *view = top ? top->view : NULL;
    const struct view_action *row = NULL;
    bool is_done = false;
    app_redraw(app);
    if (view && view->touched)
        view->touched(top->state);
    while (!is_done && view && (row = view_action(view, action, row))) {
        if (row->why_not)
            app_say(app, SAY_INFO, "%s", row->why_not);
        else
            AS_CALLER(app, top, is_done = row->run(app, top->state, action));
        is_done |= row->why_not != NULL;
    }
    return is_done;
}

// Where a view holds something that is not saved, nothing ends.
static void
leave_program(struct app *app)
{
    const char *why = app_unsaved(app);
    if (why)
        app_say(app, SAY_WARN, "%s", why);
    else
        app_quit(app);
}

static void
do_back(struct app *app)
{
    if (offer(app, DO_BACK))
        return;
    if (app->stacks.places[app->stacks.place].depth > 1)
        app_back(app);
    else if (app->stacks.place != 1)
        app_go(app, 1);
    else if (key_is_text(app->keys.last)) // q; never Esc or Backspace
        leave_program(app);
    else
        app_say(app, SAY_INFO, MSG_FIRST_VIEW);
}

// Stops what the screen waits for; where nothing can be stopped, a second one quits.
static void
do_cancel(struct app *app)
{
    bool was_armed = app->life == APP_ABOUT_TO_LEAVE;
    app->life = APP_RUNS;
    if (offer(app, DO_CANCEL))
        return;
    bool goes_on;
    if (app_cancel_all(app, &goes_on)) {
        app_say(app, SAY_INFO, MSG_STOPPED);
        return;
    }
    if (was_armed) {
        leave_program(app);
        return;
    }
    app->life = APP_ABOUT_TO_LEAVE;
    app_say(app, SAY_INFO, "%s", goes_on ? MSG_QUIT_BUSY : MSG_QUIT_IDLE);
}

static void
do_refresh(struct app *app)
{
    app_post(app, app_is_stale(app) ? REQUEST_RECONNECT : REQUEST_REFRESH, true);
    (void)offer(app, DO_REFRESH);
}

static void
do_pause(struct app *app)
{
    app->is_paused = !app->is_paused;
    app_post(app, REQUEST_PAUSE, app->is_paused);
    (void)offer(app, DO_PAUSE_DISPLAY);
    app_say(app, SAY_INFO, app->is_paused ? MSG_DISPLAY_PAUSED : MSG_DISPLAY_LIVE);
}

static void
step_place(struct app *app, int step)
{
    for (int i = 1; i < PLACES; i++) {
        int place = (app->stacks.place - 1 + step * i + PLACES * PLACES) % PLACES + 1;
        for (int v = 0; v < app->config->view_count; v++) {
            if (app->config->views[v].place == place) {
                app_go(app, place);
                return;
            }
        }
    }
}

// Help and palette are about the view they are opened from.
static void
open_about(struct app *app, const char *name)
{
    const struct view *view = app_find_view(app, name);
    struct instance *top = app_top(app);
    if (!view || (top && top->view == view))
        return;
    app_open(app, view, top ? top->view : NULL);
}

bool
app_shows_operation(const struct app *app, int64_t no)
{
    const struct instance *top = app_top(app);
    return top && top->view == app_find_view(app, "operation") && top->view->is_of(top->state, &no);
}

static void
open_running(struct app *app)
{
    const struct view *view = app_find_view(app, "operation");
    int64_t told = app->messages.told;
    int64_t running = app_status(app)->running.no;
    // That of the message line; once it has left the line, the one that runs.
    int64_t no = told && (app->messages.line != LINE_EMPTY || !running) ? told : running;
    if (no && app_shows_operation(app, no))
        app_say(app, SAY_INFO, MSG_SHOWS_OPERATION, no);
    else if (view && no)
        app_open(app, view, &no);
    else
        app_say(app, SAY_INFO, MSG_NONE_RUNNING);
}

static void
toggle_mouse(struct app *app)
{
    app->takes_mouse = !app->takes_mouse;
    app_say(app, SAY_INFO, app->takes_mouse ? MSG_MOUSE_ON : MSG_MOUSE_OFF);
}

static void
toggle_times(struct app *app)
{
    char zone[TIME_TEXT];
    app->times_by_clock = !app->times_by_clock;
    if (app->times_by_clock)
        app_say(app, SAY_INFO, MSG_TIMES_CLOCK, time_zone(app_now(app), zone));
    else
        app_say(app, SAY_INFO, MSG_TIMES_AGE);
}

static void
do_reconnect(struct app *app)
{
    app_post(app, REQUEST_RECONNECT, true);
}

static void
go_to_next_place(struct app *app)
{
    step_place(app, 1);
}

static void
go_to_previous_place(struct app *app)
{
    step_place(app, -1);
}

static void
go_to_last_place(struct app *app)
{
    app_go(app, app->stacks.last_place);
}

static void
open_help(struct app *app)
{
    open_about(app, "help");
}

static void
open_palette(struct app *app)
{
    open_about(app, "palette");
}

static void
open_messages(struct app *app)
{
    open_about(app, "messages");
}

// Never more than its dialog: that is about what is selected now, and asks as it did before.
static void
repeat_change(struct app *app)
{
    if (app->keys.change != DO_NONE)
        app_perform(app, app->keys.change);
    else
        app_say(app, SAY_INFO, MSG_NOTHING_TO_REPEAT);
}

// The app's own actions, the same in every view.
static const struct own_action {
    enum action action;
    void (*run)(struct app *app);
    int place; // where there is no run: the place to go to
} own_actions[] = {
    {DO_HELP, open_help, 0},
    {DO_PALETTE, open_palette, 0},
    {DO_BACK, do_back, 0},
    {DO_QUIT, leave_program, 0},
    {DO_CANCEL, do_cancel, 0},
    {DO_SUSPEND, do_suspend, 0},
    {DO_REDRAW, do_repaint, 0},
    {DO_REFRESH, do_refresh, 0},
    {DO_PAUSE_DISPLAY, do_pause, 0},
    {DO_PLACE_1, NULL, 1},
    {DO_PLACE_2, NULL, 2},
    {DO_PLACE_3, NULL, 3},
    {DO_PLACE_4, NULL, 4},
    {DO_PLACE_5, NULL, 5},
    {DO_PLACE_NEXT, go_to_next_place, 0},
    {DO_PLACE_PREVIOUS, go_to_previous_place, 0},
    {DO_PLACE_LAST, go_to_last_place, 0},
    {DO_MESSAGES, open_messages, 0},
    {DO_THEME, app_open_themes, 0},
    {DO_MOUSE, toggle_mouse, 0},
    {DO_TIMES, toggle_times, 0},
    {DO_OPERATION_NEWEST, open_running, 0},
    {DO_REPEAT, repeat_change, 0},
    {DO_RECONNECT, do_reconnect, 0},
};

static const struct own_action *
find_own(enum action action)
{
    for (size_t i = 0; i < sizeof own_actions / sizeof *own_actions; i++)
        if (own_actions[i].action == action)
            return &own_actions[i];
    return NULL;
}

bool
app_handles(const struct view *view, enum action action)
{
    return find_own(action) || (view && view_handles(view, action));
}

bool
app_events(struct app *app, struct list_query *query, const char **what)
{
    struct instance *top = app_top(app);
    bool has_some = false;
    if (!top || !top->view->events)
        app_say(app, SAY_INFO, MSG_NOT_ABOUT_EVENTS);
    else
        AS_CALLER(app, top, has_some = top->view->events(app, top->state, query, what));
    return has_some;
}

bool
app_can_do(const struct app *app, enum action action)
{
    const struct instance *top = app_top(app);
    const struct view_action *row = NULL;
    if (find_own(action))
        return true;
    while (top && (row = view_action(top->view, action, row)))
        if (row->run && (!row->is_possible || row->is_possible(app, top->state, action)))
            return true;
    return false;
}

void
app_perform(struct app *app, enum action action)
{
    const char *why_not;
    const struct own_action *own = find_own(action);
    if (action_row(action)->effect == EFFECT_CHANGES && !app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return;
    }
    if (action != DO_CANCEL && app->life == APP_ABOUT_TO_LEAVE)
        app->life = APP_RUNS;
    if (action_row(action)->effect == EFFECT_CHANGES)
        app->keys.change = action;
    app_redraw(app);
    if (own && own->run)
        own->run(app);
    else if (own)
        app_go(app, own->place);
    else if (!offer(app, action))
        app_say(app, SAY_INFO, MSG_NOT_AVAILABLE, action_row(action)->word);
}

static bool
typed(struct app *app, struct bytes text, bool is_paste)
{
    struct instance *top = app_top(app);
    bool is_used = false;
    if (top && top->view->type)
        AS_CALLER(app, top, is_used = top->view->type(app, top->state, text, is_paste));
    if (is_used)
        app_redraw(app);
    return is_used;
}

// Is the digit the beginning of a count, or part of one? Only where the keymap has no other use for digits.
static bool
takes_digit(struct app *app, enum context context)
{
    enum action action;
    uint32_t key = app->keys.last;
    if (app->keys.pending.count > 0 || key < '0' || key > '9' || (key == '0' && app->keys.count == 0))
        return false;
    for (uint32_t digit = '1'; digit <= '9'; digit++)
        if (keymap_find(app->keymap, context, &(struct key_sequence){.keys = {digit}, .count = 1}, &action) !=
            KEYMAP_NONE)
            return false;
    app->keys.count = app->keys.count * 10 + (int)(key - '0');
    if (app->keys.count > MOST_COUNT)
        app->keys.count = MOST_COUNT;
    return true;
}

// As often as the count says, for movements; a count before anything else is forgotten.
static void
perform_counted(struct app *app, enum action action)
{
    int times = app->keys.count && action_row(action)->effect == EFFECT_MOVES ? app->keys.count : 1;
    app->keys.count = 0;
    for (int i = 0; i < times; i++)
        app_perform(app, action);
}

static void
view_key(struct app *app)
{
    struct instance *top = app_top(app);
    if (!top)
        return;
    char text[4];
    if (app->keys.pending.count == 0 && key_is_text(app->keys.last) &&
        typed(app, key_text(app->keys.last, text), false))
        return;

    if (takes_digit(app, top->view->context))
        return;
    if (app->keys.count && app->keys.last == KEY_CODE_ESC) {
        app->keys.count = 0;
        return;
    }
    bool is_sequence = app->keys.pending.count > 0;
    enum action action = DO_NONE;
    switch (look_up(app, top->view->context, &action)) {
    case KEYMAP_ACTION:
        perform_counted(app, action);
        break;
    case KEYMAP_MORE:
        break;
    case KEYMAP_NONE:
        if (!is_sequence || app->keys.last != KEY_CODE_ESC)
            say_unbound(app);
        app->keys.pending.count = 0;
        app->keys.count = 0;
        break;
    }
}

// A message stays until the next key, unless that key brings another one.
static void
age_message(struct app *app)
{
    if (app->messages.line != LINE_OLD)
        return;
    app->messages.line = LINE_EMPTY;
    app_redraw(app);
}

void
app_key(struct app *app, uint32_t key)
{
    app->keys.last = key;
    app->now = clock_now();
    if (app->messages.line == LINE_NEW)
        app->messages.line = LINE_OLD;
    if (app->windows.menu.is_open)
        menu_key(app);
    else if (app->windows.dialog)
        dialog_key(app);
    else if (app->windows.prompt_owner)
        prompt_key(app);
    else
        view_key(app);
    age_message(app);
}

void
app_paste(struct app *app, struct bytes text)
{
    app->now = clock_now();
    if (app->messages.line == LINE_NEW)
        app->messages.line = LINE_OLD;
    app_redraw(app);
    if (app->windows.dialog) {
        if (!dialog_type(app->windows.dialog, text, true))
            app_say(app, SAY_INFO, MSG_PASTE_NOT_HERE);
        tell_edit(app);
    } else if (app->windows.prompt_owner) {
        if (prompt_type(&app->windows.prompt, text))
            prompt_changed(app);
    } else if (app->windows.menu.is_open || !typed(app, text, true)) {
        char filter[32];
        char bytes[TEXT_SHORT];
        struct instance *top = app_top(app);
        (void)keymap_key_text(app->keymap, top ? top->view->context : CONTEXT_GLOBAL, DO_FILTER, filter);
        app_say(app, SAY_INFO, filter[0] ? MSG_PASTE_IGNORED_FILTER : MSG_PASTE_IGNORED,
                text_count((int64_t)text.len, bytes), text.len == 1 ? "" : "s", filter);
    }
    age_message(app);
}

void
app_mouse(struct app *app, enum mouse_button button, int row, int col)
{
    struct instance *top = app_top(app);
    if (!top || !app->takes_mouse) // no terminal tells of a mouse then: it is a paste, or something worse
        return;
    app->now = clock_now();
    app_redraw(app);
    if (app->windows.dialog) {
        if (button == MOUSE_LEFT)
            app_dialog_end(app, dialog_click(app->windows.dialog, row, col));
        tell_edit(app);
        return;
    }
    if (app->windows.prompt_owner || app->windows.menu.is_open)
        return;
    bool is_wheel = button == MOUSE_WHEEL_UP || button == MOUSE_WHEEL_DOWN;
    for (int i = 0; is_wheel && i < WHEEL_ROWS; i++)
        (void)offer(app, button == MOUSE_WHEEL_UP ? DO_UP : DO_DOWN);
    if (button != MOUSE_LEFT || !top->view->click)
        return;
    int64_t now = clock_mono();
    bool is_double = row == app->keys.click_row && now - app->keys.click_at < DOUBLE_CLICK_US;
    app->keys.click_row = row;
    app->keys.click_at = is_double ? 0 : now; // a third click begins anew, on what the second one opened
    bool is_used = false;
    if (top->view->touched)
        top->view->touched(top->state);
    AS_CALLER(app, top, is_used = top->view->click(app, top->state, row, col));
    if (is_used && is_double)
        (void)offer(app, DO_OPEN);
}
