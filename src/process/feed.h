// feed: starts a program, gives it a text on its standard input, and waits for its end.
#ifndef REDRIVE_PROCESS_FEED_H
#define REDRIVE_PROCESS_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

struct feed {
    const char *const *argv; // the program with its whole path, its words, NULL; no shell is involved
    struct bytes input;
    int64_t time; // µs; then it is ended
    // Asked some times a second: false ends it. NULL: it is always wanted.
    bool (*is_wanted)(void *context);
    void *context;
};

// True where it ended with status 0. Else ERR_DATA says how it ended and what it said last; ERR_CANCELLED.
bool feed_run(const struct feed *feed, struct err *err) MUST_CHECK;

#endif
