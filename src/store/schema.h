// schema: creating and upgrading the schema `redrive` from the files in src/store/sql, built into the program
// (schema_files.h says how they are kept).
//
// Never touches the contract table: no trigger, no foreign key, no index on it (--with-indexes offers some,
// CONCURRENTLY). Whose schema it may be is in src/store/sql/guard.sql; its lock makes two migrations at once
// harmless. An upgrade is one transaction. A newer schema than the program knows is refused. The contract
// table's name and zone are kept in the schema's install row; store/tables.h says which schema a table has.
#ifndef REDRIVE_STORE_SCHEMA_H
#define REDRIVE_STORE_SCHEMA_H

#include <stdbool.h>
#include "base/err.h"
#include "base/strbuf.h"
#include "store/store.h"

#define SCHEMA_FIRST 1   // the version that the CREATE TABLE statements of src/store/sql create
#define SCHEMA_VERSION 1 // the newest: SCHEMA_FIRST, or that of the last upgrade (schema_files.h)

struct schema_result {
    int from;
    int to;
    bool has_renewed; // functions of another build were replaced
};
// A zone in the store's settings replaces that of an installed schema. ERR_DENIED: the schema is somebody
// else's, holds something of somebody else, or its owner would be a superuser and the table's owner is none.
bool schema_migrate(struct store *store, struct schema_result *result, struct err *err) MUST_CHECK;
// The same with a schema that belongs to this role, which is made without login where it is missing. NULL: to
// the one who migrates.
bool schema_migrate_as(struct store *store, const char *owner, struct schema_result *result,
                       struct err *err) MUST_CHECK;
// The same of a table that is another program's: `mapping` is the JSON of settings/mapping_file.h, or NULL.
// It may be given again to replace the one before. ERR_USAGE: it does not fit the table, or redrive reads the
// table without a mapping already.
bool schema_migrate_mapped(struct store *store, const char *owner, const char *mapping,
                           struct schema_result *result, struct err *err) MUST_CHECK;
// Two builds may have one version and other functions, of which migrate makes this program's. ERR_NOT_FOUND:
// there is no schema.
bool schema_functions_are_ours(struct store *store, bool *are_ours, struct err *err) MUST_CHECK;
// The group roles redrive_viewer, redrive_worker, redrive_operator and redrive_admin. `make`: creates
// missing roles; else only roles that already have rights here are updated. Grants each role the rights of
// its level, also on new functions. Appends to `left` the statements, one a line, that only the contract
// table's owner can run.
bool schema_roles(struct store *store, bool make, struct strbuf *left, struct err *err) MUST_CHECK;
// The SQL that schema_migrate would run from version 0, for a DBA. ERR_USAGE: invalid table name.
struct schema_wanted {
    const struct store *store; // open for the table: the database tells which schema it has, or would get;
                               // NULL: there is no connection, and it is taken for the first table
    const char *table;
    const char *zone;    // NULL: the server's
    const char *owner;   // as for schema_migrate_as
    const char *mapping; // as for schema_migrate_mapped
    bool with_roles;
};
bool schema_print(const struct schema_wanted *wanted, struct strbuf *out, struct err *err) MUST_CHECK;
// ERR_NOT_FOUND without schema ("run redrive migrate"), ERR_USAGE when it is newer or older than the program.
bool schema_check(struct store *store, struct err *err) MUST_CHECK;
// Both with these upgrades (schema_files.h) instead of the built-in ones, for tests of later versions.
struct schema_upgrade;
bool schema_migrate_by(struct store *store, const struct schema_upgrade *upgrades,
                       struct schema_result *result, struct err *err) MUST_CHECK;
bool schema_check_by(struct store *store, const struct schema_upgrade *upgrades, struct err *err) MUST_CHECK;
// Useful indexes on the contract table, CREATE INDEX CONCURRENTLY, one statement each with a comment on its
// cost. A partitioned table gets them partition by partition; the next run continues one that broke off.
bool schema_print_indexes(const char *table, struct strbuf *out, struct err *err) MUST_CHECK;
bool schema_create_indexes(struct store *store, struct err *err) MUST_CHECK;

#endif
