#include "core/category_overrides.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/intern.h"

struct overrides {
    struct keys keys; // of groups
    struct override *list;
    size_t capacity;
    struct arena texts;
};

struct overrides *
overrides_create(void)
{
    return alloc_bytes(sizeof(struct overrides));
}

void
overrides_destroy(struct overrides *overrides)
{
    if (!overrides)
        return;
    keys_release(&overrides->keys);
    free(overrides->list);
    arena_release(&overrides->texts);
    free(overrides);
}

void
overrides_add(struct overrides *overrides, const struct override *override)
{
    size_t before = overrides->keys.count;
    if (keys_index(&overrides->keys, override->group) != before)
        return;
    overrides->list = alloc_grow(overrides->list, before, &overrides->capacity, sizeof *overrides->list);
    struct override *added = &overrides->list[before];
    *added = *override;
    added->who = arena_text(&overrides->texts, bytes_of(override->who));
    added->reason = arena_text(&overrides->texts, bytes_of(override->reason));
}

size_t
overrides_count(const struct overrides *overrides)
{
    return overrides ? overrides->keys.count : 0;
}

const struct override *
overrides_at(const struct overrides *overrides, size_t i)
{
    return &overrides->list[i];
}

const struct override *
overrides_of(const struct overrides *overrides, uint64_t group)
{
    int64_t at = overrides ? keys_find(&overrides->keys, group) : -1;
    return at < 0 ? NULL : &overrides->list[at];
}
