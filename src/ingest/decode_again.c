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

static void
read_kept(const struct pages *pages, const struct kept_record *kept, struct arena *arena,
          struct ingest_letter *letter)
{
    const char *topic = arena_text(arena, kept->record.topic);
    const struct letter_place place = {.cluster = pages->cluster,
                                       .topic = topic,
                                       .generation = kept->generation,
                                       .rule = topic_rule_of(pages->again->rules, topic),
                                       .original = &kept->original,
                                       .find_schema = schema_cache_find,
                                       .find_context = pages->schemas};
    letter_read(&kept->record, &place, arena, letter);
}

// So many records of events, or only further dead letters.
static bool
decode_page(const struct pages *pages, size_t count, bool are_records, struct arena *arena, struct err *err)
{
    struct kept_record *attempts = NULL;
    size_t attempt_count = 0;
    int64_t *ids = arena_array(arena, count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = pages->records[i].id;
    if (are_records && !decode_again_attempts_of(pages->store, pages->cluster, ids, count, arena, &attempts,
                                                 &attempt_count, err))
        return false;
    struct ingest_letter *letters = arena_array(arena, count + attempt_count, sizeof *letters);
    int64_t *all = arena_array(arena, count + attempt_count, sizeof *all);
    schema_cache_begin(pages->schemas, pages->store);
    for (size_t i = 0; i < count + attempt_count; i++) {
        const struct kept_record *kept = i < count ? &pages->records[i] : &attempts[i - count];
        read_kept(pages, kept, arena, &letters[i]);
        all[i] = kept->id;
    }
    return decode_again_take(pages->store, &pages->ingester, letters, all, count + attempt_count,
                             are_records ? count : 0, pages->again->is_dry, pages->counts, err);
}

static bool
decode_pages(const struct pages *pages, bool are_records, struct err *err)
{
    struct kept_record last;
    bool ok = true;
    for (size_t count = AT_ONCE, page = 0; ok && count > 0 && !is_stopped(pages->again); page++) {
        struct arena arena = {0};
        const struct kept_record *after = page > 0 ? &last : NULL;
        ok = are_records ? decode_again_records(pages->store, pages->cluster, pages->again->topic, after,
                                                &arena, pages->records, AT_ONCE, &count, err)
                         : decode_again_attempts(pages->store, pages->cluster, pages->again->topic, after,
                                                 &arena, pages->records, AT_ONCE, &count, err);
        if (ok && count > 0) {
            last = pages->records[count - 1]; // of which only the place outlives the arena
            ok = decode_page(pages, count, are_records, &arena, err);
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
    bool ok = decode_pages(&pages, true, err) && decode_pages(&pages, false, err);
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
