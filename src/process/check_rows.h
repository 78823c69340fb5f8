// check_rows: the rows of the setting `checks` (process/check.h). Private to the room.
#ifndef REDRIVE_PROCESS_CHECK_ROWS_H
#define REDRIVE_PROCESS_CHECK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct check_row {
    const char *text; // as written, without blanks around it
    bool is_topic;    // the pattern is for topics, else for types
    const char *pattern;
    const char *command;
};

// Reads all rows into the arena; empty ones and those that begin with # are skipped. ERR_USAGE with line.
bool check_rows_read(const char *rows, struct arena *arena, struct check_row **list, size_t *count,
                     struct err *err) MUST_CHECK;
bool check_row_matches(const struct check_row *row, struct bytes type, struct bytes topic);

#endif
