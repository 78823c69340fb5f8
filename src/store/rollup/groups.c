// A cache from group key to category and error class. Both follow from the key alone (the class is part of
// it), so they are computed for one event of a group only. A full cache forgets everything: hostile data can
// make each event a group of its own.
#include "store/events/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/fingerprint/fingerprint.h"
#include "store/rollup/categories.h"

enum { CACHE_SIZE = 1 << 16, CACHE_FULL = CACHE_SIZE / 2 };

struct group_cache {
    size_t used;
    bool is_used[CACHE_SIZE];
    struct group_entry entries[CACHE_SIZE];
    struct arena scratch;
};

static void
groups_forget(struct group_cache *cache)
{
    for (size_t i = 0; i < CACHE_SIZE; i++) {
        free(cache->entries[i].error_class);
        cache->entries[i] = (struct group_entry){0};
        cache->is_used[i] = false;
    }
    cache->used = 0;
}

void
group_cache_destroy(struct group_cache *cache)
{
    if (!cache)
        return;
    groups_forget(cache);
    arena_release(&cache->scratch);
    free(cache);
}

static void
learn(const struct store *store, struct group_cache *cache, struct group_entry *entry, struct bytes message,
      struct bytes stack)
{
    const struct fingerprint_input input = {.message = message, .stack = stack, .rules = store->group_rules};
    struct fingerprint parts = fingerprint_parts(&input, &cache->scratch);
    entry->category = store_category(store, entry->key, parts.root_class, parts.pattern, NULL);
    if (parts.root_class.data) {
        entry->error_class = alloc_bytes(size_add(parts.root_class.len, 1));
        memcpy(entry->error_class, parts.root_class.data, parts.root_class.len);
        entry->error_class_len = parts.root_class.len;
    }
    arena_reset(&cache->scratch);
}

struct group_entry *
group_cache_get(struct store *store, uint64_t key, struct bytes message, struct bytes stack)
{
    if (!store->groups)
        store->groups = alloc_bytes(sizeof *store->groups);
    struct group_cache *cache = store->groups;
    if (cache->used == CACHE_FULL)
        groups_forget(cache);

    size_t i = (size_t)(key & (CACHE_SIZE - 1));
    while (cache->is_used[i] && cache->entries[i].key != key)
        i = (i + 1) & (CACHE_SIZE - 1);
    struct group_entry *entry = &cache->entries[i];
    if (!cache->is_used[i]) {
        cache->is_used[i] = true;
        cache->used++;
        entry->key = key;
        learn(store, cache, entry, message, stack);
    }
    return entry;
}
