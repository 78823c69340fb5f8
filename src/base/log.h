// log: one line for each thing that long-running parts did, on stderr or in a file. Never payloads, never
// secrets.
//
// Lines are logfmt, or JSON with one field a pair:
//
//     at=2026-11-22T10:00:00.000Z level=warn msg="PostgreSQL refused" why="permission denied" operation=4
//     {"at":"…","level":"warn","msg":"PostgreSQL refused","why":"permission denied","operation":4}
//
// A text in quotes is a JSON string in both: `"`, `\` and newlines are escaped, and so is everything that
// controls a terminal. A byte that is not UTF-8 becomes U+FFFD.
#ifndef REDRIVE_BASE_LOG_H
#define REDRIVE_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_pair {
    const char *name; // a word; not at, level or msg
    bool is_number;
    int64_t number;
    const char *text; // NULL: the pair is left out
};
#define LOG_INT(pair_name, n)                                                                                \
    ((struct log_pair){.name = (pair_name), .is_number = true, .number = (int64_t)(n)})
#define LOG_TEXT(pair_name, words) ((struct log_pair){.name = (pair_name), .text = (words)})

// Sets destination, least level and format. stream NULL: no log (the screen's process). Only while no other
// thread runs.
void log_to(FILE *stream, enum log_level least, bool json);

// A text that every line of this process has from here on, behind its message; borrowed. Likewise.
void log_always(const char *name, const char *text);

// log_line(LOG_INFO, "published", LOG_INT("events", 12), LOG_TEXT("topic", topic));
#define log_line(level, msg, ...)                                                                            \
    log_pairs(level, msg, (const struct log_pair[]){__VA_ARGS__, {.name = NULL}})
void log_pairs(enum log_level level, const char *msg, const struct log_pair *pairs);

#endif
