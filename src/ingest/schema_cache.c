// schema_cache: the schemas of the letters that come now.
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ingest/schemas.h"

enum {
    KEPT = 256, // beyond that it begins again
    ASKED_A_TIME =
        8, // names in a batch of letters: a value that begins like one by chance may be of any name
};
static const int64_t AGAIN_AFTER = 5 * US_PER_SECOND, STALE_AFTER = 60 * US_PER_SECOND;

struct entry {
    const char *name;
    const struct schema *schema; // NULL: not kept, or not to be read
    int64_t at;                  // of clock_mono
};

struct schema_cache {
    struct store *store;
    void (*before)(void *context); // the store is asked; NULL: nothing
    void *before_context;
    struct arena arena;
    struct entry entries[KEPT];
    size_t count;
    int asked;
    size_t bytes; // of texts
};

struct schema_cache *
schema_cache_create(void)
{
    struct schema_cache *cache = alloc_bytes(sizeof *cache);
    *cache = (struct schema_cache){0};
    return cache;
}

void
schema_cache_destroy(struct schema_cache *cache)
{
    if (!cache)
        return;
    arena_release(&cache->arena);
    free(cache);
}

void
schema_cache_before_asking(struct schema_cache *cache, void (*before)(void *context), void *context)
{
    cache->before = before;
    cache->before_context = context;
}

void
schema_cache_begin(struct schema_cache *cache, struct store *store)
{
    enum { BYTES_MOST = 32 << 20 };
    cache->store = store;
    cache->asked = 0;
    if (cache->count < KEPT && cache->bytes < BYTES_MOST)
        return;
    arena_release(&cache->arena);
    cache->arena = (struct arena){0};
    cache->count = cache->bytes = 0;
}

static bool
is_fresh(const struct entry *entry)
{
    return clock_mono() - entry->at < (entry->schema ? STALE_AFTER : AGAIN_AFTER);
}

static const struct schema *
read_kept(struct schema_cache *cache, const char *name)
{
    struct kept_schema kept;
    struct err err = {0};
    if (cache->before)
        cache->before(cache->before_context);
    if (!schemas_find(cache->store, name, &cache->arena, &kept, &err) || !kept.name)
        return NULL;
    for (size_t i = 0; i < kept.text_count; i++)
        cache->bytes += kept.texts[i].len;
    const struct schema *schema =
        schema_read(kept.language, kept.texts, kept.text_count, &cache->arena, &err);
    if (!schema)
        log_line(LOG_WARN, "a schema cannot be read", LOG_TEXT("schema", name), LOG_TEXT("why", err.text));
    return schema;
}

const struct schema *
schema_cache_find(void *context, const char *name)
{
    struct schema_cache *cache = context;
    size_t i = 0;
    while (i < cache->count && strcmp(cache->entries[i].name, name) != 0)
        i++;
    if (i < cache->count && is_fresh(&cache->entries[i]))
        return cache->entries[i].schema;
    if (i == KEPT || !cache->store || cache->asked++ >= ASKED_A_TIME)
        return i < cache->count ? cache->entries[i].schema : NULL;
    if (i == cache->count)
        cache->entries[cache->count++].name = arena_text(&cache->arena, bytes_of(name));
    cache->entries[i].schema = read_kept(cache, name);
    cache->entries[i].at = clock_mono();
    return cache->entries[i].schema;
}
