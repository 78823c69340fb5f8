// overrides: categories of single groups that were set by hand. They precede the rules (core/category). A set
// by group, built again whenever the overrides in the database have changed.
#ifndef REDRIVE_CORE_CATEGORY_OVERRIDES_H
#define REDRIVE_CORE_CATEGORY_OVERRIDES_H

#include <stddef.h>
#include <stdint.h>
#include "core/category.h"

struct override {
    uint64_t group;
    enum category category;
    const char *who;
    int64_t at;         // instant
    const char *reason; // NULL: none
};

struct overrides;

struct overrides *overrides_create(void);
void overrides_destroy(struct overrides *overrides); // NULL is fine
// The texts are copied. A second override of a group is ignored.
void overrides_add(struct overrides *overrides, const struct override *override);
size_t overrides_count(const struct overrides *overrides);
// In the order in which they were added.
const struct override *overrides_at(const struct overrides *overrides, size_t i);
// NULL: the rules decide, as they always do without overrides (NULL).
const struct override *overrides_of(const struct overrides *overrides, uint64_t group);

#endif
