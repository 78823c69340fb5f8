// signals: what the kernel tells the screen, as bytes on a descriptor to poll; and giving the terminal back
// when all is lost.
//
// A fatal signal, `die` and a second SIGTERM write a prepared string and restore the terminal's modes with
// nothing but write and tcsetattr.
#ifndef REDRIVE_UI_TERM_SIGNALS_H
#define REDRIVE_UI_TERM_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>
#include "base/err.h"

// Takes the signals. Nothing is given back before signals_guard.
bool signals_open(struct err *err) MUST_CHECK;
// From now on a fatal end writes these bytes (copied, at most 256) to the terminal and restores these modes;
// NULL: nothing any more.
void signals_guard(const char *sequence, size_t len, const struct termios *modes);
void signals_close(void); // restores what others had set

int signals_fd(void);
// The next signal that arrived (SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT), or 0.
int signals_next(void);
// Runs a program by sh -c, with `file` as "$1", and waits for it. Meanwhile Ctrl-C is the program's alone,
// and Ctrl-Z stops both. Returns its exit status, 128 + number after a signal.
int signals_run(const char *command, const char *file);
// Stops the process group as Ctrl-Z in a shell would, and returns when it continues.
void signals_stop_group(void);

#endif
