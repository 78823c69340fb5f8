// secret: a password and the like, from where others cannot read it: a file, a variable, or what a program
// says.
//
// Never from the command line, which every process of the host can read.
#ifndef REDRIVE_SETTINGS_SECRET_H
#define REDRIVE_SETTINGS_SECRET_H

#include <stdbool.h>
#include "base/err.h"
#include "base/strbuf.h"

enum secret_source {
    SECRET_NONE,
    SECRET_FILE,        // the first line of a file that only its owner, or root, can read, or a credential of
                        // systemd
    SECRET_ENVIRONMENT, // a variable
    SECRET_COMMAND, // the first line that a program writes; words are divided by blanks, no shell is involved
};

// The source that the ending of a setting's name means (".file", ".env", ".command"); *len becomes the length
// of the name without it. SECRET_NONE: no such ending.
enum secret_source secret_source_of(const char *name, size_t *len);
const char *secret_source_word(enum secret_source source); // "file", "env", "command"

// Appends the secret. ERR_USAGE with the place, never with what was read. Waits at most ten seconds for a
// program.
bool secret_read(enum secret_source source, const char *place, struct strbuf *out,
                 struct err *err) MUST_CHECK;
// Appends a whole file, such as a private key, that only its owner, or root, can read.
bool secret_read_file(const char *path, struct strbuf *out, struct err *err) MUST_CHECK;

#endif
