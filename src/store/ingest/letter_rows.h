// letter_rows: dead letters as rows of the session's table redrive_letter (ingest_stage in
// src/store/sql/ingest.sql). Private to this folder.
#ifndef REDRIVE_STORE_INGEST_LETTER_ROWS_H
#define REDRIVE_STORE_INGEST_LETTER_ROWS_H

#include "store/ingest/ingest.h"

// Within a transaction that has called ingest_stage.
bool letter_rows_copy(struct store *store, const struct ingest_chunk *chunk, struct err *err) MUST_CHECK;

#endif
