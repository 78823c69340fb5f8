// sample_app: a small program on the real framework, with one view, so that the terminal's behaviour is
// tested without a backend.
#ifndef REDRIVE_TESTS_TERMINAL_SAMPLE_APP_H
#define REDRIVE_TESTS_TERMINAL_SAMPLE_APP_H

#include <stdbool.h>

struct sample_app_options {
    int rows;          // of the list
    const char *color; // as --color
    bool is_ascii;     // --ascii
    const char *theme;
};

// Runs until the person leaves; the context of a vt_setup is a struct sample_app_options.
int sample_app_run(void *context);

#endif
