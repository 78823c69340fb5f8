// schemas: which schemas `redrive ingest` knows, and the values that wait for one.
//
// A letter is never kept waiting: what is unknown now is taken in as it is, and decoded by a later pass.
// Files and the registry are asked by that pass alone, beside the ingester, and what they have is kept in
// PostgreSQL, from where letters are decoded as they come.
#ifndef REDRIVE_INGEST_SCHEMAS_H
#define REDRIVE_INGEST_SCHEMAS_H

#include "core/topic_rules.h"
#include "store/ingest/schemas.h"

// Where schemas come from beside PostgreSQL.
struct schema_source {
    // All of the files, into the arena; a file that cannot be read is told in the log and left out.
    void (*list_files)(void *context, struct arena *arena, struct kept_schema **schemas, size_t *count);
    // A registry; NULL: there is none. false: ERR_UNREACHABLE, ERR_NOT_FOUND, ERR_DATA, ERR_CANCELLED.
    bool (*ask)(void *context, const char *name, bool (*is_wanted)(void *wanted), void *wanted,
                struct arena *arena, struct kept_schema *schema, struct err *err);
    void *context;
    const struct topic_rules *rules; // NULL: none
};

// --- as letters come ---

// The schemas that were used last, read from PostgreSQL when they are needed first. One that is not there is
// looked for again some seconds later.
struct schema_cache;
struct schema_cache *schema_cache_create(void);
void schema_cache_destroy(struct schema_cache *cache); // NULL is fine
// Before a batch of letters: the connection to ask, of which nobody else makes use then.
void schema_cache_begin(struct schema_cache *cache, struct store *store);
// Is called before the connection is asked, for an owner that uses it on another thread too.
void schema_cache_before_asking(struct schema_cache *cache, void (*before)(void *context), void *context);
// A letter_schema_fn. What it returns is valid until schema_cache_begin.
const struct schema *schema_cache_find(void *cache, const char *name);

// --- beside them ---

// Keeps the files' schemas, asks the registry for what is due, and decodes what waits for schemas that are
// known. is_wanted: asked often; false ends it early, which is no failure. NULL: to the end.
bool schemas_pass(struct store *store, const struct schema_source *source, bool (*is_wanted)(void *wanted),
                  void *wanted, struct err *err) MUST_CHECK;

// The same on a thread of its own, every two seconds, until it is stopped.
struct schema_watch;
struct schema_watch *schema_watch_start(const struct store_settings *settings,
                                        const struct schema_source *source);
void schema_watch_stop(struct schema_watch *watch); // NULL is fine

#endif
