#include "ingest/decode_again.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ingest/letter.h"
#include "ingest/schemas.h"

enum { AT_ONCE = 200 }; // a page keeps people from correcting

struct pages {
    struct store *store;
    const struct decode_again *again;
    const char *cluster;
    struct ingester ingester;
    struct schema_cache *schemas;
    struct kept_record *records; // AT_ONCE
    struct decode_again_counts *counts;
};

static bool
is_stopped(const struct decode_again *again)
{
    return again->stop && *again->stop;
}

static bool
decode_page(const struct pages *pages, size_t count, struct arena *arena, struct err *err)
{
    struct ingest_letter *letters = arena_array(arena, count, sizeof *letters);
    int64_t *ids = arena_array(arena, count, sizeof *ids);
    schema_cache_begin(pages->schemas, pages->store);
    for (size_t i = 0; i < count; i++) {
        const struct letter_place place = {.cluster = pages->cluster,
                                           .topic = pages->again->topic,
                                           .generation = pages->records[i].generation,
                                           .original = &pages->records[i].original,
                                           .rule = topic_rule_of(pages->again->rules, pages->again->topic),
                                           .find_schema = schema_cache_find,
                                           .find_context = pages->schemas};
        letter_read(&pages->records[i].record, &place, arena, &letters[i]);
        ids[i] = pages->records[i].id;
    }
    return decode_again_take(pages->store, &pages->ingester, letters, ids, count, pages->again->is_dry,
                             pages->counts, err);
}

static bool
decode_pages(const struct pages *pages, struct err *err)
{
    struct kept_record last;
    bool ok = true;
    for (size_t count = AT_ONCE, page = 0; ok && count > 0 && !is_stopped(pages->again); page++) {
        struct arena arena = {0};
        ok = decode_again_records(pages->store, pages->cluster, pages->again->topic, page > 0 ? &last : NULL,
                                  &arena, pages->records, AT_ONCE, &count, err);
        if (ok && count > 0) {
            last = pages->records[count - 1]; // of which only the place outlives the arena
            ok = decode_page(pages, count, &arena, err);
        }
        arena_release(&arena);
    }
    return ok;
}

static bool
decode_cluster(struct store *store, const struct decode_again *again, const char *cluster,
               struct decode_again_counts *counts, struct err *err)
{
    struct pages pages = {.store = store, .again = again, .cluster = cluster, .counts = counts};
    struct err ignored = {0};
    if (!ingest_begin(store, cluster, &pages.ingester, err))
        return false;
    pages.schemas = schema_cache_create();
    pages.records = alloc_array(AT_ONCE, sizeof *pages.records);
    bool ok = decode_pages(&pages, err);
    free(pages.records);
    schema_cache_destroy(pages.schemas);
    (void)!ingest_end(store, &pages.ingester, &ignored); // or it is buried after 15 s
    return ok;
}

bool
decode_again_run(struct store *store, const struct decode_again *again, struct decode_again_counts *counts,
                 struct err *err)
{
    struct arena arena = {0};
    const char **clusters = NULL;
    size_t count;
    *counts = (struct decode_again_counts){0};
    bool ok = decode_again_clusters(store, again->topic, &arena, &clusters, &count, err);
    if (ok && count == 0)
        ok = err_set(err, ERR_NOT_FOUND, "redrive ingest has never read a topic %s", again->topic);
    for (size_t i = 0; ok && i < count && !is_stopped(again); i++)
        ok = decode_cluster(store, again, clusters[i], counts, err);
    arena_release(&arena);
    return ok;
}
