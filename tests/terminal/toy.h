// toy: a small program on the real framework, with one view, so that the terminal's behaviour is tested
// without a backend.
#ifndef REDRIVE_TESTS_TERMINAL_TOY_H
#define REDRIVE_TESTS_TERMINAL_TOY_H

#include <stdbool.h>

struct toy_options {
    int rows;          // of the list
    const char *color; // as --color
    bool is_ascii;     // --ascii
    const char *theme;
};

// Runs until the person leaves; the context of a vt_setup is a struct toy_options.
int toy_run(void *context);

#endif
