// filter_saved: filters with names. The word `@name` in a filter is replaced by the filter saved as that
// name, in brackets where an or, a not or an ! needs them; brackets and an ! may touch it: (@one or @two).
// The file `filters` of the state folder holds them (base/notes), the same for the screen and for commands.
#ifndef REDRIVE_CORE_FILTER_SAVED_H
#define REDRIVE_CORE_FILTER_SAVED_H

#include "base/notes.h"
#include "base/strbuf.h"

#define FILTER_SAVED_FILE "filters"

// Appends the filter with its @names replaced. An unknown name is an error with its column. @text is plain
// text in quotes, or with a character that names cannot have, such as a capital. @names inside a saved filter
// are not replaced.
bool filter_expand(struct bytes text, const struct notes *saved, struct strbuf *out,
                   struct err *err) MUST_CHECK;

#endif
