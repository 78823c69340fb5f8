// schema_files: the files of src/store/sql, built into the program. Private to src/store.
//
// A file is about one noun and has two parts. Above the line `---- functions` are tables in the form of
// version 1: they run once, in a database without the schema. Below it are functions: they run whole at every
// migration, by CREATE OR REPLACE, after everything else. A later version changes tables by an upgrade: a
// file upgrade/NNN_NAME.sql that runs once. It also drops functions that are removed, or whose arguments or
// result change.
#ifndef REDRIVE_STORE_SCHEMA_FILES_H
#define REDRIVE_STORE_SCHEMA_FILES_H

#include "base/bytes.h"

struct schema_file {
    const char *name;
    struct bytes tables;
    struct bytes functions;
};
// The i-th file from 0 in the order they run. False past the last.
bool schema_file(size_t i, struct schema_file *file);

// What runs before all of them, at every migration: whose the schema is.
struct bytes schema_guard(void);

struct schema_upgrade {
    int version; // 2 and above; 0 ends a list
    const char *name;
    struct bytes sql;
};
// From SCHEMA_FIRST to the newest version, in order; ends with version 0.
const struct schema_upgrade *schema_upgrades(void);

#endif
