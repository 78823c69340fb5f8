// help: argument of view_help.open: const enum context *, the context whose keys it tells about;
// CONTEXT_COUNT: the whole keymap; NULL: the keys that work everywhere.
#ifndef REDRIVE_UI_VIEWS_HELP_H
#define REDRIVE_UI_VIEWS_HELP_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "ui/keymap/keymap.h"

// The keys of an action in a context, first one first: "q Esc BS"; at most `most`.
void help_keys(const struct keymap *keymap, enum context context, enum action action, size_t most,
               struct strbuf *out);

// Has the view with this context a use for the action? Keymaps bind actions for lists and texts as a whole.
bool help_is_of_use(enum context context, enum action action);

#endif
