// schema_files: the files of src/store/sql, built into the program. Private to src/store.
//
// Numbered files hold what has a history: tables and what changes them, each run once, in order. The others
// hold functions, and are run whole after them at every migration: CREATE OR REPLACE, so each function stands
// in one place.
#ifndef REDRIVE_STORE_SCHEMA_FILES_H
#define REDRIVE_STORE_SCHEMA_FILES_H

#include "base/bytes.h"

struct schema_file {
    const char *name;
    int version; // 0: functions
    struct bytes text;
};
// The i-th file from 0 in the order they run. False past the last.
bool schema_file(size_t i, struct schema_file *file);

#endif
