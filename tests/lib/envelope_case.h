// envelope_case: one block of a file of tests/cases/envelope: a dead letter, and what is expected of it.
#ifndef REDRIVE_TESTS_LIB_ENVELOPE_CASE_H
#define REDRIVE_TESTS_LIB_ENVELOPE_CASE_H

#include <stdbool.h>
#include "base/arena.h"
#include "core/envelope/envelope.h"

enum { ENVELOPE_CASE_LINES = 64 };

struct envelope_case {
    const char *file;
    int line; // of its first line
    struct envelope_record record;
    struct event_header headers[ENVELOPE_CASE_LINES];
    struct bytes expected[ENVELOPE_CASE_LINES]; // lines from "=>" on, escapes undone
    size_t expected_count;
};

// Calls check for each block of each file of the folder, in the order of their names; the number of blocks.
size_t envelope_cases(const char *folder, void (*check)(const struct envelope_case *one, void *context),
                      void *context);

#endif
