// schemas: those that redrive ingest found, kept in PostgreSQL for whoever has no registry, and the events
// whose values wait for one (src/store/sql/schemas.sql).
#ifndef REDRIVE_STORE_INGEST_SCHEMAS_H
#define REDRIVE_STORE_INGEST_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/schema/schema.h"
#include "store/ingest/kept_record.h"
#include "store/store.h"

// A schema as it was found, not read yet.
struct kept_schema {
    const char *name; // "42", a GUID, "orders.value"
    enum schema_language language;
    const struct bytes *texts; // what it refers to first, its own last
    size_t text_count;
    const char *origin; // "the file 42.avsc"
};

// The one of that name. name NULL: there is none. Without a schema of redrive's there is none either.
bool schemas_find(struct store *store, const char *name, struct arena *arena, struct kept_schema *schema,
                  struct err *err) MUST_CHECK;
// For an ingester.
bool schemas_keep(struct store *store, const struct kept_schema *schema, struct err *err) MUST_CHECK;
// A registry could not give it, with the reason: it is asked again later.
bool schemas_missed(struct store *store, const char *name, const char *why, struct err *err) MUST_CHECK;

// A name for which values wait.
struct wanted_schema {
    const char *name;
    bool is_known; // it is kept
    bool is_due;   // a registry may be asked for it
};
// At most `room` of them, by name.
bool schemas_wanted(struct store *store, struct arena *arena, struct wanted_schema *wanted, size_t room,
                    size_t *count, struct err *err) MUST_CHECK;

// Those of that name behind the event `after`, by event: as many as `room` and a few MB take, one at least.
bool schemas_waiting(struct store *store, const char *name, int64_t after, struct arena *arena,
                     struct kept_record *records, size_t room, size_t *count, struct err *err) MUST_CHECK;

// What became of one.
struct decoded_record {
    int64_t id;
    const char *payload; // JSON: of the value, or the small object that says why there is none
    bool is_decoded;
};
bool schemas_decoded(struct store *store, const struct decoded_record *records, size_t count,
                     struct err *err) MUST_CHECK;

#endif
