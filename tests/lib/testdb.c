#include "tests/lib/testdb.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/lib/contract.h"

static PGconn *
connect_to(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    if (PQstatus(conn) == CONNECTION_OK)
        return conn;
    fprintf(stderr, "# testdb: %s", PQerrorMessage(conn));
    PQfinish(conn);
    return NULL;
}

static PGresult *
must_run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return result;
    fprintf(stderr, "# testdb: %s# in: %s\n", PQerrorMessage(conn), sql);
    exit(1);
}

// The database that is always there.
static PGconn *
connect_to_server(void)
{
    const char *server = getenv("REDRIVE_TEST_PG");
    if (!server || !*server) {
        fprintf(stderr, "# testdb: REDRIVE_TEST_PG is not set: run this through tests/run\n");
        return NULL;
    }
    return connect_to(server);
}

static bool
create(struct testdb *db, const char *how)
{
    static int count;
    *db = (struct testdb){0};
    PGconn *conn = connect_to_server();
    if (!conn)
        return false;
    char name[sizeof db->name], sql[300];
    snprintf(name, sizeof name, "redrive_test_%ld_%d", (long)getpid(), ++count);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s%s", name, how);
    PQclear(must_run(conn, sql));
    PQfinish(conn);
    memcpy(db->name, name, sizeof name);
    snprintf(db->conninfo, sizeof db->conninfo, "%s dbname=%s", getenv("REDRIVE_TEST_PG"), name);
    const char *pooler = getenv("REDRIVE_TEST_PGBOUNCER");
    if (pooler && *pooler)
        snprintf(db->pooled, sizeof db->pooled, "%s dbname=%s", pooler, name);
    db->conn = connect_to(db->conninfo);
    return db->conn;
}

bool
testdb_create(struct testdb *db)
{
    if (!create(db, ""))
        return false;
    PQclear(must_run(db->conn, CONTRACT_TABLE CONTRACT_INDEXES));
    return true;
}

bool
testdb_create_like(struct testdb *db, const char *model)
{
    char how[200];
    snprintf(how, sizeof how, " TEMPLATE %s", model);
    return create(db, how);
}

bool
testdb_has_model(const char *model)
{
    PGconn *conn = connect_to_server();
    if (!conn)
        return false;
    const char *const values[] = {model};
    PGresult *r =
        PQexecParams(conn, "SELECT FROM pg_database WHERE datname = $1", 1, NULL, values, NULL, NULL, 0);
    bool has = PQntuples(r) == 1;
    PQclear(r);
    PQfinish(conn);
    return has;
}

void
testdb_become_model(struct testdb *db, const char *model)
{
    PQfinish(db->conn);
    db->conn = NULL;
    PGconn *conn = connect_to_server();
    char sql[300];
    snprintf(sql, sizeof sql, "ALTER DATABASE %s RENAME TO %s", db->name, model);
    PGresult *r = PQexec(conn, sql);
    // Another program may have been quicker: its database is as good.
    bool is_there = PQresultStatus(r) == PGRES_COMMAND_OK;
    PQclear(r);
    PQfinish(conn);
    if (is_there)
        *db = (struct testdb){0};
    else
        testdb_drop(db);
}

void
testdb_drop(struct testdb *db)
{
    if (!*db->name)
        return;
    PQfinish(db->conn);
    PGconn *conn = connect_to_server();
    if (conn) {
        char sql[160];
        snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", db->name);
        PQclear(must_run(conn, sql));
        PQfinish(conn);
    }
    *db = (struct testdb){0};
}

static PGresult *run_formatted(struct testdb *db, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static PGresult *
run_formatted(struct testdb *db, const char *format, va_list args)
{
    char sql[16384];
    int len = vsnprintf(sql, sizeof sql, format, args);
    if (len < 0 || (size_t)len >= sizeof sql) {
        fprintf(stderr, "# testdb: a statement longer than %zu bytes\n", sizeof sql);
        exit(1);
    }
    return must_run(db->conn, sql);
}

void
testdb_run(struct testdb *db, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PQclear(run_formatted(db, format, args));
    va_end(args);
}

int64_t
testdb_number(struct testdb *db, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PGresult *result = run_formatted(db, format, args);
    va_end(args);
    if (PQntuples(result) != 1 || PQgetisnull(result, 0, 0)) {
        fprintf(stderr, "# testdb: no number from: %s\n", format);
        exit(1);
    }
    int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}
