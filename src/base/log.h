// log: what long-running parts did, one line each, logfmt (or JSON) on stderr or in a file. Never payloads,
// never secrets.
#ifndef REDRIVE_BASE_LOG_H
#define REDRIVE_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

// Where and how; stream NULL: silent (the screen's process). Not thread-safe to change while threads run.
void log_to(FILE *stream, enum log_level least, bool json);
// `format` builds "key=value key=\"two words\"" after at, level and msg. Values from outside are made visible
// here.
void log_line(enum log_level level, const char *msg, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
