// Draws the frame around the top view: header, message line, footer, prompt or dialog.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/app/private.h"
#include "ui/app/operation_words.h"
#include "ui/widgets/statusbar.h"
#include "ui/app/texts.h"

// Keys that come faster than this are those of a key held down (terminals repeat it 25 to 40 times a second).
#define REST (US_PER_SECOND * 60 / 1000)

#define MINUTE (60 * US_PER_SECOND)

// How long a view that was just opened may take to answer before the screen says that it is being looked for.
#define BLINK (US_PER_SECOND * 60 / 1000)

// Below these sizes parts of the picture leave, least important first.
enum { LEAST_ROWS = 5, LEAST_COLS = 20, LINE_FROM_ROWS = 6, FOOTER_FROM_ROWS = 8, CRUMBS = 24 };

static const struct {
    const char *word;
    enum role role;
} says[] = {
    [SAY_INFO] = {"", ROLE_STATUS_INFO},
    [SAY_OK] = {"", ROLE_STATUS_OK},
    [SAY_WARN] = {"note: ", ROLE_STATUS_WARN},
    [SAY_ERROR] = {"error: ", ROLE_STATUS_ERROR},
};

static const char *
frame_text(struct app *app, const struct strbuf *text)
{
    return arena_text(&app->picture.frame, strbuf_bytes(text));
}

// The program's name, the table where there are several, then what each view of the stack adds.
static int
collect_crumbs(struct app *app, const char *crumbs[CRUMBS])
{
    int count = 0;
    crumbs[count++] = app->config->breadcrumb ? app->config->breadcrumb : "redrive";
    if (app_status(app)->table[0])
        crumbs[count++] = app_status(app)->table;
    const struct stack *stack = &app->stacks.places[app->stacks.place];
    struct strbuf text = {0};
    for (int v = 0; v < stack->depth; v++) {
        const struct instance *instance = stack->views[v];
        strbuf_reset(&text);
        for (int i = 0; instance->view->crumb && count < CRUMBS; i++) {
            if (!instance->view->crumb(app, instance->state, i, &text))
                break;
            crumbs[count++] = frame_text(app, &text);
            strbuf_reset(&text);
        }
    }
    strbuf_release(&text);
    return count;
}

static const char *
connection_words(struct app *app, enum role *role)
{
    const struct status *status = app_status(app);
    char as_of[TIME_TEXT];
    *role = ROLE_STALE;
    if (status->link == LINK_CONNECTING)
        return "connecting";
    if (status->link == LINK_LOST && status->as_of == TIME_ABSENT)
        return MSG_NO_CONNECTION;
    if (status->link == LINK_LOST)
        return arena_printf(&app->picture.frame, "as of %s", time_of_day(status->as_of, as_of));
    if (app->is_paused)
        return "PAUSED";
    *role = ROLE_LIVE;
    return "live";
}

static void
draw_header(struct app *app, struct area area)
{
    const struct status *status = app_status(app);
    const char *crumbs[CRUMBS];
    struct header header = {.crumbs = crumbs, .label = app->config->label};
    header.crumb_count = collect_crumbs(app, crumbs);
    header.label_role = app_environment_role(app);
    header.where = app->config->where;
    if (!header.where && status->database[0])
        header.where = arena_printf(&app->picture.frame, "%s%s%s", status->host, status->host[0] ? "/" : "",
                                    status->database);
    // The zone of every clock time on the screen, said once.
    char zone[TIME_TEXT];
    header.where = arena_printf(&app->picture.frame, "%s%s%s", header.where ? header.where : "",
                                header.where ? "  " : "", time_zone(app->now, zone));
    if (status->promise == PROMISE_AT_LEAST_ONCE)
        header.where = arena_printf(&app->picture.frame, "%s  %s", header.where, status->promise_words);
    header.state = connection_words(app, &header.state_role);
    if (app->config->is_read_only || status->is_read_only)
        header.state = arena_printf(&app->picture.frame, "read-only  %s", header.state);
    size_t here = people_here(app_people(app));
    if (here > 1 && status->link == LINK_LIVE)
        header.state = arena_printf(&app->picture.frame, MSG_HERE, here, header.state);
    char left[TEXT_SHORT];
    if (status->letters_left > 0 && status->link == LINK_LIVE)
        header.state = arena_printf(&app->picture.frame, MSG_LETTERS_LEFT_BY_INGEST,
                                    text_count(status->letters_left, left), header.state);
    if (status->alerts_firing > 0 && status->link == LINK_LIVE) {
        header.state = arena_printf(&app->picture.frame, MSG_ALERTS, status->alerts_firing,
                                    status->alerts_firing == 1 ? "" : "s", header.state);
        header.state_role = ROLE_STATUS_WARN;
    }
    if (status->stop[0]) {
        header.state = arena_printf(&app->picture.frame, "%s  %s", MSG_STOP_STATE, header.state);
        header.state_role = ROLE_STATUS_ERROR;
    }
    header_draw(&header, &app->picture.canvas, area);
}

// Why nobody carries it out; NULL: somebody does, or it waits for something else. An old rate would promise
// what nobody keeps.
static const char *
absence_words(struct app *app, const struct operation *operation)
{
    const struct status *status = app_status(app);
    bool is_due = operation->state == OPERATION_RUNNING ||
                  (operation->state == OPERATION_FROZEN && !operation_can_be_called_back(operation));
    if (!is_due || operation->queued == 0 || status->link != LINK_LIVE)
        return NULL;
    if (status->worker.count == 0)
        return MSG_NOBODY_WORKS;
    return status->worker.silent ? arena_printf(&app->picture.frame, MSG_NO_SIGN, status->worker.silent)
                                 : NULL;
}

// "operation 41: sent 8,420 of 12,000, returned 0, 950/s, 4s left"
static void
draw_running(struct app *app, const struct operation *operation, struct area area)
{
    char total[TEXT_SHORT], done[TEXT_SHORT], returned[TEXT_SHORT], left[TEXT_SHORT];
    struct strbuf words = {0};
    strbuf_printf(&words, MSG_RUNNING, operation->no, item_state_word(ITEM_DONE, operation->action),
                  text_count(operation->done, done), text_count(operation->total, total));
    if (operation->action == ACTION_REPROCESS)
        strbuf_printf(&words, MSG_RUNNING_RETURNED, text_count(operation->returned, returned));
    if (operation->state != OPERATION_RUNNING)
        strbuf_printf(&words, ", %s", operation_state_word(operation->state));
    int64_t rest = operation->queued + operation->claimed;
    const char *absence = absence_words(app, operation);
    if (absence)
        strbuf_printf(&words, ": %s", absence);
    else if (operation->state == OPERATION_RUNNING && operation->rate_now >= 1)
        strbuf_printf(&words, ", %.0f/s, %s left", operation->rate_now,
                      text_age((int64_t)((double)rest / operation->rate_now * US_PER_SECOND), left));
    // While nothing is sent, the worker's note says why, unless it only names its operation.
    const char *note = app_status(app)->worker.note;
    if (!absence && operation->state == OPERATION_RUNNING && operation->rate_now < 1 && *note &&
        strncmp(note, "operation ", 10) != 0)
        strbuf_printf(&words, ": %s", note);
    char key[32];
    const struct instance *top = app_top(app);
    (void)keymap_key_text(app->keymap, top->view->context, DO_OPERATION_NEWEST, key);
    int used = 1 + canvas_text(&app->picture.canvas, area.row, 1, area.cols - 2, strbuf_bytes(&words),
                               absence ? ROLE_STATUS_WARN : operation_standing_role(operation));
    if (key[0] && used + 10 < area.cols && !app_shows_operation(app, operation->no))
        (void)canvas_styled(&app->picture.canvas, area.row, used, area.cols - used - 1,
                            bytes_of(arena_printf(&app->picture.frame, MSG_WATCH, key)),
                            &(struct canvas_style){.role = ROLE_DIM, .at_right = true});
    strbuf_release(&words);
}

static void
draw_lost(struct app *app, const struct status *status, struct area area)
{
    char key[32], left[TEXT_SHORT];
    int64_t wait = status->retry_at - clock_mono();
    const struct instance *top = app_top(app);
    (void)keymap_key_text(app->keymap, top->view->context, DO_REFRESH, key);
    const char *trouble = status->trouble[0] ? status->trouble : MSG_CONNECTION_LOST;
    if (wait > 0)
        (void)canvas_printf(&app->picture.canvas, area.row, 1, area.cols - 1, ROLE_STALE, MSG_RECONNECTING,
                            text_age(wait + US_PER_SECOND - 1, left), key, trouble);
    else
        (void)canvas_printf(&app->picture.canvas, area.row, 1, area.cols - 1, ROLE_STALE, MSG_CONNECTING_NOW,
                            trouble);
}

// With the time that is left, where it counts down.
static const char *
message_words(struct app *app, const struct app_message *message)
{
    char left[TEXT_SHORT];
    size_t at = app->messages.left_at;
    if (!app_counts_down(app) || at == SIZE_MAX)
        return message->text;
    int64_t wait = app->messages.until - app->now;
    return arena_printf(&app->picture.frame, "%.*s%s%s", (int)at, message->text,
                        text_age(wait > 0 ? wait + US_PER_SECOND - 1 : 0, left),
                        message->text + at + app->messages.left_len);
}

// One message: keys pressed so far, what just happened, what is wrong, the running operation.
static void
draw_message(struct app *app, struct area area)
{
    const struct status *status = app_status(app);
    if (area.rows < 1)
        return;
    if (app->keys.pending.count > 0) {
        struct strbuf keys = {0};
        key_print_sequence(&app->keys.pending, &keys);
        (void)canvas_printf(&app->picture.canvas, area.row, 1, area.cols - 1, ROLE_STATUS, "%s%s",
                            strbuf_text(&keys), glyph_text(&app->picture.canvas, GLYPH_ELLIPSIS));
        strbuf_release(&keys);
    } else if (app->messages.line != LINE_EMPTY) {
        struct app_message message;
        (void)app_message(app, 0, &message);
        (void)canvas_printf(&app->picture.canvas, area.row, 1, area.cols - 1, says[message.say].role, "%s%s",
                            says[message.say].word, message_words(app, &message));
    } else if (status->link == LINK_LOST) {
        draw_lost(app, status, area);
    } else if (status->stop[0]) {
        (void)canvas_printf(&app->picture.canvas, area.row, 1, area.cols - 1, ROLE_STATUS_ERROR, MSG_STOP,
                            status->stop);
    } else if (status->running.no) {
        draw_running(app, &status->running, area);
    } else if (!status->has_schema) {
        (void)canvas_text(&app->picture.canvas, area.row, 1, area.cols - 1, BYTES(MSG_NO_SCHEMA_HERE),
                          ROLE_STATUS_WARN);
    }
}

static void
draw_menu(struct app *app, struct area area)
{
    const struct menu *menu = &app->windows.menu;
    struct canvas *canvas = &app->picture.canvas;
    int width = text_cells(bytes_of(menu->title), canvas->is_ascii) + 6;
    for (size_t i = 0; i < menu->count; i++) {
        int cells = text_cells(bytes_of(menu->items[i].text), canvas->is_ascii) + 10;
        width = cells > width ? cells : width;
    }
    width = width > area.cols ? area.cols : width;
    int rows = (int)menu->count + 2 > area.rows ? area.rows : (int)menu->count + 2;
    if (rows < 3)
        return;
    struct area box = {area.row + (area.rows - rows) / 2, area.col + (area.cols - width) / 2, rows, width};
    canvas_fill(canvas, box, ROLE_DIALOG);
    canvas_box(canvas, box, ROLE_DIALOG_BORDER);
    (void)canvas_printf(canvas, box.row, box.col + 2, width - 4, ROLE_DIALOG_TITLE, " %s ", menu->title);

    size_t shown = (size_t)rows - 2;
    size_t top = menu->cursor >= shown ? menu->cursor - shown + 1 : 0;
    for (size_t i = top; i < menu->count && i < top + shown; i++) {
        int row = box.row + 1 + (int)(i - top);
        struct strbuf key = {0};
        if (menu->items[i].key)
            key_print_label(&(struct key_sequence){{menu->items[i].key}, 1}, &key);
        (void)canvas_text(canvas, row, box.col + 2, 5, strbuf_bytes(&key), ROLE_FOOTER_KEY);
        (void)canvas_text(canvas, row, box.col + 8, width - 9, bytes_of(menu->items[i].text), ROLE_DIALOG);
        if (i == menu->cursor) {
            canvas_restyle(canvas, (struct area){row, box.col + 2, 1, width - 3}, ROLE_CURSOR);
            (void)canvas_glyph(canvas, row, box.col + 1, GLYPH_CURSOR, ROLE_CURSOR_MARK);
        }
        strbuf_release(&key);
    }
}

// What the view calls the action now.
static const char *
word_of(const struct app *app, enum action action)
{
    const struct instance *top = app_top(app);
    const struct view_action *row = NULL;
    const char *word = NULL;
    while (!word && (row = view_action(top->view, action, row)))
        word = row->word ? row->word(app, top->state, action) : NULL;
    return word ? word : action_row(action)->label;
}

static void
draw_view_footer(struct app *app, struct area area)
{
    enum { MOST = 16 };
    enum action offered[MOST + 1] = {DO_NONE};
    struct footer_label labels[MOST + 2] = {{DO_NONE, NULL}};
    const struct view *view = app_top(app)->view;
    size_t count = 0;
    for (const enum action *action = view->footer; action && *action != DO_NONE && count < MOST; action++)
        if (app_can_do(app, *action) &&
            (action_row(*action)->effect != EFFECT_CHANGES || app_can_change(app, NULL))) {
            labels[count] = (struct footer_label){*action, word_of(app, *action)};
            offered[count++] = *action;
        }
    offered[count] = DO_NONE;
    if (strcmp(view->name, "help") == 0)
        labels[count] = (struct footer_label){DO_HELP, ""}; // it is open
    footer_draw(app->keymap, view->context, offered, labels, &app->picture.canvas, area);
}

// What Tab and Enter do now. On a button Enter comes first.
static void
draw_dialog_footer(struct app *app, struct area area)
{
    const struct dialog *dialog = app->windows.dialog;
    const char *next = dialog_next_word(dialog, &app->picture.frame);
    const char *enter = dialog_enter_word(dialog, &app->picture.frame);
    bool is_same = next && enter && strcmp(next, enter) == 0;
    enum action keys[4 + DIALOG_OFFERS] = {DO_NONE};
    struct footer_label labels[3 + DIALOG_OFFERS] = {{DO_FIELD_NEXT, next}, {DO_ACCEPT, enter}};
    int count = 0;
    if (next)
        keys[count++] = DO_FIELD_NEXT;
    if (enter && !is_same)
        keys[count++] = DO_ACCEPT;
    keys[count++] = DO_LEAVE;
    const struct dialog_offer *offer;
    for (size_t i = 0; (offer = dialog_offer(dialog, i)) != NULL; i++) {
        keys[count++] = offer->action;
        labels[2 + i] = (struct footer_label){offer->action, offer->word};
    }
    keys[count] = DO_NONE;
    footer_draw(app->keymap, CONTEXT_DIALOG, keys, labels, &app->picture.canvas, area);
}

static void
draw_footer(struct app *app, struct area area)
{
    static const enum action menu_keys[] = {DO_DOWN, DO_UP, DO_OPEN, DO_BACK, DO_NONE};
    static const struct footer_label menu_labels[] = {
        {DO_OPEN, "choose"}, {DO_BACK, "close"}, {DO_NONE, NULL}};
    if (app->windows.dialog)
        draw_dialog_footer(app, area);
    else if (app->windows.menu.is_open)
        footer_draw(app->keymap, CONTEXT_LIST, menu_keys, menu_labels, &app->picture.canvas, area);
    else
        draw_view_footer(app, area);
}

static void
draw_all(struct app *app)
{
    struct canvas *canvas = &app->picture.canvas;
    struct instance *top = app_top(app);
    struct area rest = canvas_area(canvas);
    struct area header = area_take_top(&rest, 1);
    struct area bottom = area_take_bottom(&rest, canvas->rows >= FOOTER_FROM_ROWS ? 2 : 1);
    struct area whole = rest;
    struct view_areas areas = {.line = area_take_top(&rest, canvas->rows >= LINE_FROM_ROWS ? 1 : 0),
                               .body = rest};

    if (top->view->layout)
        AS_CALLER(app, top, top->view->layout(app, top->state, &areas));
    draw_header(app, header);
    top->view->draw(app, top->state, canvas, &areas);
    if (app->windows.prompt_owner) {
        prompt_draw(&app->windows.prompt, canvas, bottom);
        prompt_draw_explained(&app->windows.prompt, canvas, whole);
    } else {
        struct area message = area_take_top(&bottom, 1);
        draw_message(app, message);
        draw_footer(app, bottom);
    }
    if (app->windows.menu.is_open)
        draw_menu(app, whole);
    if (app->windows.dialog) {
        canvas->caret_row = -1;
        dialog_layout(app->windows.dialog, canvas->is_ascii, whole);
        dialog_draw(app->windows.dialog, canvas, whole);
    }
}

const struct canvas *
app_draw(struct app *app)
{
    if (app->picture.state != PICTURE_DUE)
        return &app->picture.canvas;
    app->now = clock_now();
    app_expire_message(app);
    app->picture.drawn_minute = app->now / MINUTE;
    app->picture.drawn_at = clock_mono();
    app->picture.state = PICTURE_WHOLE;
    app->picture.again_at = app->windows.dialog ? dialog_due(app->windows.dialog) : -1;
    arena_reset(&app->picture.frame);
    canvas_clear(&app->picture.canvas);
    if (app->picture.canvas.rows < LEAST_ROWS || app->picture.canvas.cols < LEAST_COLS)
        (void)canvas_printf(&app->picture.canvas, 0, 0, app->picture.canvas.cols, ROLE_STATUS_WARN,
                            MSG_TOO_SMALL, app->picture.canvas.cols, app->picture.canvas.rows);
    else
        draw_all(app);
    app_tell_presence(app);
    return &app->picture.canvas;
}

void
app_resize(struct app *app, int rows, int cols)
{
    if (rows == app->picture.canvas.rows && cols == app->picture.canvas.cols)
        return;
    canvas_resize(&app->picture.canvas, rows, cols);
    app_redraw(app);
}

void
app_pace(struct app *app)
{
    int64_t now = clock_mono();
    app->keys.is_hurried = now - app->keys.at < REST;
    app->keys.at = now;
}

bool
app_is_hurried(struct app *app)
{
    bool is_hurried = app->keys.is_hurried && clock_mono() - app->keys.at < REST;
    if (is_hurried && app->picture.state == PICTURE_WHOLE)
        app->picture.state = PICTURE_IN_PART;
    return is_hurried;
}

// As app_wake_after, for what ages.
static int64_t
age_after(const struct app *app)
{
    const struct instance *top = app_top(app);
    bool counts_down = app_status(app)->link == LINK_LOST || app_counts_down(app);
    enum aging aging = counts_down ? AGES_BY_SECONDS : top ? top->view->aging : AGES_NOT;
    if (aging == AGES_NOT || getenv("REDRIVE_NOW")) // then time stands still
        return -1;
    int64_t left = app->picture.drawn_at + US_PER_SECOND - clock_mono();
    if (aging == AGES_BY_MINUTES)
        left = clock_now() / MINUTE == app->picture.drawn_minute ? MINUTE - clock_now() % MINUTE : 0;
    return left > 0 ? left : 0;
}

static int64_t
blink_left(const struct app *app)
{
    const struct instance *top = app_top(app);
    if (app->picture.state != PICTURE_DUE || !top || top->was_answered || app->windows.dialog ||
        app->windows.prompt_owner || app->messages.line != LINE_EMPTY)
        return 0;
    int64_t left = top->opened_at + BLINK - clock_mono();
    return left > 0 && app_is_asking(app, top) ? left : 0;
}

bool
app_holds_back(const struct app *app)
{
    return blink_left(app) > 0;
}

// The sooner of two, of which negative ones never come.
static int64_t
sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

int64_t
app_wake_after(const struct app *app)
{
    int64_t wake = age_after(app);
    wake = sooner(wake, app_due_after(app));
    if (app_holds_back(app))
        wake = sooner(wake, blink_left(app));
    if (app->picture.again_at >= 0) {
        int64_t left = app->picture.again_at - clock_mono();
        wake = sooner(wake, left > 0 ? left : 0);
    }
    if (app->picture.state == PICTURE_IN_PART) {
        int64_t rest = app->keys.at + REST - clock_mono();
        wake = sooner(wake, rest > 0 ? rest : 0);
    }
    return wake;
}
