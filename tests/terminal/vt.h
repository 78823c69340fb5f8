// vt: a terminal for tests: a program in a pseudo terminal, and libvterm to see what it drew.
//
// Nothing here sleeps to be safe: the program says by REDRIVE_TEST_FD when it is idle ('k' after a key, 'r'
// after replies, 't' after a tick). Everything gives up after half a minute and returns false, so that a test
// fails with the screen in its message.
#ifndef REDRIVE_TESTS_TERMINAL_VT_H
#define REDRIVE_TESTS_TERMINAL_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>
#include "base/bytes.h"
#include "base/strbuf.h"

struct vt;

struct vt_setup {
    int rows, cols;            // 0: 24x80
    const char *const *argv;   // program, NULL-terminated; NULL: run
    int (*run)(void *context); // in the child; its result is the exit status
    void *context;
    const char *const *env; // "NAME=value" to set, "NAME" to unset, NULL-terminated; on top of
                            // TERM=xterm-256color, LANG=C.UTF-8, TZ=UTC
    bool answers;           // what a program asks of its terminal, at once, as libvterm does; else never
};

struct vt *vt_start(const struct vt_setup *setup);
void vt_end(struct vt *vt); // kills what still runs

// Keys in vim's notation ("jj<C-d><Enter>"), or bytes as they are.
void vt_keys(struct vt *vt, const char *keys);
void vt_bytes(struct vt *vt, struct bytes bytes);
void vt_paste(struct vt *vt, const char *text); // bracketed, if the program asked for that
// Sends the keys and waits until the program has handled them and is idle.
bool vt_press(struct vt *vt, const char *keys);

bool vt_wait_idle(struct vt *vt);                   // the next idle moment
bool vt_wait_text(struct vt *vt, const char *text); // until the screen shows it
bool vt_run(struct vt *vt, int ms);                 // reads for so long; false: the program is gone
bool vt_read(struct vt *vt, int ms);                // reads what comes first within so long; false: as above
void vt_resize(struct vt *vt, int rows, int cols);

bool vt_shows(const struct vt *vt, const char *text);
const char *vt_screen(struct vt *vt); // rows without trailing blanks; valid until the next call
const char *vt_row(struct vt *vt, int row);
struct vt_cell {
    bool is_reverse, is_bold, is_underlined;
    bool has_color; // another foreground than the default one
};
struct vt_cell vt_cell(const struct vt *vt, int row, int col);
bool vt_alternate(const struct vt *vt); // on the alternate screen
bool vt_bracketed(const struct vt *vt); // mode 2004 is on

// What the program wrote since the last vt_forget.
struct bytes vt_output(const struct vt *vt);
void vt_forget(struct vt *vt);

pid_t vt_pid(const struct vt *vt);
bool vt_modes(const struct vt *vt, struct termios *modes);
void vt_hang_up(struct vt *vt); // closes the line
// The exit status once it ends within ms; 128 + signal; -1: it still runs. -2: it stopped.
int vt_result(struct vt *vt, int ms);

#endif
