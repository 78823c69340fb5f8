// letter_rows: dead letters as rows of the session's table redrive_letter (ingest_stage in
// src/store/sql/ingest.sql). Private to this folder.
#ifndef REDRIVE_STORE_INGEST_LETTER_ROWS_H
#define REDRIVE_STORE_INGEST_LETTER_ROWS_H

#include "base/strbuf.h"
#include "store/ingest/ingest.h"

// Within a transaction that has called ingest_stage.
bool letter_rows_copy(struct store *store, const struct ingest_chunk *chunk, struct err *err) MUST_CHECK;

// What columns get, here and in letter_arrays.c. A payload that is the value itself is absent: it goes to
// PostgreSQL once.
struct bytes letter_rows_payload(const struct ingest_letter *letter);
struct bytes letter_rows_correlation(const struct ingest_letter *letter);
void letter_rows_header_names(const struct ingest_letter *letter, struct strbuf *out);
void letter_rows_header_values(const struct ingest_letter *letter, struct strbuf *out);

#endif
