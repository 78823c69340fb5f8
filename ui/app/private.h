// private: the state of the program, for the files of ui/app only. Each part of struct app has one file that
// changes it: stacks stack.c, mail mail.c, keys keys.c, picture draw.c; app.c the rest. loop.c is the turn on
// a terminal, script.c the turn of a script.
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
    void (*moved)(struct app *app, void *state, size_t index);
    void (*left)(struct app *app, void *state);
};

// The open views: a stack in each place.
struct stacks {
    struct stack places[PLACES + 1]; // 1..5
    int place, last_place;
    struct instance *caller; // whose callback runs: what it sends and opens is its own; NULL: nobody's
};

// Requests on their way, and what the backend told last.
struct mail {
    struct expected *expected;
    size_t expected_count, expected_capacity;
    struct request **unsent; // the mailbox was full
    size_t unsent_count, unsent_capacity;
    uint64_t last_number;
    struct reply *status;        // the last REPLY_STATUS
    struct reply *people;        // the last REPLY_PEOPLE
    struct {                     // what others were told last
        const struct view *view; // NULL: nothing yet
        bool has_group;
        uint64_t group;
    } presence;
    struct status unknown; // before it
};

// A message stays on its line until the next key, unless that key brings another one.
enum message_line { LINE_EMPTY, LINE_NEW, LINE_OLD };

// How long a message may stand where else a running operation would be told of.
#define MESSAGE_HIDES_FOR (10 * US_PER_SECOND)

struct messages {
    struct app_message ring[MESSAGES];
    size_t count;
    enum message_line line;         // of the newest
    int64_t operation;              // that the newest is about, or 0
    int64_t until;                  // it is true until then; TIME_ABSENT: until the operation runs
    size_t left_at, left_len;       // of the newest: the bytes that tell how long yet
    int64_t told;                   // the operation that a message was about last, for @
    enum outcome_severity told_end; // how it had ended then
};

// What is over the view; an open prompt and dialog have an owner.
struct windows {
    struct prompt prompt;
    struct instance *prompt_owner;
    struct dialog *dialog;
    struct instance *dialog_owner;
    struct menu menu;
};

// What the person's hands did last.
struct key_state {
    struct key_sequence pending; // the beginning of a sequence
    uint32_t last;
    int count;          // of the movement that follows; 0: none was typed
    enum action change; // the last one that was asked for; DO_NONE
    int64_t at;         // clock_mono of the last key from a terminal
    bool is_hurried;    // that key came soon after the one before
    int click_row;
    int64_t click_at;
};

enum picture_state {
    PICTURE_DUE,     // something changed
    PICTURE_IN_PART, // it leaves something out until the keys rest
    PICTURE_WHOLE,
};

struct picture {
    struct canvas canvas;
    struct arena frame;
    enum picture_state state;
    int64_t drawn_at;     // clock_mono
    int64_t drawn_minute; // of the wall clock
    int64_t again_at;     // clock_mono: when it changes by itself, of a dialog; negative: it does not
};

enum app_life {
    APP_RUNS,
    APP_ABOUT_TO_LEAVE, // C-c was pressed at rest: the next one leaves
    APP_IS_OVER,
};

// connection.c: the change of the connection that was asked for.
struct connection_change {
    size_t to;
    uint64_t number; // of the request that tries it; 0: none is on its way
    bool is_reached;
};

struct app {
    const struct app_config *config;
    struct keymap *keymap;
    struct {
        struct theme *now;
        bool is_chosen;  // by a person, in this session
        char before[64]; // while the menu of themes is open: the one to go back to
    } theme;
    struct selection *selection; // apart from the app, so that drawing may look at it
    struct stacks stacks;
    struct mail mail;
    struct messages messages;
    struct app_deed deed;
    struct windows windows;
    struct key_state keys;
    struct picture picture;
    enum app_life life;
    struct connection_change change;
    unsigned wishes;    // enum app_wish
    struct strbuf copy; // for the clipboard
    struct app_program program;
    struct instance *program_owner; // NULL: it was closed
    int64_t now;
    bool is_paused; // the display is held still
    bool takes_mouse;
    bool times_by_clock;
};

// stack.c
struct instance *app_top(const struct app *app);

// Is its page the one on the screen? Then nothing leads there.
bool app_shows_operation(const struct app *app, int64_t no);
void app_close_all(struct app *app);
void app_open_place(struct app *app, int place);
void app_carry_filter(struct app *app, const char *filter); // to the view here, where it takes one
const struct view *app_find_view(const struct app *app, const char *name);
int64_t app_due_after(const struct app *app); // µs until a view has work to do; negative: never
// Why the program should not end now, by a view that holds something unsaved; NULL: it may.
const char *app_unsaved(const struct app *app);

// keys.c
// app.c
void app_say_end(struct app *app, const struct news_reply *news); // once a message, however often it changes
void app_expire_message(struct app *app);                         // takes what is no longer true off the line
bool app_counts_down(const struct app *app);

bool app_can_do(const struct app *app, enum action action); // now, in the view on top

// connection.c
enum role app_environment_role(const struct app *app);
void app_connected(struct app *app, const struct reply *reply); // of REQUEST_CONNECT

// mail.c
void app_tell_presence(struct app *app); // what this screen shows, where that has changed
uint64_t app_send_own(struct app *app, struct request *request); // answered to the app itself, not to a view
bool app_is_collecting(const struct app *app); // something long runs here that a person could stop
bool app_is_confirming(const struct app *app); // a change was sent, and is not answered yet
void app_forget_asker(struct app *app, const struct instance *asker);
// What can be stopped. true: there was something; *goes_on: something else does not end by that.
bool app_cancel_all(struct app *app, bool *goes_on);
bool app_has_outstanding(const struct app *app);
bool app_is_asking(const struct app *app, const struct instance *asker); // a reply of it is outstanding
void app_post(struct app *app, enum request_kind kind, bool is_on);      // one without an answer

// keys.c
void app_dialog_end(struct app *app, enum dialog_outcome outcome); // with the callback of its request

// app.c
void app_open_themes(struct app *app); // themes.c: the menu of them
void app_close_menu(struct app *app);

// Runs a callback of a view with it as the asker of what is sent.
#define AS_CALLER(app_, who_, call_)                                                                         \
    do {                                                                                                     \
        struct instance *caller_before_ = (app_)->stacks.caller;                                             \
        (app_)->stacks.caller = (who_);                                                                      \
        call_;                                                                                               \
        (app_)->stacks.caller = caller_before_;                                                              \
    } while (0)

#endif
