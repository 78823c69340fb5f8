// help: the keys of a view, read from its table of actions, from actions.def and from the keymap in force.
// Argument of view_help.open: the const struct view * that it tells about; NULL: the whole keymap.
#ifndef REDRIVE_UI_VIEWS_HELP_H
#define REDRIVE_UI_VIEWS_HELP_H

#include <stddef.h>
#include "base/strbuf.h"
#include "ui/keymap/keymap.h"

// The keys of an action in a context, first one first: "q Esc BS"; at most `most`.
void help_keys(const struct keymap *keymap, enum context context, enum action action, size_t most,
               struct strbuf *out);

#endif
