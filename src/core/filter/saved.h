// filter_saved: filters with names: `@name` as a word of a filter stands for what was saved as that. The file
// `filters` of the state folder holds them (base/notes), the same for the screen and for commands.
#ifndef REDRIVE_CORE_FILTER_SAVED_H
#define REDRIVE_CORE_FILTER_SAVED_H

#include "base/notes.h"
#include "base/strbuf.h"

#define FILTER_SAVED_FILE "filters"

// Appends the filter with its @names replaced. One that is not saved is an error with its column; in quotes,
// or with a capital or anything else that no name has, @text is text. What was saved is not looked into
// again.
bool filter_expand(struct bytes text, const struct notes *saved, struct strbuf *out,
                   struct err *err) MUST_CHECK;

#endif
