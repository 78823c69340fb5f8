// schema: creating and upgrading the schema `redrive` from the numbered files in src/store/sql, built into the program.
//
// Never touches the contract table: no trigger, no foreign key, no index on it (--with-indexes offers some, CONCURRENTLY).
// A lock on a row of ours makes two migrations at once harmless. A newer schema than the program knows is refused.
#ifndef REDRIVE_STORE_SCHEMA_H
#define REDRIVE_STORE_SCHEMA_H

#include <stdbool.h>
#include "base/err.h"
#include "base/strbuf.h"
#include "store/store.h"

#define SCHEMA_VERSION 1 // of the newest file in src/store/sql

struct schema_result {
    int from;
    int to;
};
bool schema_migrate(struct store *store, struct schema_result *result, struct err *err) MUST_CHECK;
// The SQL that schema_migrate would run from version 0, for a DBA; needs no connection.
void schema_print(const char *table, const char *zone, struct strbuf *out);
// ERR_NOT_FOUND without schema ("run redrive migrate"), ERR_USAGE when it is newer or older than the program.
bool schema_check(struct store *store, struct err *err) MUST_CHECK;
// Useful indexes on the contract table, CREATE INDEX CONCURRENTLY, one statement each with a comment of what it costs.
void schema_print_indexes(const char *table, struct strbuf *out);
bool schema_create_indexes(struct store *store, struct err *err) MUST_CHECK;
// Makes a copied database an install of its own (new install id), so that it may publish. Audited.
bool schema_adopt(struct store *store, struct err *err) MUST_CHECK;

#endif
