// From SQLSTATE to a sentence that says what to do. Server texts may be in any language, so decisions are
// made by SQLSTATE, and the GRANT that helps is found by asking the catalog which right is missing rather
// than by reading the message.
#include "store/pg.h"

#include <stdio.h>
#include <string.h>
#include "store/contract.h"

// How SQLSTATEs are understood; a class of two characters matches all its codes. First match wins.
static const struct meaning {
    const char *state;
    enum err_kind kind;
    const char *sentence; // NULL: the server's own; with %s: the server's own goes in
} meanings[] = {
    {"RD001", ERR_CONFLICT, NULL},
    {"RD002", ERR_NOT_FOUND, NULL},
    {"RD003", ERR_DENIED, NULL},
    {"RD004", ERR_USAGE, NULL},
    {"RD005", ERR_STOPPED, NULL},
    {"57P01", ERR_UNREACHABLE, "the connection to PostgreSQL was ended by the server: %s"},
    {"57P02", ERR_UNREACHABLE, "PostgreSQL crashed and recovers: %s"},
    {"57P03", ERR_UNREACHABLE, "PostgreSQL does not accept connections now: %s"},
    {"57P05", ERR_UNREACHABLE, "the connection to PostgreSQL was ended by the server: %s"},
    {"08", ERR_UNREACHABLE, "the connection to PostgreSQL broke: %s"},
    {"25P03", ERR_UNREACHABLE, "PostgreSQL ended a transaction that was idle for too long: %s"},
    {"40", ERR_CONFLICT, "other sessions were busy with the same rows, nothing was changed; try again (%s)"},
    {"55P03", ERR_CONFLICT,
     "another session keeps the rows locked for too long, nothing was changed; try again (%s)"},
    {"42501", ERR_DENIED, "PostgreSQL does not allow this: %s"},
    {"28", ERR_DENIED, "PostgreSQL refuses the login: %s"},
    {"42P01", ERR_NOT_FOUND, "%s"},
    {"3F000", ERR_NOT_FOUND, "%s"},
    {"42883", ERR_NOT_FOUND, "%s"},
    {"3D000", ERR_USAGE, "%s"},
    {"22023", ERR_USAGE, "PostgreSQL does not take a value: %s"},
    {"53", ERR_UNREACHABLE, "PostgreSQL has no room or resources left, nothing was changed: %s"},
    {"", ERR_INTERNAL, "PostgreSQL answered with an error: %s"},
};

static const struct meaning *
meaning_of(const char *state)
{
    const struct meaning *m = meanings;
    while (strncmp(m->state, state, strlen(m->state)) != 0)
        m++;
    return m;
}

void
pg_one_line(const char *message, char *out, size_t room)
{
    size_t len = 0;
    for (const char *c = message ? message : ""; *c && len + 3 < room; c++) {
        if (*c != '\n' && *c != '\t') {
            out[len++] = *c;
        } else if (c[1] && len && out[len - 1] != ' ') {
            if (out[len - 1] != ':' && out[len - 1] != ';')
                out[len++] = ';';
            out[len++] = ' ';
        }
    }
    while (len && (out[len - 1] == ' ' || out[len - 1] == ';'))
        len--;
    out[len] = '\0';
}

static bool
fail_connection(struct store *store, struct err *err)
{
    char why[400];
    pg_one_line(store->conn ? PQerrorMessage(store->conn) : "", why, sizeof why);
    if (!store->conn)
        return err_set(err, ERR_UNREACHABLE, "there is no connection to PostgreSQL");
    return err_set(err, ERR_UNREACHABLE, "the connection to PostgreSQL broke: %s",
                   *why ? why : "it was closed");
}

static bool
fail_cancelled(struct store *store, struct err *err)
{
    if (atomic_load(&store->was_interrupted))
        return err_set(err, ERR_CANCELLED, "stopped as asked");
    return err_set(err, ERR_CANCELLED,
                   "PostgreSQL stopped the statement: it took too long (statement_timeout), or an "
                   "administrator cancelled it");
}

static void
note_statement(struct store *store, const char *sql)
{
    store->failed.on_contract = strstr(sql, ":\"events\"") != NULL;
    store->failed.function[0] = '\0';
    const char *call = strstr(sql, "redrive.");
    if (!call)
        return;
    call += strlen("redrive.");
    size_t len = strspn(call, "abcdefghijklmnopqrstuvwxyz_");
    if (len < sizeof store->failed.function && call[len] == '(')
        snprintf(store->failed.function, sizeof store->failed.function, "%.*s", (int)len, call);
}

bool
pg_fail(struct store *store, const PGresult *result, const char *sql, struct err *err)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (!state)
        return fail_connection(store, err);
    if (err && err->kind == ERR_NONE) {
        snprintf(err->sqlstate, sizeof err->sqlstate, "%.5s", state);
        note_statement(store, sql);
    }
    if (strcmp(state, "57014") == 0)
        return fail_cancelled(store, err);
    if (strcmp(state, "25006") == 0 && store->is_read_only)
        return err_set(err, ERR_DENIED, "this session is read-only (--read-only), nothing was changed");
    if (strcmp(state, "25006") == 0)
        return err_set(err, ERR_UNREACHABLE,
                       "the server is read-only now: a standby, or a failover is under way");

    char message[400], hint[200];
    pg_one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), message, sizeof message);
    pg_one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_HINT), hint, sizeof hint);
    const struct meaning *m = meaning_of(state);
    if (!m->sentence)
        return err_set(err, m->kind, "%s%s%s", message, *hint ? ": " : "", hint);

    // The table is ours; each sentence has exactly one %s.
    const char *hole = strstr(m->sentence, "%s");
    return err_set(err, m->kind, "%.*s%s%s", (int)(hole - m->sentence), m->sentence, message, hole + 2);
}

// The existing objects and the rights of this session on them. Catalog only, so it works without any right.
static const char rights_sql[] =
    "SELECT session_user::text, rn.oid IS NOT NULL, coalesce(pg_catalog.has_schema_privilege(rn.oid, "
    "'USAGE'), false),"
    " NOT EXISTS (SELECT FROM pg_catalog.pg_class r WHERE r.relnamespace = rn.oid AND r.relkind = 'r'"
    "   AND NOT pg_catalog.has_any_column_privilege(r.oid, 'SELECT')),"
    " f.oid IS NOT NULL, coalesce(pg_catalog.has_function_privilege(f.oid, 'EXECUTE'), false),"
    " pg_catalog.pg_get_userbyid(rn.nspowner)::text, t.oid IS NOT NULL, "
    "coalesce(pg_catalog.has_schema_privilege(tn.oid, 'USAGE'), false),"
    " t.oid IS NOT NULL AND " CONTRACT_MAY_READ ","
    " coalesce(pg_catalog.has_schema_privilege(rn.nspowner, tn.oid, 'USAGE'), true),"
    " coalesce(pg_catalog.has_table_privilege(rn.nspowner, t.oid, 'SELECT')"
    "   AND pg_catalog.has_table_privilege(rn.nspowner, t.oid, 'UPDATE'), true),"
    " pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'), "
    "pg_catalog.current_database()::text,"
    " (SELECT r.rolname::text FROM pg_catalog.pg_roles r JOIN unnest('{redrive_worker,redrive_operator,"
    "redrive_admin}'::name[]) WITH ORDINALITY AS l (role, place) ON l.role = r.rolname"
    "   WHERE pg_catalog.has_function_privilege(r.oid, f.oid, 'EXECUTE') ORDER BY l.place LIMIT 1)"
    " FROM (SELECT 1) AS one"
    " LEFT JOIN pg_catalog.pg_namespace rn ON rn.nspname = 'redrive'"
    " LEFT JOIN pg_catalog.pg_proc f ON f.pronamespace = rn.oid AND f.proname = $3"
    " LEFT JOIN pg_catalog.pg_namespace tn ON tn.nspname = $1"
    " LEFT JOIN pg_catalog.pg_class t ON t.relnamespace = tn.oid AND t.relname = $2"
    " LIMIT 1";

enum {
    USER,
    HAS_SCHEMA,
    MAY_SCHEMA,
    MAY_TABLES,
    HAS_FUNCTION,
    MAY_FUNCTION,
    OWNER,
    HAS_CONTRACT,
    MAY_CONTRACT_SCHEMA,
    MAY_CONTRACT,
    OWNER_MAY_SCHEMA,
    OWNER_MAY_CONTRACT,
    MAY_CREATE,
    DATABASE,
    ROLE, // the smallest of redrive's group roles that may call the function
};

// The catalog's answer, without the road through pg_run: that one explains its failures by this one.
static PGresult *
ask_rights(struct store *store)
{
    struct params params = {0};
    param_text(&params, store->table.schema);
    param_text(&params, store->table.name);
    param_text(&params, store->failed.function);
    struct strbuf sql = {0};
    pg_add_in_schema(&sql, rights_sql, store->schema.name);
    PGresult *result = PQexecParams(store->conn, strbuf_text(&sql), params.count, params.types, params.values,
                                    params.lengths, params.formats, 1);
    strbuf_release(&sql);
    params_release(&params);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        return result;
    PQclear(result);
    return NULL;
}

// Each of these says what is missing and returns true, or false where nothing of its kind is.
static bool
explain_contract(const struct store *store, const PGresult *r, const char *user, struct arena *arena,
                 struct err *err)
{
    const char *table = store->table.text, *grantee = store_quote_name(user, arena);
    if (!value_bool(r, 0, MAY_CONTRACT_SCHEMA) && value_bool(r, 0, HAS_CONTRACT))
        err_set(err, ERR_DENIED,
                "%s may not look into schema %s; its owner can allow it: GRANT USAGE ON SCHEMA %s TO %s;",
                user, store->table.schema, store_quote_name(store->table.schema, arena), grantee);
    else if (value_bool(r, 0, HAS_CONTRACT) && !value_bool(r, 0, MAY_CONTRACT))
        err_set(err, ERR_DENIED, "%s may not read %s; its owner can allow it: GRANT SELECT ON %s TO %s;",
                user, table, table, grantee);
    return err_is_set(err);
}

static bool
explain_ours(const struct store *store, const PGresult *r, const char *user, struct arena *arena,
             struct err *err)
{
    const char *owner = value_text(r, 0, OWNER, arena), *grantee = store_quote_name(user, arena);
    if (!value_bool(r, 0, HAS_SCHEMA))
        err_set(err, ERR_DENIED,
                "%s may not create the schema redrive; a database owner can allow it: GRANT CREATE ON "
                "DATABASE %s TO %s;",
                user, store_quote_name(value_text(r, 0, DATABASE, arena), arena), grantee);
    else if (!value_bool(r, 0, MAY_SCHEMA))
        err_set(err, ERR_DENIED,
                "%s may not use the schema redrive; its owner %s can allow it: GRANT USAGE ON SCHEMA redrive "
                "TO %s;",
                user, owner, grantee);
    else if (value_bool(r, 0, HAS_FUNCTION) && !value_bool(r, 0, MAY_FUNCTION) && !value_is_null(r, 0, ROLE))
        err_set(err, ERR_DENIED,
                "%s may not call redrive.%s; an administrator of the roles can allow it: GRANT %s TO %s;",
                user, store->failed.function, value_text(r, 0, ROLE, arena), grantee);
    else if (value_bool(r, 0, HAS_FUNCTION) && !value_bool(r, 0, MAY_FUNCTION))
        err_set(err, ERR_DENIED,
                "%s may not call redrive.%s; the schema's owner %s can allow it: GRANT EXECUTE ON FUNCTION "
                "redrive.%s TO %s;",
                user, store->failed.function, owner, store->failed.function, grantee);
    else if (!value_bool(r, 0, MAY_TABLES))
        err_set(err, ERR_DENIED,
                "%s may not read the tables of schema redrive; its owner %s can allow it: GRANT SELECT ON "
                "ALL TABLES IN "
                "SCHEMA redrive TO %s;",
                user, owner, grantee);
    return err_is_set(err);
}

// The functions of the schema act with the rights of its owner.
static void
explain_owner(const struct store *store, const PGresult *r, struct arena *arena, struct err *err)
{
    const char *owner = value_text(r, 0, OWNER, arena), *table = store->table.text;
    if (!value_bool(r, 0, OWNER_MAY_SCHEMA) || !value_bool(r, 0, OWNER_MAY_CONTRACT))
        err_set(err, ERR_DENIED,
                "%s, who owns the schema redrive, may not change %s; the table's owner can allow it: GRANT "
                "USAGE ON "
                "SCHEMA %s TO %s; GRANT SELECT, UPDATE ON %s TO %s;",
                owner, table, store_quote_name(store->table.schema, arena), store_quote_name(owner, arena),
                table, store_quote_name(owner, arena));
}

static void
explain_denied(const struct store *store, const PGresult *r, struct err *err)
{
    struct arena arena = {0};
    const char *user = value_text(r, 0, USER, &arena);
    bool is_said = store->failed.on_contract && explain_contract(store, r, user, &arena, err);
    if (!is_said && !explain_ours(store, r, user, &arena, err) &&
        !explain_contract(store, r, user, &arena, err))
        explain_owner(store, r, &arena, err);
    arena_release(&arena);
}

static void
explain_missing(const struct store *store, const PGresult *r, const char *message, struct err *err)
{
    struct arena arena = {0};
    const char *database = value_text(r, 0, DATABASE, &arena);
    if (!value_bool(r, 0, HAS_CONTRACT))
        err_set(err, ERR_NOT_FOUND,
                "there is no table %s in database %s: name the right one with --table SCHEMA.NAME, or the "
                "database with -d",
                store->table.text, database);
    else if (!value_bool(r, 0, HAS_SCHEMA))
        err_set(err, ERR_NOT_FOUND, "database %s has no schema redrive yet: run redrive migrate", database);
    else
        err_set(err, ERR_NOT_FOUND, "the schema redrive does not fit this program (%s): run redrive migrate",
                message);
    arena_release(&arena);
}

void
pg_explain(struct store *store, struct err *err)
{
    bool is_denied = strcmp(err->sqlstate, "42501") == 0;
    bool is_missing = strcmp(err->sqlstate, "42P01") == 0 || strcmp(err->sqlstate, "3F000") == 0 ||
                      strcmp(err->sqlstate, "42883") == 0;
    if ((!is_denied && !is_missing) || PQstatus(store->conn) == CONNECTION_BAD)
        return;
    if (PQtransactionStatus(store->conn) == PQTRANS_INERROR)
        pg_rollback(store);
    PGresult *rights = ask_rights(store);
    if (!rights)
        return;
    struct err better = {0};
    if (is_denied)
        explain_denied(store, rights, &better);
    else
        explain_missing(store, rights, err->text, &better);
    PQclear(rights);
    if (!err_is_set(&better))
        return;
    struct strbuf sentence = {0};
    pg_add_in_schema(&sentence, better.text, store->schema.name);
    snprintf(better.text, sizeof better.text, "%s", strbuf_text(&sentence));
    strbuf_release(&sentence);
    memcpy(better.sqlstate, err->sqlstate, sizeof better.sqlstate);
    *err = better;
}

bool
pg_may_write(const struct store *store, struct err *err)
{
    if (!store->is_read_only)
        return true;
    return err_set(err, ERR_DENIED, "this session is read-only (--read-only), nothing was changed");
}

bool
pg_has_schema(const struct store *store, struct err *err)
{
    if (store->info.schema_version > 0)
        return true;
    if (store->schema.is_new)
        return err_set(err, ERR_NOT_FOUND,
                       "redrive is not installed for %s yet: run redrive migrate --table %s",
                       store->table.text, store->table.text);
    return err_set(err, ERR_NOT_FOUND, "database %s has no schema redrive yet: run redrive migrate",
                   store->info.database);
}
