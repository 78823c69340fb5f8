// store: one connection to PostgreSQL, and facts about its database. Home of libpq.
//
// Blocking, one thread at a time. Works through PgBouncer in transaction mode: statements are unnamed with
// typed parameters, settings go in with SET LOCAL inside transactions, no session locks, no LISTEN: the next
// transaction may run in another session. Every failure is a sentence with an err.kind: ERR_UNREACHABLE (the
// connection broke or cannot be made: store_reconnect), ERR_DENIED (with the GRANT that helps), ERR_CONFLICT,
// ERR_CANCELLED (store_interrupt, or statement_timeout), ERR_NOT_FOUND. A missing schema names `redrive
// migrate`. The nouns of the schema have a header each: events, operations, ledger, workers, audit, stats,
// schema.
#ifndef REDRIVE_STORE_STORE_H
#define REDRIVE_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/uuid.h"
#include "core/category.h"

struct store;
struct group_rules;

#define STORE_TABLE "public.dlq_events" // where nothing says another one

struct store_settings {
    const char *conninfo; // conninfo or URI, "" for libpq's own environment and service files; never holds a
                          // password given in argv
    const char *table;    // "public.dlq_events"; NULL: the only one that the database has, or STORE_TABLE
    bool takes_usual;     // of several tables, where none is named: STORE_TABLE, or else the first
    const char *zone;     // time zone created_at is written in; NULL: the server's TimeZone setting
    bool is_read_only;    // default_transaction_read_only; every writing function fails with ERR_DENIED
    bool may_number;      // all the same it numbers the new failures of another program's table (mapping.h)
    const char *program;  // shown in pg_stat_activity: "redrive/<program>/<host>/<pid>"
    int64_t max_replays;  // an event that returned this often is in quarantine; 0: 3
    const struct category_rules *rules;    // for EVENT_GROUP; borrowed
    const struct group_rules *group_rules; // likewise
};

// A store that is not connected yet; it copies the settings. store_interrupt may be called from now on.
struct store *store_create(const struct store_settings *settings);
// Connects a store that is not connected: at first, or after ERR_UNREACHABLE. One attempt; the caller backs
// off (store_backoff). ERR_USAGE where no table is named and the database has several (tables.h).
bool store_connect(struct store *store, struct err *err) MUST_CHECK;
// Both at once; on failure *store is NULL.
bool store_open(struct store **store, const struct store_settings *settings, struct err *err) MUST_CHECK;
void store_close(struct store *store); // NULL is fine

// Replaces the connection by a new one, even if the old one seems to work.
bool store_reconnect(struct store *store, struct err *err) MUST_CHECK;
bool store_is_connected(const struct store *store);
// Would a store of these settings do the same as this one, which is connected?
bool store_is_like(const struct store *store, const struct store_settings *settings);
// Gives a connected store these settings, which may differ from its own in is_read_only and may_number; the
// connection stays. False, and the store is as it was: they differ in more, or the store is to write and its
// server refuses that, or does not say (PostgreSQL before 14, some poolers). It is what libpq asks for
// target_session_attrs=read-write. No statement may run.
bool store_become(struct store *store, const struct store_settings *settings) MUST_CHECK;
// How long to wait before the n-th attempt (from 0), with jitter: 0.1 s … 5 s.
int64_t store_backoff(int attempt);

// Stops the statement that runs in another thread; that statement ends with ERR_CANCELLED. Safe at any time
// between store_create and store_close; between two statements it has no effect.
void store_interrupt(struct store *store);
// store_interrupt and store_close for async/lane, to which a connection is a void pointer.
void store_lane_interrupt(void *store);
void store_lane_close(void *store);

struct store_info {
    char host[256]; // or socket directory
    char database[128];
    char user[128];          // session_user
    int server_version;      // 150004
    int64_t zone_us;         // wall minus UTC of the table's zone now
    char table[200];         // as --table takes it
    char schema[64];         // redrive's own of that table: "redrive", "redrive_payments_dlq"
    int tables;              // tables of dead letters in this database that this login may see
    int64_t schema_version;  // 0: no schema of redrive for this table
    char install[UUID_SIZE]; // install id, "" without schema
    bool may_decide; // this user may request operations: redrive_operator, or the rights that redrive.grants
                     // prints
    bool is_copy;    // the system identifier differs from the one the install was made on: must not publish
                     // until adopted
};
const struct store_info *store_info(const struct store *store);

// A name as SQL writes it, always in quotes, for a statement that a person is to run. Lives in the arena.
const char *store_quote_name(const char *name, struct arena *arena);

bool store_now(struct store *store, int64_t *instant, struct err *err) MUST_CHECK; // clock_timestamp()

#endif
