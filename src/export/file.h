// export_file: a file that is whole or is not there.
//
// It is written beside its place, for its owner alone (0600), under a name of its own, and takes its place
// when it is whole and on the disk. A file that is in that place already is replaced only where that was
// asked for, and only then; a link, a device or a pipe never is. Home of files that people ask for by name.
#ifndef REDRIVE_EXPORT_FILE_H
#define REDRIVE_EXPORT_FILE_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"

struct export_file {
    int fd;
    char *path, *part; // heap
    bool replaces;
};

// ERR_USAGE: it is there already, or cannot be made there. remedy: how a person has it replaced, in words.
bool export_file_open(struct export_file *file, const char *path, bool replaces, const char *remedy,
                      struct err *err) MUST_CHECK;
bool export_file_write(struct export_file *file, struct bytes text, struct err *err) MUST_CHECK;
// Each ends the use of the file: it takes its place, or leaves nothing behind. Abandoning one that was not
// opened is fine.
bool export_file_finish(struct export_file *file, struct err *err) MUST_CHECK;
void export_file_abandon(struct export_file *file);

#endif
