// recipes: edits that people keep under a name (core/recipe/recipe.h).
#ifndef REDRIVE_STORE_OPERATIONS_RECIPES_H
#define REDRIVE_STORE_OPERATIONS_RECIPES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "core/recipe/trial.h"
#include "store/store.h"

// All of them, by name, in the arena. None where the schema is missing.
bool recipe_list(struct store *store, struct arena *arena, struct saved_recipe **list, size_t *count,
                 struct err *err) MUST_CHECK;
// Keeps the text under a name of 1 to 64 letters, digits, dots, - and _, in place of the one that had it. The
// text is not looked at: recipe_parse it before. `reason` may be NULL.
bool recipe_save(struct store *store, const char *name, const char *text, const char *reason,
                 struct err *err) MUST_CHECK;
// ERR_NOT_FOUND: there is no such recipe. Its text stays in the audit.
bool recipe_forget(struct store *store, const char *name, const char *reason, struct err *err) MUST_CHECK;

#endif
