// kept_rows: rows of redrive.record as kept records. Private to this folder.
#ifndef REDRIVE_STORE_INGEST_KEPT_ROWS_H
#define REDRIVE_STORE_INGEST_KEPT_ROWS_H

#include <stddef.h>
#include "store/events/reader.h"
#include "store/ingest/kept_record.h"
#include "store/pg.h"

// What to select of them, from `w` and the join.
#define KEPT_RECORD_COLUMNS                                                                                  \
    "w.dlq_id, w.topic, w.partition, w.\"offset\", w.\"timestamp\", w.key, w.value, w.header_names,"         \
    " w.header_values, w.generation, o.topic, o.partition, o.\"offset\", o.\"timestamp\", o.key, o.value,"   \
    " o.header_names, o.header_values, o.why, " EVENT_ORIGINAL_STATE("o")
// How many bytes the value has, of the record or of the original that it points at.
#define KEPT_RECORD_BYTES(k)                                                                                 \
    "coalesce(octet_length(" k ".value), (SELECT octet_length(x.value) FROM redrive.original x"              \
    " WHERE x.dlq_id = " k ".dlq_id), 0)"
#define KEPT_RECORD_JOIN " LEFT JOIN redrive.original o ON o.dlq_id = w.dlq_id"

// Asks a statement that selects them, of which there are no more than `records` has room for; what they are
// lives in the arena. Releases params in any case.
bool kept_records_ask(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                      struct arena *arena, struct kept_record *records, size_t *count,
                      struct err *err) MUST_CHECK;
// The same of any number of them.
bool kept_records_ask_all(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                          struct arena *arena, struct kept_record **records, size_t *count,
                          struct err *err) MUST_CHECK;

#endif
