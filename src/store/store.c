#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/mapping.h"
#include "store/rollup/categories.h"
#include "store/pg.h"

// Defaults of a connection, unless the user's own string, environment or service file sets them.
static const struct {
    const char *keyword;
    const char *value;
    const char *environment; // speaks for the user when set
} defaults[] = {
    {"connect_timeout", "5", "PGCONNECT_TIMEOUT"},
    {"keepalives", "1", NULL},
    {"keepalives_idle", "20", NULL},
    {"keepalives_interval", "5", NULL},
    {"keepalives_count", "3", NULL},
    {"tcp_user_timeout", "20000", NULL}, // a firewall that forgot the flow leaves a socket that never fails
};
enum { DEFAULT_COUNT = sizeof defaults / sizeof defaults[0], KEYWORDS = DEFAULT_COUNT + 6 };

// A service file may name several servers of any role: its word stands.
static bool
has_service(const char *conninfo)
{
    PQconninfoOption *options = PQconninfoParse(conninfo, NULL);
    bool has = getenv("PGSERVICE") != NULL;
    for (const PQconninfoOption *o = options; o && o->keyword; o++)
        has = has || (o->val && strcmp(o->keyword, "service") == 0);
    PQconninfoFree(options);
    return has;
}

static PGconn *
connect_now(const struct store *store)
{
    const char *keywords[KEYWORDS + 1] = {0}, *values[KEYWORDS + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < DEFAULT_COUNT; i++) {
        if (defaults[i].environment && getenv(defaults[i].environment))
            continue;
        keywords[n] = defaults[i].keyword;
        values[n++] = defaults[i].value;
    }
    if (!store->is_read_only && !getenv("PGTARGETSESSIONATTRS") && !has_service(store->conninfo)) {
        keywords[n] = "target_session_attrs";
        values[n++] = "read-write";
    }
    // An empty string would be taken for the database's name.
    if (*store->conninfo) {
        keywords[n] = "dbname";
        values[n++] = store->conninfo;
    }
    char host[64] = "", name[160];
    if (gethostname(host, sizeof host) == 0)
        host[sizeof host - 1] = '\0';
    snprintf(name, sizeof name, "redrive/%s/%s/%ld", store->program, host, (long)getpid());
    keywords[n] = "application_name";
    values[n++] = name;
    keywords[n] = "client_encoding";
    values[n++] = "UTF8";
    return PQconnectdbParams(keywords, values, 1);
}

static void
ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

// Puts the new connection's cancel key where store_interrupt finds it. The thread that holds the old key at
// this moment frees it.
static void
publish_cancel(struct store *store, PGcancel *cancel)
{
    PQfreeCancel(atomic_exchange(&store->cancel, cancel));
}

static void
disconnect(struct store *store)
{
    publish_cancel(store, NULL);
    PQfinish(store->conn);
    store->conn = NULL;
    store->is_in_transaction = false;
}

// The remedy for a failure of TLS; libpq names the failure in OpenSSL's words.
static const char *
tls_advice(const char *why)
{
    if (strstr(why, "certificate verify failed"))
        return "; let sslrootcert name the file of the authority that signed the server's certificate, and "
               "see "
               "whether that is still in date";
    if (strstr(why, "does not match host name"))
        return "; connect by the name that is in it, or have it made for this one";
    if (strstr(why, "does not support SSL"))
        return "; it must be switched on there (ssl = on)";
    return "";
}

static bool
fail_connect(struct store *store, struct err *err)
{
    char why[500];
    pg_one_line(PQerrorMessage(store->conn), why, sizeof why);
    bool wants_password = PQconnectionNeedsPassword(store->conn) || PQconnectionUsedPassword(store->conn);
    disconnect(store);
    if (wants_password)
        return err_set(
            err, ERR_DENIED,
            "PostgreSQL cannot be entered: %s; passwords come from ~/.pgpass, a service file or -W", why);
    return err_set(err, ERR_UNREACHABLE, "PostgreSQL cannot be reached: %s%s",
                   *why ? why : "no reason was given", tls_advice(why));
}

static void
forget_table(struct store *store)
{
    free(store->table.text);
    free(store->table.quoted);
    free(store->table.schema);
    free(store->table.name);
    store->table.text = store->table.quoted = store->table.schema = store->table.name = NULL;
    store->table.is_mapped = false;
}

bool
pg_know_table(struct store *store, const char *table, struct err *err)
{
    forget_table(store);
    if (!pg_parse_table(table, &store->table.schema, &store->table.name, err))
        return false;
    struct strbuf quoted = {0}, shown = {0};
    pg_quote_table(&quoted, store->table.schema, store->table.name);
    pg_show_table(&shown, store->table.schema, store->table.name);
    store->table.quoted = strbuf_detach(&quoted);
    store->table.text = strbuf_detach(&shown);
    return true;
}

bool
pg_reach(struct store *store, struct err *err)
{
    // A wrong name needs no server.
    if (!pg_know_table(store, store->table.wanted ? store->table.wanted : STORE_TABLE, err))
        return false;
    disconnect(store);
    store->conn = connect_now(store);
    if (!store->conn)
        return err_set(err, ERR_UNREACHABLE, "PostgreSQL cannot be reached: out of memory");
    if (PQstatus(store->conn) != CONNECTION_OK)
        return fail_connect(store, err);
    PQsetNoticeReceiver(store->conn, ignore_notice, NULL);
    publish_cancel(store, PQgetCancel(store->conn));
    return true;
}

bool
store_reconnect(struct store *store, struct err *err)
{
    if (!pg_reach(store, err))
        return false;
    if (store_learn(store, err))
        return true;
    disconnect(store);
    return false;
}

bool
store_connect(struct store *store, struct err *err)
{
    return store_is_connected(store) || store_reconnect(store, err);
}

struct store *
store_create(const struct store_settings *settings)
{
    struct store *store = alloc_bytes(sizeof *store);
    store->table.wanted = settings->table ? alloc_text(settings->table) : NULL;
    store->table.takes_usual = settings->takes_usual;
    snprintf(store->schema.name, sizeof store->schema.name, "redrive");
    store->conninfo = alloc_text(settings->conninfo ? settings->conninfo : "");
    store->program = alloc_text(settings->program ? settings->program : "redrive");
    store->zone_wanted = settings->zone ? alloc_text(settings->zone) : NULL;
    store->is_read_only = settings->is_read_only;
    store->may_number = settings->may_number;
    store->max_replays = settings->max_replays ? settings->max_replays : 3;
    store->rules = settings->rules;
    store->group_rules = settings->group_rules;
    return store;
}

bool
store_open(struct store **store, const struct store_settings *settings, struct err *err)
{
    struct store *opened = store_create(settings);
    bool ok = store_connect(opened, err);
    if (!ok)
        store_close(opened);
    *store = ok ? opened : NULL;
    return ok;
}

void
store_close(struct store *store)
{
    if (!store)
        return;
    disconnect(store);
    while (atomic_load(&store->interrupting) > 0)
        clock_sleep(1000);
    PQfreeCancel(atomic_exchange(&store->cancel, NULL));
    group_cache_destroy(store->groups);
    free(store->unreadable);
    overrides_destroy(store->overrides);
    free(store->conninfo);
    free(store->program);
    free(store->zone_wanted);
    free(store->zone);
    free(store->table.wanted);
    forget_table(store);
    free(store);
}

bool
pg_is_same_server(const struct store *store, const struct store *other)
{
    const char *host = PQhost(store->conn), *other_host = PQhost(other->conn);
    const char *address = PQhostaddr(store->conn), *other_address = PQhostaddr(other->conn);
    return strcmp(host, other_host) == 0 && strcmp(address, other_address) == 0 &&
           strcmp(PQport(store->conn), PQport(other->conn)) == 0;
}

static bool
is_same_text(const char *text, const char *other)
{
    return text && other ? strcmp(text, other) == 0 : text == other;
}

bool
store_is_like(const struct store *store, const struct store_settings *settings)
{
    return is_same_text(store->conninfo, settings->conninfo) &&
           is_same_text(store->table.text, settings->table) &&
           is_same_text(store->zone_wanted, settings->zone) &&
           store->is_read_only == settings->is_read_only && store->rules == settings->rules &&
           store->group_rules == settings->group_rules;
}

// PostgreSQL reports both where they change (protocol, asynchronous operations).
static bool
takes_writes(const PGconn *conn)
{
    const char *standby = PQparameterStatus(conn, "in_hot_standby");
    const char *read_only = PQparameterStatus(conn, "default_transaction_read_only");
    return standby && read_only && strcmp(standby, "off") == 0 && strcmp(read_only, "off") == 0;
}

bool
store_become(struct store *store, const struct store_settings *settings)
{
    struct store_settings same = *settings;
    same.is_read_only = store->is_read_only;
    bool may_begin_to_write = !store->is_read_only || settings->is_read_only || takes_writes(store->conn);
    if (!store_is_connected(store) || !store_is_like(store, &same) || !may_begin_to_write)
        return false;
    store->is_read_only = settings->is_read_only;
    store->may_number = settings->may_number;
    store->table.takes_usual = settings->takes_usual;
    free(store->table.wanted);
    store->table.wanted = settings->table ? alloc_text(settings->table) : NULL;
    return true;
}

struct store *
pg_open_beside(const struct store *store)
{
    struct err ignored = {0};
    const struct store_settings settings = {.conninfo = store->conninfo,
                                            .table = store->table.text,
                                            .zone = store->zone,
                                            .is_read_only = store->is_read_only,
                                            .program = store->program,
                                            .max_replays = store->max_replays};
    struct store *beside = store_create(&settings);
    if (!pg_reach(beside, &ignored) || !pg_is_same_server(store, beside)) {
        store_close(beside);
        return NULL;
    }
    free(beside->table.quoted); // a view, where the table is mapped
    beside->table.quoted = alloc_text(store->table.quoted);
    beside->table.is_mapped = store->table.is_mapped;
    beside->schema = store->schema;
    beside->info = store->info;
    beside->zone = store->zone ? alloc_text(store->zone) : NULL;
    return beside;
}

bool
store_is_connected(const struct store *store)
{
    return store->conn && PQstatus(store->conn) == CONNECTION_OK;
}

int64_t
store_backoff(int attempt)
{
    const int64_t first = US_PER_SECOND / 10, longest = 5 * US_PER_SECOND;
    int64_t wait = attempt > 6 ? longest : first << (attempt < 0 ? 0 : attempt);
    if (wait > longest)
        wait = longest;
    uint32_t dice = 0;
    if (getrandom(&dice, sizeof dice, GRND_NONBLOCK) != (ssize_t)sizeof dice)
        dice = (uint32_t)clock_mono();
    // Half to whole: clients that lost the same server do not reconnect at the same moment.
    int64_t jittered = wait / 2 + (int64_t)(dice % (uint32_t)(wait / 2 + 1));
    return jittered < first ? first : jittered;
}

void
store_interrupt(struct store *store)
{
    // The key is taken out while it is used, so that a reconnect in the owner's thread cannot free it
    // meanwhile.
    atomic_fetch_add(&store->interrupting, 1);
    PGcancel *cancel = atomic_exchange(&store->cancel, NULL);
    if (cancel) {
        char why[256];
        atomic_store(&store->was_interrupted, true);
        if (!PQcancel(cancel, why, sizeof why))
            log_line(LOG_WARN, "statement not cancelled", LOG_TEXT("why", why));
        PGcancel *none = NULL;
        if (!atomic_compare_exchange_strong(&store->cancel, &none, cancel))
            PQfreeCancel(cancel);
    }
    struct store *beside = atomic_load(&store->beside);
    if (beside)
        store_interrupt(beside);
    atomic_fetch_sub(&store->interrupting, 1);
}

void
store_lane_interrupt(void *store)
{
    store_interrupt(store);
}

void
store_lane_close(void *store)
{
    store_close(store);
}

const struct store_info *
store_info(const struct store *store)
{
    return &store->info;
}

bool
store_now(struct store *store, int64_t *instant, struct err *err)
{
    PGresult *result;
    if (!pg_ask(store, FOR_READING, "SELECT pg_catalog.clock_timestamp()", NULL, &result, err))
        return false;
    *instant = value_time(result, 0, 0);
    PQclear(result);
    return true;
}

// Catalog only. Whoever may create a schema can make one that looks like an install, and what is in it runs
// with the rights of whoever looks; a superuser looks only where its owner may change the table, as redrive's
// must, or may refer to it, as guard.sql lets redrive's where the table is mapped.
static const char server_sql[] =
    "SELECT session_user::text, pg_catalog.current_database()::text,"
    " pg_catalog.current_setting('server_version_num')::int4,"
    " EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relname = "
    "'schema_version'),"
    " coalesce(me.rolsuper AND NOT o.rolsuper AND NOT coalesce(pg_catalog.has_table_privilege(o.oid, t.oid, "
    "'UPDATE, REFERENCES'), false), false), o.rolname::text"
    " FROM pg_catalog.pg_roles me LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'redrive'"
    " LEFT JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner"
    " LEFT JOIN (pg_catalog.pg_class t JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace)"
    "   ON s.nspname = $1 AND t.relname = $2 WHERE me.rolname = session_user";

static bool
fail_distrusted(const struct store *store, const PGresult *r, struct err *err)
{
    char owner[128];
    value_copy(r, 0, 5, owner, sizeof owner);
    return err_set(
        err, ERR_DENIED,
        "the schema %s belongs to %s, who may not change %s, so nothing in it is called by a "
        "superuser: where it is redrive's, grant %s on the table to %s; where nobody knows it, DROP "
        "SCHEMA %s CASCADE",
        store->schema.name, owner, store->table.text, store->table.is_mapped ? "REFERENCES" : "UPDATE", owner,
        store->schema.name);
}

static bool
learn_server(struct store *store, bool *has_schema, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    param_text(&params, store->table.schema);
    param_text(&params, store->table.name);
    if (!pg_ask(store, FOR_READING, server_sql, &params, &r, err))
        return false;
    struct store_info *info = &store->info;
    value_copy(r, 0, 0, info->user, sizeof info->user);
    value_copy(r, 0, 1, info->database, sizeof info->database);
    info->server_version = value_int4(r, 0, 2);
    *has_schema = value_bool(r, 0, 3) && !store->schema.is_new;
    const char *host = PQhost(store->conn);
    snprintf(info->host, sizeof info->host, "%s", host ? host : "");
    bool ok = !(*has_schema && value_bool(r, 0, 4)) || fail_distrusted(store, r, err);
    PQclear(r);
    return ok;
}

static bool
learn_install(struct store *store, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT (SELECT max(version) FROM redrive.schema_version)::int8, i.id::text, i.source_table, "
                "i.zone, redrive.is_copy(),"
                " EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'redrive'::regnamespace"
                "          AND p.proname = 'operation_begin' AND "
                "pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))"
                " FROM redrive.install i",
                NULL, &r, err))
        return false;
    bool ok =
        PQntuples(r) == 1 ||
        err_set(err, ERR_DATA, "the schema redrive has no install row: it was not made by redrive migrate");
    if (ok) {
        store->info.schema_version = value_int8(r, 0, 0);
        value_copy(r, 0, 1, store->info.install, sizeof store->info.install);
        store->info.is_copy = value_bool(r, 0, 4);
        store->info.may_decide = value_bool(r, 0, 5);
        struct bytes table = value_bytes(r, 0, 2), zone = value_bytes(r, 0, 3);
        ok = bytes_equal_text(table, store->table.text) ||
             err_set(err, ERR_USAGE, "the schema %s is that of the table %.*s, not of %s", store->schema.name,
                     BYTES_ARGS(table), store->table.text);
        if (ok && !store->zone_wanted) {
            free(store->zone);
            store->zone = strndup(zone.data, zone.len);
        }
    }
    PQclear(r);
    return ok;
}

static bool
learn_zone(struct store *store, struct err *err)
{
    struct params params = {0};
    param_text(&params, store->zone);
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT z.name, (extract(epoch FROM (now() AT TIME ZONE z.name) - (now() AT TIME ZONE "
                "'UTC')))::int8"
                " FROM (SELECT coalesce($1, pg_catalog.current_setting('TimeZone')) AS name) z",
                &params, &r, err))
        return err_context(err, "the time zone of the table");
    if (!store->zone)
        store->zone = strndup(PQgetvalue(r, 0, 0), (size_t)PQgetlength(r, 0, 0));
    store->info.zone_us = value_int8(r, 0, 1) * US_PER_SECOND;
    PQclear(r);
    return true;
}

bool
store_learn(struct store *store, struct err *err)
{
    store->info = (struct store_info){0};
    free(store->zone);
    store->zone = store->zone_wanted ? alloc_text(store->zone_wanted) : NULL;
    store->categories = SEEN_UNKNOWN;
    bool has_schema, has_changed;
    if (!pg_find_schema(store, err) || !learn_server(store, &has_schema, err) ||
        (has_schema && !learn_install(store, err)) || !learn_zone(store, err))
        return false;
    // Where it fails, what is read next says why; and migrate can mend it.
    struct err failure = {0};
    if (has_schema && !mapping_look(store, &failure))
        log_line(LOG_WARN, "the mapped table was not looked at", LOG_TEXT("why", failure.text));
    return !has_schema || store_categories_look(store, &has_changed, err);
}
