// categories: categories of single groups that were set by hand (core/category_overrides), kept in the schema
// redrive. A store reads them at its first connection and uses them for the category of every event and
// group. store_categories_look reads later changes by others.
#ifndef REDRIVE_STORE_ROLLUP_CATEGORIES_H
#define REDRIVE_STORE_ROLLUP_CATEGORIES_H

#include "core/category_overrides.h"
#include "store/store.h"

// Reads the overrides again if they changed (one short statement if not). Without the schema, or the right to
// read it, there are no overrides.
bool store_categories_look(struct store *store, bool *has_changed, struct err *err) MUST_CHECK;
// Borrowed until the next look or connection. NULL: none.
const struct overrides *store_overrides(const struct store *store);

// The category of a group: set by hand, else by the rules, else unknown if the store has no rules.
enum category store_category(const struct store *store, uint64_t group, struct bytes error_class,
                             struct bytes pattern, bool *is_overridden);

// Sets the category of a group, or with NULL clears it. The audit keeps the reason (may be NULL).
bool store_category_set(struct store *store, uint64_t group, const enum category *category,
                        const char *reason, struct err *err) MUST_CHECK;

#endif
