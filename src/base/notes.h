// notes: named lines in a small file of the state folder: `name text`, one a line, ascending by name.
//
// A change reads the file again, so that two programs at once lose a change only if both set the same name.
// The new file is written beside the old one and renamed over it, mode 0600. Names: 1 to 40 of a-z, 0-9, -
// and _.
#ifndef REDRIVE_BASE_NOTES_H
#define REDRIVE_BASE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/err.h"

struct notes {
    struct note {
        char *name, *text;
    } * notes;
    size_t count, capacity;
};

bool notes_is_name(struct bytes name);
// A missing file is an empty one. folder NULL: no notes.
bool notes_load(struct notes *notes, const char *folder, const char *file, struct err *err) MUST_CHECK;
const char *notes_find(const struct notes *notes, struct bytes name); // NULL: not found
// Sets the text of a name and writes the file. text NULL removes the name (ERR_NOT_FOUND: no such name).
bool notes_set(struct notes *notes, const char *folder, const char *file, const char *name, const char *text,
               struct err *err) MUST_CHECK;
void notes_release(struct notes *notes);

#endif
