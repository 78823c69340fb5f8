// kept_rows: rows of redrive.record as kept records. Private to this folder.
#ifndef REDRIVE_STORE_INGEST_KEPT_ROWS_H
#define REDRIVE_STORE_INGEST_KEPT_ROWS_H

#include <stddef.h>
#include "store/ingest/kept_record.h"
#include "store/pg.h"

// What to select of them, from `w`.
#define KEPT_RECORD_COLUMNS                                                                                  \
    "w.dlq_id, w.topic, w.partition, w.\"offset\", w.\"timestamp\", w.key, w.value, w.header_names,"         \
    " w.header_values, w.generation"

// Asks a statement that selects them, of which there are no more than `records` has room for; what they are
// lives in the arena. Releases params in any case.
bool kept_records_ask(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                      struct arena *arena, struct kept_record *records, size_t *count,
                      struct err *err) MUST_CHECK;

#endif
