// testdb: a database of its own for one test program, on the server of REDRIVE_TEST_PG, with the contract
// table in it.
//
// The table is exactly the one that consumers already write to: what a test adds beyond it, it adds itself.
#ifndef REDRIVE_TESTS_LIB_TESTDB_H
#define REDRIVE_TESTS_LIB_TESTDB_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct testdb {
    char name[64];
    char conninfo[600]; // straight to the server
    char pooled[600];   // through PgBouncer in transaction mode; "" where REDRIVE_TEST_PGBOUNCER is not set
    PGconn *conn;       // a session of somebody else: the consumer, the REST API, the DBA
};

// Says on stderr what is missing and returns false without a server.
bool testdb_create(struct testdb *db) __attribute__((warn_unused_result));
// The same, as a copy of a database to which nobody is connected.
bool testdb_create_like(struct testdb *db, const char *model) __attribute__((warn_unused_result));
// Whether the server has that database, and how one comes to be it: this database is renamed, and not dropped
// with the others.
bool testdb_has_model(const char *model);
void testdb_become_model(struct testdb *db, const char *model);
// Drops the database, whoever is still in it. Dropping what was never created is fine.
void testdb_drop(struct testdb *db);

// Carries out statements; a failure prints the server's words and ends the program, since no test can go on
// from there.
void testdb_run(struct testdb *db, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t testdb_number(struct testdb *db, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
