// term: the terminal. Home of ncurses, which writes only what differs; keys are decoded by ui/term/input.
//
// One at a time. Opening takes the terminal (raw mode, alternate screen, bracketed paste); closing,
// suspending, a fatal signal and `die` give it back. The palette of the terminal is never changed. Suspend
// and resize arrive as events like keys.
#ifndef REDRIVE_UI_TERM_TERM_H
#define REDRIVE_UI_TERM_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "ui/canvas/canvas.h"
#include "ui/term/input.h"
#include "ui/theme/theme.h"

struct term;

struct term_options {
    const char *color; // auto, mono, 16, 256, true; NULL: auto
    bool is_ascii;     // even if the locale could do more
    bool takes_mouse;
    int64_t esc_delay; // µs; 0: ESCDELAY of the environment, else 50 ms
};

// Fails, without having touched it, when standard input or output is no terminal or cannot place its cursor.
// Sets LC_CTYPE.
struct term *term_open(const struct term_options *options, struct err *err);
void term_close(struct term *term); // NULL is fine

// Cells are drawn only if the locale is UTF-8 and --ascii was not given; else make the canvas an ASCII one.
bool term_is_ascii(const struct term *term);
// What was done about a TERM or a locale that this host does not know, or NULL.
const char *term_note(const struct term *term);
void term_size(const struct term *term, int *rows, int *cols);

// Asks for the colour of the background, which comes as an input event if the terminal tells it; waits for an
// answer of any kind for a moment, so that the first picture has its colours. Nothing where there are fewer
// than 256 colours.
void term_ask_background(struct term *term);
void term_set_theme(struct term *term, const struct theme *theme);
void term_set_mouse(struct term *term, bool takes_mouse);
// Shows the canvas. The same picture again costs no byte.
void term_present(struct term *term, const struct canvas *canvas);
void term_repaint(struct term *term); // the next picture is written whole

enum term_event_kind {
    TERM_NOTHING,
    TERM_INPUT,   // input
    TERM_RESIZED, // ask for term_size
    TERM_SUSPEND, // somebody sent SIGTSTP: call term_suspend
    TERM_RESUMED, // the program continues after a stop that nobody announced: repaint
    TERM_GONE,    // hang-up, or asked to end by SIGTERM or SIGINT
};
struct term_event {
    enum term_event_kind kind;
    struct input_event input;
    bool is_signal; // TERM_GONE: by SIGTERM or SIGINT; the terminal is still there
};
// Takes what is there, without waiting.
bool term_next(struct term *term, struct term_event *event);
// For poll, both POLLIN: the terminal, and signals.
int term_input_fd(const struct term *term);
int term_signal_fd(const struct term *term);
// How long term_next may be left alone: µs until an incomplete key is settled; negative: for ever.
int64_t term_delay(const struct term *term);
void term_flush_input(struct term *term); // throws type-ahead away

// Gives the terminal to the shell, stops the process group, and takes it back when it continues.
void term_suspend(struct term *term);
// Gives the terminal to a program, `command` by sh -c with `file` as "$1", and takes it back when that has
// ended. Returns its exit status as a shell tells it: 127 where it is missing, 128 + number after a signal.
int term_run(struct term *term, const char *command, const char *file);
// Puts a harmless text into the terminal's clipboard by OSC 52, wrapped for tmux and screen.
void term_copy(struct term *term, struct bytes text);

#endif
