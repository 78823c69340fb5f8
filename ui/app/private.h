// app_private: the state of the program, for the files app*.c only.
//
// app.c its life and what views may ask of it; app_stack.c views and places; app_mail.c requests and replies;
// app_keys.c from keys to actions; app_draw.c the picture; app_loop.c the turn on a terminal.
#ifndef REDRIVE_UI_APP_PRIVATE_H
#define REDRIVE_UI_APP_PRIVATE_H

#include "base/strbuf.h"
#include "ui/app/app.h"
#include "ui/keymap/key.h"

#define PLACES 5
#define STACK_DEPTH 16
#define MESSAGES 200

// An open view.
struct instance {
    const struct view *view;
    void *state;
    int64_t opened_at; // clock_mono
    bool was_answered; // a reply to it came, so there is something to show
};

struct stack {
    struct instance *views[STACK_DEPTH]; // bottom first
    int depth;
};

// A request whose replies are still wanted.
struct expected {
    uint64_t number;
    enum request_kind kind;
    struct instance *asker;
    bool is_answered; // its last reply came; more may follow when something changes
};

struct menu {
    bool is_open;
    struct instance *owner; // NULL: the app itself
    char title[64];
    struct menu_item *items;
    size_t count;
    size_t cursor;
    void (*chosen)(struct app *app, void *state, size_t index);
};

struct app {
    const struct app_config *config;
    struct keymap *keymap;
    struct theme *theme;
    struct canvas canvas;
    struct arena frame;
    int64_t now;

    struct stack places[PLACES + 1]; // 1..5
    int place, last_place;
    struct instance *caller;     // whose callback runs
    struct selection *selection; // apart from the app, so that drawing may look at it

    struct expected *expected;
    size_t expected_count, expected_capacity;
    struct request **unsent; // the mailbox was full
    size_t unsent_count, unsent_capacity;
    uint64_t last_number;
    struct reply *status;  // the last REPLY_STATUS
    struct status unknown; // before it

    struct app_message messages[MESSAGES]; // a ring
    size_t message_count;
    bool has_message; // the newest is on the message line
    bool is_message_new;

    bool has_prompt;
    struct prompt prompt;
    struct instance *prompt_owner;
    struct dialog *dialog;
    struct instance *dialog_owner;
    struct menu menu;

    struct key_sequence pending;
    uint32_t key;          // the last one
    bool is_leaving_armed; // C-c was pressed at rest
    bool needs_draw, is_over, is_paused, takes_mouse;
    bool wants_suspend, wants_repaint, wants_flush, wants_theme;
    struct strbuf copy; // for the clipboard
    bool wants_copy;
    int64_t drawn_at;     // clock_mono
    int64_t drawn_minute; // of the wall clock
    int64_t key_at;       // clock_mono of the last key from a terminal
    bool is_hurried;      // that key came soon after the one before
    bool owes_rest;       // the picture leaves something out until the keys rest
    int click_row;
    int64_t click_at;
};

// app_stack.c
struct instance *app_top(const struct app *app);
void app_close_all(struct app *app);
void app_open_place(struct app *app, int place);
const struct view *app_find_view(const struct app *app, const char *name);

// keys.c
bool app_can_do(const struct app *app, enum action action); // now, in the view on top

// app_mail.c
void app_forget_asker(struct app *app, const struct instance *asker);
// What can be stopped. true: there was something; *goes_on: something else does not end by that.
bool app_cancel_all(struct app *app, bool *goes_on);
bool app_has_outstanding(const struct app *app);
bool app_is_asking(const struct app *app, const struct instance *asker); // a reply of it is outstanding
void app_post(struct app *app, enum request_kind kind, bool is_on);      // one without an answer

// app.c
void app_close_menu(struct app *app);

// Runs a callback of a view with it as the asker of what is sent.
#define AS_CALLER(app_, who_, call_)                                                                         \
    do {                                                                                                     \
        struct instance *caller_before_ = (app_)->caller;                                                    \
        (app_)->caller = (who_);                                                                             \
        call_;                                                                                               \
        (app_)->caller = caller_before_;                                                                     \
    } while (0)

#endif
