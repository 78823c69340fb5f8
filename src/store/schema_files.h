// schema_files: the numbered SQL files of src/store/sql, built into the program. Private to src/store.
#ifndef REDRIVE_STORE_SCHEMA_FILES_H
#define REDRIVE_STORE_SCHEMA_FILES_H

#include "base/bytes.h"

// The i-th part from 1; its name is its file's. Absent past the newest.
struct bytes schema_file(int part, const char **name);

#endif
