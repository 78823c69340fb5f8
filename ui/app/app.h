// app: the state of the program and its loop.
//
//   keys ─▶ term ─▶ keymap ─▶ view.actions ─▶ app_send ─▶ mailbox ─▶ backend
//   term ◀─ canvas ◀─ view.draw ◀── view.receive ◀── mailbox ◀───────┘
//
// One turn: all waiting keys → replies for a few milliseconds → draw once if something changed → what differs
// goes to the terminal. The app owns line 1 (breadcrumb, environment, connection), the message line and the
// footer; the view on top of the stack owns line 2 and the body. A prompt and a dialog are the app's: while
// one is open it alone gets the keys, and no changing key works.
//
// Functions below are for views unless they say otherwise, and are called by the UI thread only.
#ifndef REDRIVE_UI_APP_APP_H
#define REDRIVE_UI_APP_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "async/mailbox.h"
#include "async/message.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "core/link.h"
#include "core/runbook.h"
#include "core/selection.h"
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"
#include "ui/term/input.h"
#include "ui/keymap/keymap.h"
#include "ui/theme/theme.h"
#include "ui/view.h"
#include "ui/widgets/dialog.h"
#include "ui/widgets/moment.h"
#include "ui/widgets/prompt.h"

struct app;

// The connections that can be changed to without leaving the program (:profile, :table).
struct app_connection {
    const char *profile; // NULL: as the program was started
    const char *table;   // of dead letters, where the database has several and they are known; else NULL
    size_t of; // the connection that stands for the profile: its own place, or for a further table that one's
    const char *words; // what it is, for the menu: "prod  PROD  service=orders"
};
struct app_connections {
    const struct app_connection *list;
    size_t count;
    size_t current;
};

struct app_decision {
    bool is_protected;     // every change asks for the typed count
    int64_t confirm_above; // more events ask for it too
    int64_t approve_above; // operations of more events wait for somebody else; 0: none do
    int64_t max_replays;   // an event that returned so often is left out of a bulk reprocess
    int64_t send_after;    // µs in which a reprocess can be called back
    bool reason_required;
};
struct app_editor {
    const char *style;       // of its keys: "plain", "vi", "emacs"; NULL: plain
    bool keeps_drafts;       // unsaved text is written to the state folder
    bool hands_over;         // to a program of the person's own
    const char *runtime_dir; // $XDG_RUNTIME_DIR, or NULL
};
struct app_look {
    const char *theme, *keymap; // names or paths
    const char *theme_by;       // where it came from, if it counts more than the person's own file: "--theme"
};
struct app_start {
    const char *filter; // --filter, or NULL
    int place;          // 1..5, with the filter on it; 0: the first, as at the start of the program
};

// What the screen command says; borrowed for the life of the app.
struct app_config {
    struct mailbox *requests; // to the backend; NULL: nobody answers (tests of the framework)
    struct mailbox *replies;  // from it
    const struct view_row *views;
    int view_count;

    const char *breadcrumb;    // first step: "redrive"
    const char *label;         // environment: "PROD", or NULL
    const char *label_color;   // "auto", "red" …; NULL: auto
    const char *where;         // "db1/orders"; NULL: told by the first status
    bool is_read_only;         // changing actions are refused with a sentence
    const char *read_only_why; // that sentence; NULL: the one that needs no reason
    struct app_decision decision;

    bool is_ascii;
    struct link_list links;  // of the settings
    struct runbook *runbook; // of the team; NULL: none
    bool tells_presence;     // to others: what this screen shows
    int64_t follow_after;    // µs; see ui/views/follow.h
    const char *column;      // path of the payload that lists of events show; NULL: none
    struct app_look look;
    struct ui_places places;
    const char *state_home; // histories, or NULL: none are kept
    struct app_start start;
    struct app_connections connections;
    bool takes_mouse;
    bool times_by_clock; // to begin with
    struct app_editor editor;
    int idle_fd; // REDRIVE_TEST_FD, or -1
};

// Loads theme and keymap and opens the first place. err: a theme or keymap that cannot be read.
struct app *app_create(const struct app_config *config, struct err *err);
void app_destroy(struct app *app);
// Runs on the terminal until the person leaves or the terminal is gone. Returns the exit status: 0, or 1
// after a hang-up.
struct term;
int app_run(struct app *app, struct term *term);

// What a view can see

const struct app_config *app_config(const struct app *app);
const struct keymap *app_keymap(const struct app *app);
const struct theme *app_theme(const struct app *app);
const struct status *app_status(const struct app *app); // the last one told; link CONNECTING before the first
const struct people *app_people(const struct app *app); // what people say about groups; never NULL
// Of the last key, reply or picture, whichever was last; one instant for a whole draw; frozen by REDRIVE_NOW.
int64_t app_now(const struct app *app);
// How lists and sentences tell a moment: by its age or by the clock, as the person chose.
struct moments app_moments(const struct app *app);
struct arena *app_frame(const struct app *app);               // scratch, reset before each draw
bool app_is_on_top(const struct app *app, const void *state); // of the place that is shown
// No prompt, menu or dialog is open, and the display is live.
bool app_is_at_rest(const struct app *app);
bool app_is_paused(const struct app *app); // the display is held still
bool app_is_stale(const struct app *app);  // the connection is lost: draw rows dimmed
// For layout only: a key is held down, so what only follows the cursor (a preview) may stay as it is and save
// the line its bytes. The app draws again by itself as soon as the keys rest.
bool app_is_hurried(struct app *app);
bool app_can_change(const struct app *app, const char **why_not); // read-only, lost connection, no schema
// The count that is typed to confirm a change of so many events; 0: none is.
int64_t app_typed_count(const struct app *app, int64_t events);
// The operation that the person confirmed last, which `u` undoes unless a step of the selection came later
// (decide.h). It is one for the whole program, like the selection.
struct app_deed {
    int64_t operation; // 0: none
    enum operation_action action;
    int64_t until; // nothing of it happens before; TIME_ABSENT
};
void app_did(struct app *app, const struct app_deed *deed);
struct app_deed app_deed(const struct app *app);
// The selection by event id: one for the whole program, so that every view shows the same.
struct selection *app_selection(const struct app *app);

// What a view can do

// Numbers the request and gives it away. A newer request of the same kind from the same view replaces an
// older one: late replies to that are dropped (not for CONFIRM and STEER). Replies to a closed view are
// dropped. Returns the number.
// An error that receive does not use up (returns false for) is put on the message line.
uint64_t app_send(struct app *app, struct request *request);
// Tells the backend to cancel that request, if it still runs.
void app_cancel(struct app *app, uint64_t number);
bool app_is_waiting(const struct app *app, uint64_t number); // its last reply has not come

// Opens a view above the current one. The app itself opens help, palette and messages with the `const struct
// view *` below, which they may tell about, and operation with a `const int64_t *`, its number.
void app_open(struct app *app, const struct view *view, const void *argument);
// Closes the current view (its state is gone when this returns) and shows the one below.
void app_back(struct app *app);
// 1..5: to the place, as it was left; from that place itself, to its first view.
void app_go(struct app *app, int place);
// The events of the current view (view.h, events). false: it is not about events, or has none; then that was
// said.
bool app_events(struct app *app, struct list_query *query, const char **what);
// The state of the view just below the current one, if it is this view; else NULL. For `n`/`N` of details,
// which steps the list below.
void *app_below(struct app *app, const struct view *view);
void app_quit(struct app *app);
// Changes the connection, by its place in app_connections: asks first where something here ends by that, then
// has the backend try it (REQUEST_CONNECT). When that is reached, app_run returns and app_is_leaving_for is
// true; until then, and where it is not reached, everything stays as it is.
void app_connect(struct app *app, size_t connection);
// The same by a menu: of the profiles, or of the tables of this database. False: there is no other.
bool app_choose_profile(struct app *app);
bool app_choose_table(struct app *app);
// A command of redrive, "redrive show 7", with the table where the database has several; lives as app_frame.
const char *app_command(const struct app *app, const char *command);
bool app_is_leaving_for(const struct app *app, size_t *connection);
// Where the person was: the place, and the filter that the views about events share ("" none). The text is
// valid until the next call of a view.
int app_place(const struct app *app);
const char *app_filter(const struct app *app);
// The filter of the list that the view on top was opened from, which may have one of its own; likewise valid.
const char *app_list_filter(const struct app *app);
void app_perform(struct app *app, enum action action); // as if its key had been pressed: for the palette
// Does the action mean something in this view (NULL: in none), by its table or as one of the app's own?
bool app_handles(const struct view *view, enum action action);
// What the terminal says of its background: `auto`, the theme of those who named none, becomes dark or light.
void app_take_background(struct app *app, bool is_light);
bool app_follows_background(const struct app *app);
bool app_set_theme(struct app *app, const char *name, struct err *err) MUST_CHECK; // for this session
void app_redraw(struct app *app); // something visible changed outside of the callbacks that say so themselves

// Sets a mark on the time axis of every chart, now, or says why that cannot be. The view on top gets the
// REPLY_MARKED.
void app_mark(struct app *app, struct bytes text);
// Silences an alert for so long (µs; 0: no longer), or acknowledges it; likewise, with REPLY_ALERT.
void app_alert(struct app *app, struct bytes rule, bool is_silence, int64_t length);

// The message line, and the list of all messages. Untrusted text is fine.
enum say { SAY_INFO, SAY_OK, SAY_WARN, SAY_ERROR };
void app_say(struct app *app, enum say say, const char *format, ...) PRINTF_LIKE(3, 4);
void app_say_err(struct app *app, const struct err *err); // by its kind and sentence
// A message about an operation. It leaves the line when it is no longer true: at `until`, which MSG_LEFT in
// the text counts down to; with TIME_ABSENT as soon as the operation runs.
#define MSG_LEFT "{left}"
void app_say_about(struct app *app, enum say say, int64_t operation, int64_t until, const char *format, ...)
    PRINTF_LIKE(5, 6);
struct app_message {
    int64_t at;
    enum say say;
    const char *text;
};
// The i-th newest, or false.
bool app_message(const struct app *app, size_t i, struct app_message *message);

// Clipboard: OSC 52, made harmless, at most 64 KiB. Says "sent to the terminal", since nobody knows more.
void app_copy(struct app *app, struct bytes text, const char *what);

// Opens the prompt on the message line. One at a time; the view that opened it gets the callbacks, with its
// state.
void app_prompt(struct app *app, const struct prompt_request *request);
// While it is open: what is wrong with it (err->column is a character of the text); NULL clears.
void app_prompt_error(struct app *app, const struct err *err);
void app_prompt_close(struct app *app);

// Opens a dialog over the view; type-ahead is flushed. The dialog lives until it is closed; fill its lines by
// dialog_line any time (a preview that arrives later). One at a time: one that is open is cancelled.
struct dialog *app_dialog(struct app *app, const struct dialog_request *request);
bool app_has_dialog(const struct app *app); // of any view
void app_dialog_close(struct app *app);

// Gives the terminal to another program until it ends: `command` by sh -c, with `file` as its "$1". Then
// `ended` gets its exit status as a shell tells it: 126 and 127 where it could not be started, 128 + number
// after a signal; -1 where there is no terminal. Both texts are copied.
void app_run_program(struct app *app, const char *command, const char *file,
                     void (*ended)(struct app *app, void *state, int status));

// A list of choices in a small window: `o` sort, `P` pivot, `y` copy. The i-th item: its key (0: none) and
// its text.
struct menu_item {
    const char *text;
    uint32_t key; // 0: none
    bool is_current;
};
struct menu_request {
    const char *title;
    const struct menu_item *items; // copied
    size_t count;
    void (*chosen)(struct app *app, void *state, size_t index);
    // May be NULL. Another item is under the cursor; the menu was closed and nothing chosen.
    void (*moved)(struct app *app, void *state, size_t index);
    void (*left)(struct app *app, void *state);
};
void app_menu(struct app *app, const struct menu_request *request);

// For app_run, ui/app/script and tests: the turn in parts

void app_resize(struct app *app, int rows, int cols);
void app_key(struct app *app, uint32_t key);
void app_pace(struct app *app); // before each key of a terminal: how fast do they come?
void app_paste(struct app *app, struct bytes text);
void app_mouse(struct app *app, enum mouse_button button, int row, int col);
bool app_receive(struct app *app, int64_t budget_us); // waiting replies; true: there were some
const struct canvas *app_draw(struct app *app);       // draws if something changed
bool app_needs_draw(const struct app *app);
// A view was opened a moment ago and waits for its first answer: what it shows would be gone in a blink.
// true: leave the terminal as it is until app_wake_after or a reply.
bool app_holds_back(const struct app *app);
bool app_is_idle(const struct app *app); // no request without its last reply, nothing to draw
bool app_is_over(const struct app *app);
// What a key or a reply asked of the terminal. Each wish is answered with true once.
enum app_wish {
    WISH_SUSPEND = 1 << 0,
    WISH_REPAINT = 1 << 1,
    WISH_FLUSH = 1 << 2, // a dialog opened: throw type-ahead away
    WISH_THEME = 1 << 3, // another theme is in force
    WISH_COPY = 1 << 4,  // app_copied goes to the clipboard
    WISH_RUN = 1 << 5,   // app_program gets the terminal; then app_program_ended
    WISH_ANY = (1 << 6) - 1,
};
struct app_program {
    char *command, *file;
    void (*ended)(struct app *app, void *state, int status);
};
const struct app_program *app_program(const struct app *app);
void app_program_ended(struct app *app, int status);
// What views do by time (view.h, due).
void app_tick(struct app *app);
bool app_is_working(const struct app *app); // some of it is due within a moment
bool app_wants(struct app *app, enum app_wish wish);
struct bytes app_copied(const struct app *app); // already harmless
bool app_takes_mouse(const struct app *app);
int64_t app_wake_after(
    const struct app *app); // µs until something visible ages or the backend is tried again; negative: never

#endif
