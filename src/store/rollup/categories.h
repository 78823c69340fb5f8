// categories: what people decided about single groups (core/category_overrides), kept in the schema redrive
// for all to see. A store has them in memory from its first connection on and uses them wherever it tells the
// category of an event or group; what others decided since is seen by store_categories_look.
#ifndef REDRIVE_STORE_ROLLUP_CATEGORIES_H
#define REDRIVE_STORE_ROLLUP_CATEGORIES_H

#include "core/category_overrides.h"
#include "store/store.h"

// Reads the decisions anew where there are other ones (one short statement where there are not). Without the
// schema, or the right to look, there are none.
bool store_categories_look(struct store *store, bool *has_changed, struct err *err) MUST_CHECK;
// Borrowed until the next look or connection. NULL: none.
const struct overrides *store_overrides(const struct store *store);

// Of a group: what somebody gave it, else what the rules say, else unknown where there are no rules.
enum category store_category(const struct store *store, uint64_t group, struct bytes error_class,
                             struct bytes pattern, bool *is_overridden);

// Gives a group a category, or with NULL takes it back. Written into the audit with the reason (may be NULL).
bool store_category_set(struct store *store, uint64_t group, const enum category *category,
                        const char *reason, struct err *err) MUST_CHECK;

#endif
