// err: why something failed, as a sentence for the person at the terminal.
//
// Every function that can fail returns bool (or a pointer), is must-check, and takes a struct err * last.
// The first failure wins: err_set on an err that is already set changes nothing. Higher layers add context
// with err_context only when they know something the sentence does not say. The sentence names what was
// tried, what stopped it, and what to do; it never holds a secret. Text from a server is stored unchanged:
// the code that prints it uses text_visible (base/text.h) or canvas_text (ui/canvas/canvas.h).
#ifndef REDRIVE_BASE_ERR_H
#define REDRIVE_BASE_ERR_H

#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))

// Callers decide by the kind; commands map kinds to exit statuses (src/commands/cli/command.h).
enum err_kind {
    ERR_NONE = 0,
    ERR_USAGE,       // the request is wrong: a bad option, filter or file; nothing was done
    ERR_UNREACHABLE, // PostgreSQL or Kafka cannot be reached, or the connection broke
    ERR_DENIED,      // a right or a confirmation is missing
    ERR_NOT_FOUND,   // nothing to act on, unknown id
    ERR_CONFLICT,    // somebody else was faster: fence moved, event closed, row changed
    ERR_CANCELLED,   // the person, or a signal, stopped it
    ERR_STOPPED,     // this database may not publish before an administrator has decided
    ERR_DATA,        // data from outside cannot be read or used
    ERR_INTERNAL,    // a broken invariant, or an unexpected answer
};

struct err {
    enum err_kind kind;
    int line;         // of a file, from 1; 0: none
    int column;       // of a line or of a filter, in characters from 1; 0: none
    char sqlstate[6]; // of PostgreSQL, else ""
    char text[700];
};

// Fills err if it is not yet set; always returns false, so that `return err_set(…)` ends a function. err may
// be NULL.
bool err_set(struct err *err, enum err_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);

// Puts "context: " before the sentence; always returns false.
bool err_context(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

void err_clear(struct err *err);
bool err_is_set(const struct err *err);

#endif
