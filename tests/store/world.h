// world: a database of its own for one test: the contract table, filled, a store that is migrated, and a
// session of somebody else.
#ifndef REDRIVE_TESTS_STORE_WORLD_H
#define REDRIVE_TESTS_STORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "core/category.h"
#include "core/filter/filter.h"
#include "store/operations/audit.h"
#include "store/events/events.h"
#include "store/operations/ledger.h"
#include "store/operations/operations.h"
#include "store/schema.h"
#include "store/rollup/stats.h"
#include "store/store.h"
#include "store/operations/workers.h"
#include "tests/lib/testdb.h"

struct world {
    struct testdb db;
    const char *conninfo; // of db
    PGconn *admin;        // of db: the consumer, the REST API, the DBA
    struct store *store;
    struct arena arena;
    struct store_settings settings; // of the store, as a thread or another store takes them
    struct category_rules *rules;   // in the settings; NULL without world_make_with_rules
};

// Fails the test with the sentence of an error that should not have been. The call names its error `&err`.
#define assert_works(call)                                                                                   \
    do {                                                                                                     \
        struct err err = {0};                                                                                \
        if (!(call))                                                                                         \
            fail_msg("%s: kind %d, %s: %s", #call, (int)err.kind, err.sqlstate, err.text);                   \
        assert_int_equal(err.kind, ERR_NONE);                                                                \
    } while (0)

// Expects an error of a kind whose sentence holds some words.
#define assert_refused(call, wanted, words)                                                                  \
    do {                                                                                                     \
        struct err err = {0};                                                                                \
        if (call)                                                                                            \
            fail_msg("%s succeeded", #call);                                                                 \
        if (err.kind != (wanted) || !strstr(err.text, words))                                                \
            fail_msg("%s: kind %d instead of %d, %s: %s", #call, (int)err.kind, (int)(wanted), err.sqlstate, \
                     err.text);                                                                              \
    } while (0)

// What this session changed is in PostgreSQL's statistics now; else they tell it up to ten seconds later.
void tell_statistics(PGconn *conn);
// Another session on the same database; ends with PQfinish.
PGconn *test_connect(const char *conninfo);
void test_sql(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The SQLSTATE that a statement ends with, "" for success.
const char *test_state(PGconn *conn, const char *sql);
// The first value of the first row.
const char *test_text(PGconn *conn, const char *sql);
int64_t test_number(PGconn *conn, const char *sql);

// A database with the empty contract table and no store.
void world_begin(struct world *world);
// The same with `events` pending events and a migrated store.
void world_make(struct world *world, int events);
// The same with the categories' rules in force, so that groups have their kind.
void world_make_with_rules(struct world *world, int events);
// The same as world_make with a table partitioned by month, whose primary key is (id, created_at).
void world_make_partitioned(struct world *world, int events);
void world_end(struct world *world);
struct store *open_store(const char *conninfo);

// Ids go on from 1. Event i is "evt-i" of topic orders, partition i % 12, offset i / 12.
void add_events(PGconn *conn, int count);

// A filter as it is typed; the caller destroys it.
struct filter *make_filter(const char *text);

const char *new_uuid(PGconn *conn);
// An operation on the ids from first to last, asked for by that store's user.
int64_t make_operation(struct world *world, struct store *store, enum operation_action action, int64_t first,
                       int64_t last);
// Applies what is left of a discard, resolve or restore, `limit` events at a time.
void apply_to_end(struct store *store, int64_t no, size_t limit);
// Such an operation, made and applied to its end.
int64_t apply_operation(struct world *world, enum operation_action action, int64_t first, int64_t last);
// Events of the table in a status, whoever gave it.
int64_t events_in(struct world *world, const char *status);
// A slot of cluster kafka-1 for that worker.
struct slot acquire(struct world *world, const char *worker);
// What that slot claims next of an operation: at most `limit` events, and 16 MiB.
enum { MANY_BYTES = 1 << 24 };
struct claim next_claim(struct world *world, struct slot *slot, int64_t operation, size_t limit);
// As it stands; its counters always add up to its total.
struct operation get_operation(struct world *world, int64_t no);
// Items of an operation in a state, as people see it.
int64_t items_in(struct world *world, int64_t no, const char *state);
// An ids_fn that counts into the size_t it is given.
bool count_ids(void *context, const int64_t *ids, size_t count);

#endif
