// schema: creating and upgrading the schema `redrive` from the files in src/store/sql, built into the program
// (schema_files.h says how they are kept).
//
// Never touches the contract table: no trigger, no foreign key, no index on it (--with-indexes offers some,
// CONCURRENTLY). A lock of the transaction makes two migrations at once harmless. An upgrade is one
// transaction. A newer schema than the program knows is refused. The contract table's name and zone are kept
// in redrive.install: a store opened for another table is refused by store_open.
#ifndef REDRIVE_STORE_SCHEMA_H
#define REDRIVE_STORE_SCHEMA_H

#include <stdbool.h>
#include "base/err.h"
#include "base/strbuf.h"
#include "store/store.h"

#define SCHEMA_FIRST 1   // what the CREATE TABLE of src/store/sql make
#define SCHEMA_VERSION 1 // the newest: SCHEMA_FIRST, or that of the last upgrade (schema_files.h)

struct schema_result {
    int from;
    int to;
};
// With a zone in the store's settings, an installed schema takes it over.
bool schema_migrate(struct store *store, struct schema_result *result, struct err *err) MUST_CHECK;
// The group roles redrive_viewer, redrive_worker, redrive_operator and redrive_admin. `make`: makes those
// that are missing; else only those that have rights here already are looked after. Gives them what their
// level needs, new functions included. Appends to `left` the statements, one a line, that only the contract
// table's owner can carry out.
bool schema_roles(struct store *store, bool make, struct strbuf *left, struct err *err) MUST_CHECK;
// The SQL that schema_migrate would run from version 0, for a DBA; needs no connection. zone NULL: the
// server's. with_roles: the roles as well. ERR_USAGE: no such table name.
bool schema_print(const char *table, const char *zone, bool with_roles, struct strbuf *out,
                  struct err *err) MUST_CHECK;
// ERR_NOT_FOUND without schema ("run redrive migrate"), ERR_USAGE when it is newer or older than the program.
bool schema_check(struct store *store, struct err *err) MUST_CHECK;
// Both with these upgrades (schema_files.h) instead of the built-in ones, for tests of later versions.
struct schema_upgrade;
bool schema_migrate_by(struct store *store, const struct schema_upgrade *upgrades,
                       struct schema_result *result, struct err *err) MUST_CHECK;
bool schema_check_by(struct store *store, const struct schema_upgrade *upgrades, struct err *err) MUST_CHECK;
// Useful indexes on the contract table, CREATE INDEX CONCURRENTLY, one statement each with a comment of what
// it costs. Of a partitioned table, partition by partition; what broke off is taken up again by the next run.
bool schema_print_indexes(const char *table, struct strbuf *out, struct err *err) MUST_CHECK;
bool schema_create_indexes(struct store *store, struct err *err) MUST_CHECK;
// Makes a copied database an install of its own (new install id), so that it may publish. Audited.
bool schema_adopt(struct store *store, struct err *err) MUST_CHECK;

#endif
