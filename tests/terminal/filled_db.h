// filled_db: the program under test, and a database of its own that has rows and the schema.
#ifndef REDRIVE_TESTS_TERMINAL_FILLED_DB_H
#define REDRIVE_TESTS_TERMINAL_FILLED_DB_H

#include "tests/lib/testdb.h"

// Makes the database, calls `fill` on its empty table, then has the program create the schema. The program's
// path; NULL, and said: REDRIVE or REDRIVE_TEST_PG is not set.
const char *filled_db_make(struct testdb *db, void (*fill)(void));

#endif
