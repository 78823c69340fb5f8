// pg: the private half of store.h: how statements run and how their rows are read. Only files of src/store
// include it.
//
// A statement is a constant text with $n parameters, or a text that query.h builds from constant pieces;
// `:"events"` is replaced by the quoted name of the contract table. Every statement runs in a transaction of
// its own, sent in one round trip together with the settings it needs (SET LOCAL by set_config), so that
// nothing depends on the session. Therefore it works behind a pooler that gives each transaction another
// server connection.
#ifndef REDRIVE_STORE_PG_H
#define REDRIVE_STORE_PG_H

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "store/store.h"

struct group_cache;

struct store {
    PGconn *conn;
    char *conninfo;
    char *program;
    char *zone_wanted; // of the settings, or NULL
    char *zone;        // in effect, after connecting
    struct {
        char *wanted; // of the settings; NULL: the only one that the database has
        bool takes_usual;
        char *text;   // unquoted: public.dlq_events; NULL until it is known, as the rest
        char *quoted; // quoted for SQL
        char *schema; // its two names, bare
        char *name;
        bool is_mapped; // it is another program's, and `quoted` is a view (mapping.h)
    } table;
    struct {
        char name[64];  // "redrive", or "redrive_NAME" of a further table
        char owner[64]; // of the schema `redrive`, which others must belong to; "": there is none
        bool is_new;    // the table has none yet, beside others that have
    } schema;
    int64_t max_replays;
    bool is_read_only;
    bool may_number;        // of the settings
    bool is_in_transaction; // between pg_begin and pg_commit or pg_rollback
    const struct category_rules *rules;
    const struct group_rules *group_rules;
    struct group_cache *groups;                                   // of events.c, made when first needed
    enum { SEEN_UNKNOWN, SEEN_CLOSED, SEEN_READABLE } categories; // may this session read the overrides?
    struct overrides *overrides;
    int64_t overrides_token;
    struct store_info info;
    struct {               // the statement that failed last
        char function[64]; // of the schema, that it called; for its GRANT
        bool on_contract;  // it named the contract table
    } failed;
    struct unreadable *unreadable; // of unreadable.c, made when first needed
    _Atomic(PGcancel *) cancel;
    atomic_int interrupting;
    atomic_bool was_interrupted;    // since the statement in flight began
    _Atomic(struct store *) beside; // of pg_run_both, while it runs
};

// Object identifiers of built-in types are fixed (server: src/include/catalog/pg_type.dat).
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_XID = 28,
    OID_FLOAT8 = 701,
    OID_BYTEA_ARRAY = 1001,
    OID_INT4_ARRAY = 1007,
    OID_TEXT_ARRAY = 1009,
    OID_XID_ARRAY = 1011,
    OID_INT8_ARRAY = 1016,
    OID_TIMESTAMPTZ = 1184,
    OID_UUID = 2950,
};

// Parameters of one statement, in order. Binary where binary is exact and short; always with its type.
#define PARAMS_MAX 40
struct params {
    int count;
    Oid types[PARAMS_MAX];
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int formats[PARAMS_MAX];
    char numbers[PARAMS_MAX][8];
    char *owned[PARAMS_MAX]; // arrays
};
void param_int8(struct params *params, int64_t n);
void param_int4(struct params *params, int32_t n);
void param_bool(struct params *params, bool b);
void param_double(struct params *params, double d);
void param_text(struct params *params, const char *text); // NULL is NULL
void param_null(struct params *params);                   // a NULL of the type that its place wants
void param_blob(struct params *params,
                struct bytes blob); // bytea, absent is NULL; borrowed until it was sent
void param_uuid(struct params *params, const char *text);
void param_ids(struct params *params, const int64_t *ids, size_t count); // int8[]
// bytea, for get_bit: one bit for each id from the first one on. Ascending, each once.
void param_bits(struct params *params, const int64_t *ids, size_t count);
void param_numbers(struct params *params, const int32_t *numbers, size_t count);  // int4[]
void param_xids(struct params *params, const int32_t *xids, size_t count);        // xid[], their bits
void param_texts(struct params *params, const char *const *texts, size_t count);  // text[]
void param_blobs(struct params *params, const struct bytes *blobs, size_t count); // bytea[], absent is NULL
// An array whose elements the caller adds to `out` by copy_…: first the head, then the elements, then this.
// `out` is borrowed until it was sent.
void array_head(struct strbuf *out, Oid element, size_t count);
void param_array(struct params *params, Oid type, const struct strbuf *out);
// Gives the elements of an array, which has a head, another type.
void array_retype(struct strbuf *array, Oid element);
// Adds those of `from` behind those that are there. `from` keeps its arrays, and stays until they were sent.
void params_share(struct params *params, const struct params *from);
void params_release(struct params *params);

// The purpose of a statement decides its time limits and whether it may write.
enum purpose {
    FOR_READING,  // 15 s
    FOR_SCANNING, // 2 min: all rows of something
    FOR_WRITING,  // 60 s, 3 s for a lock
    FOR_TURNS,    // 60 s, 15 s for a lock: publishers take turns at the operation's row
    FOR_FREEZING, // 600 s; 60 s for a lock: there is one freeze at a time
    FOR_SCHEMA,   // 10 min, 10 s for a lock
    FOR_LOOKING,  // 10 min: for failures that nobody has seen yet (mapping.h)
};

// Called with each row as it arrives (row 0 of the result). false stops the statement: then ERR_CANCELLED.
typedef bool pg_row_fn(void *context, const PGresult *row);

struct pg_step {
    const char *sql;
    struct params *params; // may be NULL
    pg_row_fn *each;       // or NULL:
    void *context;
    PGresult **whole; // the whole result, the caller clears; NULL: not wanted
};
// The steps as one transaction in one round trip; or within the transaction of pg_begin.
bool pg_run(struct store *store, enum purpose purpose, struct pg_step *steps, size_t count,
            struct err *err) MUST_CHECK;
// A second connection like the store's, to the same server, for pg_run_both; the caller closes it. NULL:
// there is none to be had, and everything goes over the first.
struct store *pg_open_beside(const struct store *store);
// Do both lead to the same server? A host name, or a list of them, may lead elsewhere the second time.
bool pg_is_same_server(const struct store *store, const struct store *other);
// Two transactions at the same time, which only read: as many steps here as there. beside NULL: one after the
// other. store_interrupt of the store stops both.
bool pg_run_both(struct store *store, struct store *beside, enum purpose purpose, struct pg_step *steps,
                 struct pg_step *others, size_t count, struct err *err) MUST_CHECK;
// One step that keeps its whole result. Releases params in any case.
bool pg_ask(struct store *store, enum purpose purpose, const char *sql, struct params *params,
            PGresult **result, struct err *err) MUST_CHECK;
// For reading, about one event, $1, in tables of redrive's own. Without a schema the result is NULL: no rows.
bool pg_ask_of_event(struct store *store, const char *sql, int64_t id, PGresult **result,
                     struct err *err) MUST_CHECK;
// As pg_ask, of one column, as texts in the arena; NULL for NULL. There may be none.
bool pg_ask_texts(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                  struct arena *arena, const char ***texts, size_t *count, struct err *err) MUST_CHECK;
// One step without a result. Releases params in any case.
bool pg_do(struct store *store, enum purpose purpose, const char *sql, struct params *params,
           struct err *err) MUST_CHECK;
// One step row by row. Releases params in any case.
bool pg_stream(struct store *store, enum purpose purpose, const char *sql, struct params *params,
               pg_row_fn *each, void *context, struct err *err) MUST_CHECK;
// The same, but false from `each` is no failure: it ends the reading early. Not within pg_begin, because the
// server ends the transaction.
bool pg_stream_until(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                     pg_row_fn *each, void *context, struct err *err) MUST_CHECK;

// A transaction of several round trips, with the settings of its purpose.
bool pg_begin(struct store *store, enum purpose purpose, struct err *err) MUST_CHECK;
bool pg_commit(struct store *store, struct err *err) MUST_CHECK;
void pg_rollback(struct store *store); // harmless without a transaction
// Several statements in one text, without parameters, within pg_begin; expanded already.
bool pg_script(struct store *store, const char *sql, struct err *err) MUST_CHECK;
// COPY … TO STDOUT (FORMAT binary) of one int8 column, within pg_begin. each returns false to stop: then
// ERR_CANCELLED. While the server sends nothing, as when it sorts, each is called with a count of 0 some
// times a second.
typedef bool pg_ids_fn(void *context, const int64_t *ids, size_t count);
bool pg_copy_ids(struct store *store, const char *sql, pg_ids_fn *each, void *context,
                 struct err *err) MUST_CHECK;
// The same for up to PG_FIELDS columns, row by row. Costs half as much as pg_stream at a million rows. A NULL
// is absent; the bytes are valid during the call.
#define PG_FIELDS 16
typedef bool pg_fields_fn(void *context, const struct bytes fields[PG_FIELDS]);
bool pg_copy_rows(struct store *store, const char *sql, pg_fields_fn *each, void *context,
                  struct err *err) MUST_CHECK;

// COPY … FROM STDIN (FORMAT binary), within pg_begin. `fill` appends the next rows to an empty buffer, in the
// form below; nothing appended: there are no more.
typedef void pg_fill_fn(void *context, struct strbuf *out);
bool pg_copy_in(struct store *store, const char *sql, pg_fill_fn *fill, void *context,
                struct err *err) MUST_CHECK;
// A row of so many fields, then each of them in its order.
void copy_row_begin(struct strbuf *out, int fields);
void copy_null(struct strbuf *out);
void copy_bool(struct strbuf *out, bool b);
void copy_int4(struct strbuf *out, int32_t n);
void copy_int8(struct strbuf *out, int64_t n);
void copy_time(struct strbuf *out, int64_t instant); // timestamptz; TIME_ABSENT is NULL
void copy_bytes(struct strbuf *out, struct bytes b); // bytea, text, uuid; absent is NULL
// text[] or bytea[]: then each element by copy_bytes, then copy_array_end with what this returned.
size_t copy_array_begin(struct strbuf *out, bool is_text, size_t count);
void copy_array_end(struct strbuf *out, size_t from);

// The values for what stands in for them in our SQL.
struct pg_names {
    const char *table_quoted, *table_text;
    const char *schema;   // bare: letters, digits and _
    const char *zone_sql; // an expression, quoted already; NULL: the session's TimeZone
};
struct pg_names pg_names(const struct store *store);
// Replaces `:"events"`, `:'events'`, `:'zone'`, and the schema's name as pg_add_in_schema does.
void pg_expand(struct strbuf *out, const char *sql, const struct pg_names *names);
// Appends SQL, or a sentence for a person, with this schema where it says `redrive.x`, `'redrive'`, `schema
// redrive` or `, redrive,`. What is replaced already stays. Names of Kafka ('redrive.%s…) are none of these.
void pg_add_in_schema(struct strbuf *out, const char *text, const char *schema);
// Appends a text as an SQL literal, for scripts that a person may run by hand. Only for values of our own
// configuration.
void pg_literal(struct strbuf *out, const char *text);
// "schema.name" or "name" (then schema public), each bare (folded to lower case) or "quoted". Results on the
// heap.
bool pg_parse_table(const char *text, char **schema, char **name, struct err *err) MUST_CHECK;
void pg_quote_table(struct strbuf *out, const char *schema, const char *name); // always quoted
void pg_show_table(struct strbuf *out, const char *schema, const char *name);  // quoted only where it must be

// Values of row 0 … of a result whose columns are binary. A NULL gives absent, TIME_ABSENT, 0, false.
bool value_is_null(const PGresult *result, int row, int column);
int64_t value_int8(const PGresult *result, int row, int column);
int32_t value_int4(const PGresult *result, int row, int column);
bool value_bool(const PGresult *result, int row, int column);
double value_double(const PGresult *result, int row, int column);
int64_t value_time(const PGresult *result, int row, int column); // timestamp or timestamptz, µs since 1970
struct bytes value_bytes(const PGresult *result, int row, int column); // valid as long as the result
const char *value_text(const PGresult *result, int row, int column, struct arena *arena); // NULL for NULL
void value_copy(const PGresult *result, int row, int column, char *out, size_t room); // cut, NUL-terminated

int64_t pg_read64(const char *data); // network order
int32_t pg_read32(const char *data);
// Fields of a binary COPY, likewise.
int64_t field_int8(struct bytes field);
int32_t field_int4(struct bytes field);
int64_t field_time(struct bytes field);

// sentence.c: fills err from a failed result (NULL: the connection itself); false. sql: the statement that
// failed.
bool pg_fail(struct store *store, const PGresult *result, const char *sql, struct err *err);
// Adds the GRANT or command that helps, which it finds in the catalog, once the connection is free.
void pg_explain(struct store *store, struct err *err);
// ERR_DENIED when the store is read-only.
bool pg_may_write(const struct store *store, struct err *err) MUST_CHECK;
// ERR_NOT_FOUND naming `redrive migrate` when the schema is not there.
bool pg_has_schema(const struct store *store, struct err *err) MUST_CHECK;
// The server's message in one line.
void pg_one_line(const char *message, char *out, size_t room);

// store.c: connects without looking at anything.
bool pg_reach(struct store *store, struct err *err) MUST_CHECK;
// Takes the name of the contract table apart.
bool pg_know_table(struct store *store, const char *table, struct err *err) MUST_CHECK;
// tables.c: which table is it, and which schema has it? ERR_USAGE: several could be meant.
bool pg_find_schema(struct store *store, struct err *err) MUST_CHECK;
// store.c: reads store->info again (after connecting and after migrating).
bool store_learn(struct store *store, struct err *err) MUST_CHECK;

// events.c
void group_cache_destroy(struct group_cache *cache);

#endif
