// whole_file: reads a file that an option names, or standard input for "-".
#ifndef REDRIVE_COMMANDS_WHOLE_FILE_H
#define REDRIVE_COMMANDS_WHOLE_FILE_H

#include <stdbool.h>
#include "base/err.h"
#include "base/strbuf.h"

// Appends all its bytes. ERR_USAGE: it cannot be read, or has more than 64 MiB.
bool whole_file_read(const char *name, struct strbuf *out, struct err *err) MUST_CHECK;

#endif
