// import: what `redrive import` writes: events from files, a batch a transaction (src/store/sql/import.sql).
#ifndef REDRIVE_STORE_INGEST_IMPORT_H
#define REDRIVE_STORE_INGEST_IMPORT_H

#include "base/arena.h"
#include "core/import_line.h"
#include "store/store.h"

// Event ids are of one of so many parts. One batch at a time takes events of a part in, whoever takes it, so
// that none of two misses what the other one inserts.
enum { IMPORT_PARTS = 2, IMPORT_ALL_PARTS = -1 };
int import_part(struct bytes event_id);

struct import_batch {
    const struct import_row *rows;
    size_t count;
    const char *source; // for the audit
    const char *reason; // NULL: none
    bool is_dry;        // nothing stays
    int part;           // that all its events are of, or IMPORT_ALL_PARTS
};
struct import_refused {
    size_t row;      // of the batch, from 0
    const char *why; // as PostgreSQL says it
};
struct import_taken {
    int64_t inserted, duplicates;
    struct import_refused *refused; // in the arena
    size_t refused_count;
};
bool import_take(struct store *store, const struct import_batch *batch, struct arena *arena,
                 struct import_taken *taken, struct err *err) MUST_CHECK;

#endif
