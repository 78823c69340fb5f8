#include "store/pg.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"

// Limits of each purpose, as text for set_config. Lock waits are short but where waiting is the right answer.
static const struct limits {
    const char *statement;
    const char *lock;
    bool may_write;
    bool is_look; // writes where the store reads, if its settings let it
} limits_of[] = {
    [FOR_READING] = {"15s", "3s", false, false},   [FOR_SCANNING] = {"120s", "3s", false, false},
    [FOR_WRITING] = {"60s", "3s", true, false},    [FOR_TURNS] = {"60s", "15s", true, false},
    [FOR_FREEZING] = {"600s", "60s", true, false}, [FOR_SCHEMA] = {"600s", "10s", true, false},
    [FOR_LOOKING] = {"600s", "3s", true, true},
};

// SET LOCAL for what follows in the same transaction. JIT costs more than it gives in statements of some
// milliseconds.
static const char settings_sql[] = "SELECT pg_catalog.set_config('statement_timeout', $1, true), "
                                   "pg_catalog.set_config('lock_timeout', $2, true),"
                                   " pg_catalog.set_config('transaction_read_only', $3, true), "
                                   "pg_catalog.set_config('search_path', 'pg_catalog', true),"
                                   " pg_catalog.set_config('idle_in_transaction_session_timeout', '60s', "
                                   "true), pg_catalog.set_config('jit', 'off', true)";

static void
settings_params(const struct store *store, enum purpose purpose, struct params *params)
{
    const struct limits *limits = &limits_of[purpose];
    param_text(params, limits->statement);
    param_text(params, limits->lock);
    bool may_write = limits->may_write && (!store->is_read_only || (limits->is_look && store->may_number));
    param_text(params, may_write ? "off" : "on");
}

static bool
send_step(struct store *store, const char *sql, const struct params *params)
{
    static const struct params none;
    const struct params *p = params ? params : &none;
    struct strbuf text = {0};
    const struct pg_names names = pg_names(store);
    pg_expand(&text, sql, &names);
    int sent = PQsendQueryParams(store->conn, strbuf_text(&text), p->count, p->types, p->values, p->lengths,
                                 p->formats, 1);
    strbuf_release(&text);
    return sent == 1;
}

// Stops what the server does for us now. The answers still have to be read.
static void
stop_statement(struct store *store)
{
    PGcancel *cancel = PQgetCancel(store->conn);
    char why[256];
    if (cancel)
        PQcancel(cancel, why, sizeof why);
    PQfreeCancel(cancel);
}

// Takes what the connection beside it sends meanwhile: behind a pooler with one server connection for both,
// that one is free for this only when its answer is gone.
static void
await_result(struct store *store)
{
    struct store *beside = atomic_load(&store->beside);
    while (beside && PQisBusy(store->conn)) {
        int unsent = PQflush(store->conn);
        struct pollfd both[] = {
            {.fd = PQsocket(store->conn), .events = (short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN)},
            {.fd = PQsocket(beside->conn), .events = POLLIN}};
        if (unsent < 0 || (poll(both, 2, -1) > 0 && both[0].revents && !PQconsumeInput(store->conn)))
            return; // the result says why
        if (both[1].revents && !PQconsumeInput(beside->conn))
            beside = NULL;
    }
}

static PGresult *
next_result(struct store *store)
{
    await_result(store);
    return PQgetResult(store->conn);
}

// Reads the results of one step. A failed one fills err; every result is read in any case.
static bool
read_step(struct store *store, const struct pg_step *step, bool *stopped, struct err *err)
{
    bool ok = true;
    if (step->each)
        PQsetSingleRowMode(store->conn);
    PGresult *result;
    while ((result = next_result(store))) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_SINGLE_TUPLE) {
            if (ok && !*stopped && step->each && !step->each(step->context, result)) {
                *stopped = true;
                stop_statement(store);
            }
        } else if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            if (step->whole && ok) {
                PQclear(*step->whole);
                *step->whole = result;
                continue;
            }
        } else {
            if (ok && status != PGRES_PIPELINE_ABORTED && !*stopped)
                pg_fail(store, result, step->sql, err);
            ok = false;
        }
        PQclear(result);
        if (!ok && PQstatus(store->conn) == CONNECTION_BAD)
            return false;
    }
    return ok;
}

static bool
read_sync(struct store *store)
{
    PGresult *result = PQgetResult(store->conn);
    bool ok = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    PQclear(result);
    return ok;
}

static void
clear_whole(struct pg_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].whole) {
            PQclear(*steps[i].whole);
            *steps[i].whole = NULL;
        }
    }
}

static bool
send_all(struct store *store, enum purpose purpose, struct pg_step *steps, size_t count)
{
    bool ok = PQenterPipelineMode(store->conn) == 1;
    if (ok && !store->is_in_transaction) {
        struct params settings = {0};
        settings_params(store, purpose, &settings);
        ok = send_step(store, settings_sql, &settings);
        params_release(&settings);
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = send_step(store, steps[i].sql, steps[i].params);
    return ok && PQpipelineSync(store->conn) == 1;
}

static bool
send_run(struct store *store, enum purpose purpose, struct pg_step *steps, size_t count, struct err *err)
{
    if (!store->conn || PQstatus(store->conn) == CONNECTION_BAD)
        return pg_fail(store, NULL, "", err);
    atomic_store(&store->was_interrupted, false);
    return send_all(store, purpose, steps, count) || pg_fail(store, NULL, "", err);
}

static bool
read_run(struct store *store, struct pg_step *steps, size_t count, struct err *err)
{
    bool stopped = false;
    bool ok = true;
    struct err first = {
        0}; // the sentence may need a look into the catalog, which waits until the pipeline is empty
    const struct pg_step settings = {.sql = settings_sql};
    if (!store->is_in_transaction)
        ok = read_step(store, &settings, &stopped, &first);
    for (size_t i = 0; i < count && PQstatus(store->conn) != CONNECTION_BAD; i++)
        ok = read_step(store, &steps[i], &stopped, &first) && ok;
    ok = ok && PQstatus(store->conn) != CONNECTION_BAD;
    bool drained =
        PQstatus(store->conn) != CONNECTION_BAD && read_sync(store) && PQexitPipelineMode(store->conn) == 1;

    if (stopped)
        err_set(&first, ERR_CANCELLED, "stopped before the end");
    if (!drained || PQstatus(store->conn) == CONNECTION_BAD)
        pg_fail(store, NULL, "", &first);
    if (ok && drained && !stopped)
        return true;
    clear_whole(steps, count);
    pg_explain(store, &first);
    if (err && err->kind == ERR_NONE)
        *err = first;
    return false;
}

bool
pg_run(struct store *store, enum purpose purpose, struct pg_step *steps, size_t count, struct err *err)
{
    return send_run(store, purpose, steps, count, err) && read_run(store, steps, count, err);
}

// store_interrupt may look at it until this returns.
static void
share_interrupt(struct store *store, struct store *beside)
{
    atomic_store(&store->beside, beside);
    while (!beside && atomic_load(&store->interrupting) > 0)
        clock_sleep(US_PER_SECOND / 1000);
}

bool
pg_run_both(struct store *store, struct store *beside, enum purpose purpose, struct pg_step *steps,
            struct pg_step *others, size_t count, struct err *err)
{
    struct err other = {0};
    if (!beside)
        return pg_run(store, purpose, steps, count, err) && pg_run(store, purpose, others, count, err);
    share_interrupt(store, beside);
    bool is_sent = send_run(beside, purpose, others, count, &other);
    PQsetnonblocking(store->conn, 1); // sending must not wait for the other's answer to be taken
    bool ok = pg_run(store, purpose, steps, count, err);
    PQsetnonblocking(store->conn, 0);
    if (is_sent && !ok)
        stop_statement(beside);
    bool is_read = is_sent && read_run(beside, others, count, &other);
    share_interrupt(store, NULL);
    if (ok && is_read)
        return true;
    clear_whole(steps, count);
    clear_whole(others, count);
    if (err && err->kind == ERR_NONE)
        *err = other;
    return false;
}

static bool
run_one(struct store *store, enum purpose purpose, struct pg_step step, struct err *err)
{
    bool ok = pg_run(store, purpose, &step, 1, err);
    if (step.params)
        params_release(step.params);
    return ok;
}

bool
pg_ask(struct store *store, enum purpose purpose, const char *sql, struct params *params, PGresult **result,
       struct err *err)
{
    *result = NULL;
    return run_one(store, purpose, (struct pg_step){.sql = sql, .params = params, .whole = result}, err);
}

bool
pg_ask_of_event(struct store *store, const char *sql, int64_t id, PGresult **result, struct err *err)
{
    *result = NULL;
    if (store->info.schema_version == 0)
        return true;
    struct params params = {0};
    param_int8(&params, id);
    return pg_ask(store, FOR_READING, sql, &params, result, err);
}

bool
pg_ask_texts(struct store *store, enum purpose purpose, const char *sql, struct params *params,
             struct arena *arena, const char ***texts, size_t *count, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, purpose, sql, params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *texts = arena_array(arena, *count + 1, sizeof **texts);
    for (size_t i = 0; i < *count; i++)
        (*texts)[i] = value_text(r, (int)i, 0, arena);
    PQclear(r);
    return true;
}

bool
pg_do(struct store *store, enum purpose purpose, const char *sql, struct params *params, struct err *err)
{
    return run_one(store, purpose, (struct pg_step){.sql = sql, .params = params}, err);
}

bool
pg_stream(struct store *store, enum purpose purpose, const char *sql, struct params *params, pg_row_fn *each,
          void *context, struct err *err)
{
    return run_one(store, purpose,
                   (struct pg_step){.sql = sql, .params = params, .each = each, .context = context}, err);
}

struct until {
    pg_row_fn *each;
    void *context;
    bool is_enough;
};

static bool
read_until(void *context, const PGresult *row)
{
    struct until *until = context;
    until->is_enough = !until->each(until->context, row);
    return !until->is_enough;
}

bool
pg_stream_until(struct store *store, enum purpose purpose, const char *sql, struct params *params,
                pg_row_fn *each, void *context, struct err *err)
{
    struct until until = {.each = each, .context = context};
    struct err failure = {0};
    if (pg_stream(store, purpose, sql, params, read_until, &until, &failure) || until.is_enough)
        return true;
    if (err && err->kind == ERR_NONE)
        *err = failure;
    return false;
}

bool
pg_script(struct store *store, const char *sql, struct err *err)
{
    if (!store->conn || PQstatus(store->conn) == CONNECTION_BAD)
        return pg_fail(store, NULL, "", err);
    atomic_store(&store->was_interrupted, false);
    PGresult *result = PQexec(store->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    struct err failure = {0};
    if (!ok)
        pg_fail(store, PQstatus(store->conn) == CONNECTION_BAD ? NULL : result, sql, &failure);
    PQclear(result);
    if (ok)
        return true;
    pg_explain(store, &failure);
    if (err && err->kind == ERR_NONE)
        *err = failure;
    return false;
}

bool
pg_begin(struct store *store, enum purpose purpose, struct err *err)
{
    // Not what the role or the database may be set to: what is locked is looked at again by the next
    // statement.
    if (!pg_script(store, "BEGIN ISOLATION LEVEL READ COMMITTED", err))
        return false;
    struct params settings = {0};
    settings_params(store, purpose, &settings);
    store->is_in_transaction = true;
    if (pg_do(store, purpose, settings_sql, &settings, err))
        return true;
    pg_rollback(store);
    return false;
}

bool
pg_commit(struct store *store, struct err *err)
{
    // COMMIT of a failed transaction is answered with ROLLBACK and no error: that must not pass for success.
    PGTransactionStatusType state = store->conn ? PQtransactionStatus(store->conn) : PQTRANS_UNKNOWN;
    if (state == PQTRANS_INERROR) {
        pg_rollback(store);
        return err_set(err, ERR_INTERNAL, "a transaction that had failed was to be committed");
    }
    bool ok = pg_script(store, "COMMIT", err);
    store->is_in_transaction = false;
    return ok;
}

void
pg_rollback(struct store *store)
{
    store->is_in_transaction = false;
    if (!store->conn || PQstatus(store->conn) == CONNECTION_BAD ||
        PQtransactionStatus(store->conn) == PQTRANS_IDLE)
        return;
    PQclear(PQexec(store->conn, "ROLLBACK"));
}

enum { COPY_IDS = 10000, COPY_SIGNATURE = 11 };

// The binary form of COPY: signature, flags, extension; then rows of field count, length, value; at the end a
// field count of -1.
struct copy_reader {
    int64_t ids[COPY_IDS];
    size_t count;
    bool has_header;
    pg_ids_fn *each;
    void *context;
};

static bool
copy_row(void *context, const char *data, size_t len)
{
    struct copy_reader *reader = context;
    size_t at = 0;
    if (!reader->has_header) {
        at = COPY_SIGNATURE + 8;
        reader->has_header = true;
    }
    while (at + 14 <= len) {
        reader->ids[reader->count++] = pg_read64(data + at + 6);
        at += 14;
        if (reader->count == COPY_IDS) {
            reader->count = 0;
            if (!reader->each(reader->context, reader->ids, COPY_IDS))
                return false;
        }
    }
    return true;
}

struct copying {
    bool (*each)(void *context, const char *data, size_t len); // message by message
    bool (*idle)(void *context); // asked while nothing comes, false: stop; NULL: wait for ever
    void *context;
    bool is_stopped;
};

static void
copy_stop(struct store *store, struct copying *copying)
{
    copying->is_stopped = true;
    stop_statement(store);
}

// The server has sent nothing yet. False: the connection is gone.
static bool
copy_idle(struct store *store, struct copying *copying)
{
    enum { WAIT_MS = 10 };
    struct pollfd server = {.fd = PQsocket(store->conn), .events = POLLIN};
    if (poll(&server, 1, copying->is_stopped ? -1 : WAIT_MS) != 0)
        return PQconsumeInput(store->conn);
    if (copying->idle && !copying->idle(copying->context))
        copy_stop(store, copying);
    return true;
}

// The first answer to the statement, which comes with the first rows.
static PGresult *
copy_begin(struct store *store, const char *sql, struct copying *copying)
{
    if (!copying->idle)
        return PQexec(store->conn, sql);
    if (!PQsendQuery(store->conn, sql))
        return NULL;
    while (PQisBusy(store->conn) && copy_idle(store, copying))
        continue;
    return PQgetResult(store->conn);
}

static int
copy_next(struct store *store, struct copying *copying, char **data)
{
    bool may_wait = copying->idle != NULL;
    int len;
    while ((len = PQgetCopyData(store->conn, data, may_wait)) == 0)
        if (!copy_idle(store, copying))
            break;
    return len;
}

static bool
copy_out(struct store *store, const char *sql, struct copying *copying, struct err *err)
{
    struct strbuf text = {0};
    const struct pg_names names = pg_names(store);
    pg_expand(&text, sql, &names);
    PGresult *result = copy_begin(store, strbuf_text(&text), copying);
    strbuf_release(&text);
    struct err failure = {0};
    bool ok = PQresultStatus(result) == PGRES_COPY_OUT;
    if (!ok)
        pg_fail(store, PQstatus(store->conn) == CONNECTION_BAD ? NULL : result, sql, &failure);
    PQclear(result);

    char *data;
    int len;
    while (ok && (len = copy_next(store, copying, &data)) > 0) {
        if (!copying->is_stopped && !copying->each(copying->context, data, (size_t)len))
            copy_stop(store, copying);
        PQfreemem(data);
    }
    while ((result = PQgetResult(store->conn))) {
        if (ok && PQresultStatus(result) != PGRES_COMMAND_OK && !copying->is_stopped)
            pg_fail(store, result, sql, &failure);
        PQclear(result);
    }
    bool is_gone = PQstatus(store->conn) == CONNECTION_BAD;
    if (copying->is_stopped && !is_gone) {
        failure = (struct err){0};
        err_set(&failure, ERR_CANCELLED, "stopped before the end");
    }
    if (!err_is_set(&failure))
        return true;
    pg_explain(store, &failure);
    if (err && err->kind == ERR_NONE)
        *err = failure;
    return false;
}

static bool
copy_ids_idle(void *context)
{
    struct copy_reader *reader = context;
    return reader->each(reader->context, reader->ids, 0);
}

bool
pg_copy_ids(struct store *store, const char *sql, pg_ids_fn *each, void *context, struct err *err)
{
    static _Thread_local struct copy_reader reader;
    reader.count = 0;
    reader.has_header = false;
    reader.each = each;
    reader.context = context;
    struct copying copying = {.each = copy_row, .idle = copy_ids_idle, .context = &reader};
    if (!copy_out(store, sql, &copying, err))
        return false;
    if (reader.count && !each(context, reader.ids, reader.count))
        return err_set(err, ERR_CANCELLED, "stopped before the end");
    return true;
}

// A field of a row: its length, then its value; absent for NULL and for what is not there.
static struct bytes
next_field(const char *data, size_t len, size_t *at)
{
    if (len - *at < 4)
        return BYTES_ABSENT;
    int32_t size = pg_read32(data + *at);
    *at += 4;
    if (size < 0 || (size_t)size > len - *at)
        return BYTES_ABSENT;
    struct bytes field = {data + *at, (size_t)size};
    *at += field.len;
    return field;
}

struct rows_reader {
    bool has_header;
    pg_fields_fn *each;
    void *context;
};

// A message is one row, the first one with the header before it and the last one nothing but an end
// (PostgreSQL's copyto.c).
static bool
copy_fields(void *context, const char *data, size_t len)
{
    struct rows_reader *reader = context;
    size_t at = reader->has_header ? 0 : COPY_SIGNATURE + 8;
    reader->has_header = true;
    if (at + 2 >= len)
        return true;
    size_t count = (unsigned char)data[at + 1]; // of its two bytes the lower one
    struct bytes fields[PG_FIELDS] = {0};
    at += 2;
    for (size_t i = 0; i < count && i < PG_FIELDS; i++)
        fields[i] = next_field(data, len, &at);
    return reader->each(reader->context, fields);
}

bool
pg_copy_rows(struct store *store, const char *sql, pg_fields_fn *each, void *context, struct err *err)
{
    struct rows_reader reader = {.each = each, .context = context};
    struct copying copying = {.each = copy_fields, .context = &reader};
    return copy_out(store, sql, &copying, err);
}

struct pg_names
pg_names(const struct store *store)
{
    return (struct pg_names){
        .table_quoted = store->table.quoted, .table_text = store->table.text, .schema = store->schema.name};
}

// Is this occurrence of `redrive` the schema's name?
static bool
names_schema(const char *text, const char *at)
{
    const char *after = at + strlen("redrive");
    struct bytes before = {text, (size_t)(at - text)};
    char left = at > text ? at[-1] : ' ';
    bool is_word = !((left >= 'a' && left <= 'z') || (left >= 'A' && left <= 'Z') ||
                     (left >= '0' && left <= '9') || strchr("_$\"-./@", left));
    if (!is_word)
        return false;
    if (after[0] == '.')
        return ((after[1] >= 'a' && after[1] <= 'z') || strchr("_%\"", after[1])) && after[1] &&
               strncmp(after, ".%s", 3) != 0;
    return (left == '\'' && after[0] == '\'') || (bytes_ends(before, ", ") && after[0] == ',') ||
           ((bytes_ends(before, "SCHEMA ") || bytes_ends(before, "schema ")) && after[0] != '_' &&
            after[0] != '-');
}

void
pg_add_in_schema(struct strbuf *out, const char *text, const char *schema)
{
    const char *rest = text, *at = text;
    while (strcmp(schema, "redrive") != 0 && (at = strstr(at, "redrive"))) {
        const char *after = at + strlen("redrive");
        if (names_schema(text, at)) {
            strbuf_add(out, (struct bytes){rest, (size_t)(at - rest)});
            strbuf_add_text(out, schema);
            rest = after;
        }
        at = after;
    }
    strbuf_add_text(out, rest);
}

void
pg_expand(struct strbuf *out, const char *sql, const struct pg_names *names)
{
    struct strbuf in_schema = {0};
    const char *at;
    pg_add_in_schema(&in_schema, sql, names->schema);
    sql = strbuf_text(&in_schema);
    while ((at = strchr(sql, ':'))) {
        strbuf_add(out, (struct bytes){sql, (size_t)(at - sql)});
        if (strncmp(at, ":\"events\"", 9) == 0) {
            strbuf_add_text(out, names->table_quoted);
            sql = at + 9;
        } else if (strncmp(at, ":'events'", 9) == 0) {
            pg_literal(out, names->table_text);
            sql = at + 9;
        } else if (strncmp(at, ":'zone'", 7) == 0) {
            strbuf_add_text(out,
                            names->zone_sql ? names->zone_sql : "pg_catalog.current_setting('TimeZone')");
            sql = at + 7;
        } else {
            strbuf_add_char(out, ':');
            sql = at + 1;
        }
    }
    strbuf_add_text(out, sql);
    strbuf_release(&in_schema);
}

void
pg_literal(struct strbuf *out, const char *text)
{
    // The form that does not depend on standard_conforming_strings.
    strbuf_add_text(out, strchr(text, '\\') ? " E'" : "'");
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            strbuf_add_char(out, *c);
        strbuf_add_char(out, *c);
    }
    strbuf_add_char(out, '\'');
}
