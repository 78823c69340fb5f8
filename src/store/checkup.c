#include "store/checkup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "store/checkup_rules.h"
#include "store/contract.h"
#include "store/mapping.h"
#include "store/operations/archive.h"
#include "store/operations/turns.h"
#include "store/pg.h"
#include "store/schema.h"

struct checkup {
    struct store *store;
    checkup_fn *found;
    void *context;
};

// The schema is written `redrive` in all sentences and remedies.
static void
pass_on(const struct checkup *checkup, enum checkup_verdict verdict, const char *remedy, const char *sentence)
{
    struct strbuf told = {0}, advised = {0};
    pg_add_in_schema(&told, sentence, checkup->store->schema.name);
    pg_add_in_schema(&advised, remedy ? remedy : "", checkup->store->schema.name);
    checkup->found(checkup->context, verdict, strbuf_text(&told), strbuf_text(&advised));
    strbuf_release(&told);
    strbuf_release(&advised);
}

__attribute__((format(printf, 4, 5))) static void
tell(const struct checkup *checkup, enum checkup_verdict verdict, const char *remedy, const char *format, ...)
{
    char sentence[500];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    pass_on(checkup, verdict, remedy, sentence);
}

static void
tell_judgement(const struct checkup *checkup, const struct judgement *judgement)
{
    pass_on(checkup, judgement->verdict, judgement->remedy, judgement->sentence);
}

// For a statement that a person is to run.
static const char *
literal(const char *text, struct arena *arena)
{
    struct strbuf quoted = {0};
    pg_literal(&quoted, text);
    const char *kept = arena_text(arena, strbuf_bytes(&quoted));
    strbuf_release(&quoted);
    return kept;
}

// --- the server ---

static void
check_versions(const struct checkup *checkup)
{
    const struct store_info *info = &checkup->store->info;
    char where[440];
    snprintf(where, sizeof where, "at %.200s, database %.100s, as %.100s", info->host, info->database,
             info->user);
    const struct judgement judgement = checkup_judge_version(info->server_version, where);
    tell_judgement(checkup, &judgement);
    tell(checkup, CHECKUP_OK, "", "libpq %d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
}

static const char server_sql[] = "SELECT name, setting FROM pg_catalog.pg_settings"
                                 " WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', "
                                 "'synchronous_standby_names') ORDER BY name";

static bool
check_durability(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING, server_sql, NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        struct judgement judgement;
        if (checkup_judge_setting(value_text(r, i, 0, &arena), value_text(r, i, 1, &arena), &judgement))
            tell_judgement(checkup, &judgement);
    }
    arena_release(&arena);
    PQclear(r);
    return true;
}

static bool
check_state(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    int64_t before = clock_now();
    if (!pg_ask(checkup->store, FOR_READING,
                "SELECT pg_catalog.clock_timestamp(), pg_catalog.pg_is_in_recovery(),"
                " pg_catalog.current_setting('server_encoding')",
                NULL, &r, err))
        return false;
    // The server's answer lies between the two readings of our clock: half the way is the best guess.
    int64_t ours = before + (clock_now() - before) / 2;
    struct judgement judgement = checkup_judge_clock((double)(value_time(r, 0, 0) - ours) / US_PER_SECOND);
    tell_judgement(checkup, &judgement);
    if (value_bool(r, 0, 1))
        tell(checkup, CHECKUP_NOTE, "connect to the primary to change something",
             "this server is a standby: reading only");
    char encoding[32];
    value_copy(r, 0, 2, encoding, sizeof encoding);
    if (checkup_judge_encoding(encoding, &judgement))
        tell_judgement(checkup, &judgement);
    PQclear(r);
    return true;
}

// Is what goes over the network encrypted, and is it known to whom?
static void
check_link(const struct checkup *checkup)
{
    const char *host = PQhost(checkup->store->conn), *address = PQhostaddr(checkup->store->conn);
    bool is_local = !host || host[0] == '/' || !address || strncmp(address, "127.", 4) == 0 ||
                    strcmp(address, "::1") == 0;
    struct link_seen seen = {
        .host = host,
        .is_local = is_local,
        .tls = PQsslInUse(checkup->store->conn) ? PQsslAttribute(checkup->store->conn, "protocol") : NULL};
    PQconninfoOption *options = PQconninfo(checkup->store->conn);
    for (const PQconninfoOption *o = options; o && o->keyword; o++)
        seen.is_verified = seen.is_verified || (strcmp(o->keyword, "sslmode") == 0 && o->val &&
                                                strcmp(o->val, "verify-full") == 0);
    PQconninfoFree(options);
    const struct judgement judgement = checkup_judge_link(&seen);
    tell_judgement(checkup, &judgement);
}

// Several hosts behind one login: the audit cannot tell them apart.
static bool
check_login(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    if (!pg_ask(checkup->store, FOR_READING,
                "SELECT count(DISTINCT split_part(application_name, '/', 3))::int8 FROM "
                "pg_catalog.pg_stat_activity"
                " WHERE usename = session_user AND application_name LIKE 'redrive/%'",
                NULL, &r, err))
        return false;
    int64_t hosts = value_int8(r, 0, 0);
    PQclear(r);
    if (hosts > 1)
        tell(checkup, CHECKUP_NOTE,
             "give every operator a login of their own, also behind a pooler (auth_user is not one)",
             "%" PRId64 " hosts use the login %s: the audit cannot tell their decisions apart", hosts,
             checkup->store->info.user);
    return true;
}

// --- the contract table ---

static const char columns_sql[] =
    "SELECT w.name, w.types, pg_catalog.format_type(a.atttypid, NULL) FROM (VALUES"
    " ('id', 'bigint integer'), ('event_id', 'character varying text'), ('event_type', 'character varying "
    "text'),"
    " ('source_table', 'character varying text'), ('source_id', 'character varying text'), ('event_payload', "
    "'jsonb'),"
    " ('error_message', 'text character varying'), ('stack_trace', 'text character varying'), "
    "('retry_count', 'integer'),"
    " ('max_retries', 'integer'), ('status', 'character varying text'), ('created_at', 'timestamp without "
    "time zone'),"
    " ('last_retry_at', 'timestamp without time zone'), ('resolved_at', 'timestamp without time zone'),"
    " ('resolved_by', 'character varying text'), ('kafka_offset', 'bigint'), ('kafka_partition', 'integer'),"
    " ('kafka_topic', 'character varying text'), ('correlation_id', 'uuid')) AS w(name, types)"
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = $1::oid AND a.attname = w.name AND NOT "
    "a.attisdropped"
    " WHERE a.attname IS NULL OR position(pg_catalog.format_type(a.atttypid, NULL) IN w.types) = 0";

static bool
check_columns(const struct checkup *checkup, int64_t table, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    struct arena arena = {0};
    param_int8(&params, table);
    if (!pg_ask(checkup->store, FOR_READING, columns_sql, &params, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        const char *type = value_text(r, i, 2, &arena);
        tell(checkup, CHECKUP_WRONG, "--table names another one, or its owner restores the column",
             "%s.%s is %s instead of %s", checkup->store->table.text, value_text(r, i, 0, &arena),
             type != NULL ? type : "missing", value_text(r, i, 1, &arena));
    }
    if (PQntuples(r) == 0)
        tell(checkup, CHECKUP_OK, "", "%s has all its columns", checkup->store->table.text);
    arena_release(&arena);
    PQclear(r);
    return true;
}

static const char table_sql[] =
    "SELECT t.oid::int8, pg_catalog.has_schema_privilege(n.oid, 'USAGE'), " CONTRACT_MAY_READ ","
    " EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND "
    "a.attnum = i.indkey[0]"
    "          WHERE i.indrelid = t.oid AND a.attname = 'id' AND i.indisvalid AND i.indpred IS NULL),"
    " r.nspowner IS NULL OR pg_catalog.has_schema_privilege(r.nspowner, n.oid, 'USAGE'),"
    " r.nspowner IS NULL OR pg_catalog.has_table_privilege(r.nspowner, t.oid, 'SELECT'),"
    " r.nspowner IS NULL OR pg_catalog.has_table_privilege(r.nspowner, t.oid, 'UPDATE'),"
    " pg_catalog.quote_ident(session_user), pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(r.nspowner)),"
    " pg_catalog.quote_ident(n.nspname)"
    " FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace"
    " LEFT JOIN pg_catalog.pg_namespace r ON r.nspname = 'redrive' WHERE n.nspname = $1 AND t.relname = $2";

enum {
    T_OID,
    T_USAGE,
    T_SELECT,
    T_ID_INDEX,
    T_OWNER_USAGE,
    T_OWNER_SELECT,
    T_OWNER_UPDATE,
    T_USER,
    T_OWNER,
    T_SCHEMA
};

static void
check_right(const struct checkup *checkup, bool has, const char *what, const char *on, const char *role)
{
    char remedy[400];
    snprintf(remedy, sizeof remedy, "GRANT %s ON %s TO %s;", what, on, role);
    if (has)
        tell(checkup, CHECKUP_OK, "", "%s has %s on %s", role, what, on);
    else
        tell(checkup, CHECKUP_DENIED, remedy, "%s lacks %s on %s", role, what, on);
}

static void
check_table_rights(const struct checkup *checkup, const PGresult *r)
{
    struct arena arena = {0};
    const char *table = checkup->store->table.text, *user = value_text(r, 0, T_USER, &arena),
               *owner = value_text(r, 0, T_OWNER, &arena);
    const char *schema = arena_printf(&arena, "SCHEMA %s", value_text(r, 0, T_SCHEMA, &arena));
    check_right(checkup, value_bool(r, 0, T_USAGE), "USAGE", schema, user);
    check_right(checkup, value_bool(r, 0, T_SELECT), "SELECT", table, user);
    if (owner != NULL && strcmp(owner, user) != 0) { // changes run with the rights of the schema's owner
        check_right(checkup, value_bool(r, 0, T_OWNER_USAGE), "USAGE", schema, owner);
        check_right(checkup, value_bool(r, 0, T_OWNER_SELECT), "SELECT", table, owner);
    }
    if (owner != NULL)
        check_right(checkup, value_bool(r, 0, T_OWNER_UPDATE), "UPDATE", table, owner);
    arena_release(&arena);
}

static bool
check_table(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    if (checkup->store->table.is_mapped)
        return mapping_checkup(checkup->store, checkup->found, checkup->context, err);
    param_text(&params, checkup->store->table.schema);
    param_text(&params, checkup->store->table.name);
    if (!pg_ask(checkup->store, FOR_READING, table_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 0) {
        PQclear(r);
        tell(checkup, CHECKUP_WRONG, "give --table SCHEMA.NAME, or set table in the configuration",
             "there is no table %s", checkup->store->table.text);
        return true;
    }
    check_table_rights(checkup, r);
    if (!value_bool(r, 0, T_ID_INDEX))
        tell(checkup, CHECKUP_WRONG, "its owner makes one: CREATE INDEX CONCURRENTLY on (id)",
             "%s has no index that begins with id: every page reads the whole table",
             checkup->store->table.text);
    int64_t table = value_int8(r, 0, T_OID);
    PQclear(r);
    return check_columns(checkup, table, err);
}

// --- our own schema ---

static const char tables_sql[] =
    "SELECT c.oid::regclass::text, pg_catalog.quote_ident(session_user) FROM pg_catalog.pg_class c"
    " WHERE c.relnamespace = 'redrive'::regnamespace AND c.relkind = 'r'"
    " AND NOT pg_catalog.has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1";

static bool
check_tables(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING, tables_sql, NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        check_right(checkup, false, "SELECT", value_text(r, i, 0, &arena), value_text(r, i, 1, &arena));
    if (PQntuples(r) == 0)
        tell(checkup, CHECKUP_OK, "", "%s has SELECT on all tables of the schema redrive",
             checkup->store->info.user);
    arena_release(&arena);
    PQclear(r);
    return true;
}

// One row per level, in the order of the words below: how many functions there are, how many this user may
// call, and one that he may not.
static const char levels_sql[] =
    "SELECT l.role, EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = l.role), count(f.oid),"
    " count(f.oid) FILTER (WHERE f.may), min(f.oid::regprocedure::text) FILTER (WHERE NOT f.may),"
    " pg_catalog.quote_ident(session_user)"
    " FROM (VALUES (1, 'worker', 'redrive_worker'), (2, 'operator', 'redrive_operator'),"
    " (3, 'admin', 'redrive_admin')) AS l (place, name, role)"
    " LEFT JOIN (SELECT p.oid, redrive.level_of(p.proname) AS level,"
    "                   pg_catalog.has_function_privilege(p.oid, 'EXECUTE') AS may FROM pg_catalog.pg_proc p"
    "             WHERE p.pronamespace = 'redrive'::regnamespace AND p.prosecdef AND p.proname !~ '^_'"
    "               AND p.proname NOT IN ('is_copy', 'grants')) f ON f.level = l.name"
    " GROUP BY l.place, l.role ORDER BY l.place";

// A level that one has in part is a migration whose functions were not granted; one that one does not have at
// all is somebody's decision.
enum { LEVELS = 3 };

static void
check_level(const struct checkup *checkup, const PGresult *r, int row)
{
    static const char *const may[LEVELS] = {"may carry operations out",
                                            "may ask for operations and steer them",
                                            "may decide chunks in doubt and adopt a copy"},
                             *const may_not[LEVELS] = {"carries no operations out",
                                                       "looks only: asks for no operations",
                                                       "decides no chunks in doubt"};
    struct arena arena = {0};
    int64_t all = value_int8(r, row, 2), mine = value_int8(r, row, 3);
    const char *role = value_text(r, row, 0, &arena), *user = value_text(r, row, 5, &arena);
    const char *remedy =
        value_bool(r, row, 1)
            ? arena_printf(&arena, "GRANT %s TO %s;", role, user)
            : arena_printf(&arena,
                           "redrive migrate --roles, then GRANT %s TO %s; (or what SELECT "
                           "redrive.grants(%s, '%s') prints)",
                           role, user, literal(checkup->store->info.user, &arena), strchr(role, '_') + 1);
    if (mine == all)
        tell(checkup, CHECKUP_OK, "", "%s %s", user, may[row]);
    else if (mine > 0)
        tell(checkup, CHECKUP_DENIED, remedy,
             "%s may call only %" PRId64 " of the %" PRId64 " functions of a redrive %s, not %s for one",
             user, mine, all, strchr(role, '_') + 1, value_text(r, row, 4, &arena));
    else
        tell(checkup, CHECKUP_NOTE, remedy, "%s %s", user, may_not[row]);
    arena_release(&arena);
}

static bool
check_levels(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    if (!pg_ask(checkup->store, FOR_READING, levels_sql, NULL, &r, err))
        return false;
    for (int level = 0; level < PQntuples(r) && level < LEVELS; level++)
        check_level(checkup, r, level);
    PQclear(r);
    return true;
}

static const char doubt_sql[] = "SELECT s.cluster, s.no, coalesce(s.note, 'no reason is known'), "
                                "c.operation_no, left(c.id::text, 8), c.events"
                                " FROM redrive.slot s LEFT JOIN redrive.chunk c ON c.cluster = s.cluster AND "
                                "c.slot = s.no AND c.state = 'in doubt'"
                                " WHERE s.is_suspended ORDER BY s.cluster, s.no";

// Cases that wait for a person's decision.
static bool
check_doubt(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING, doubt_sql, NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        const char *cluster = value_text(r, i, 0, &arena), *why = value_text(r, i, 2, &arena);
        if (value_is_null(r, i, 3))
            tell(checkup, CHECKUP_WRONG,
                 arena_printf(&arena, "when it is understood: SELECT redrive.slot_renew(%s, %d, 'why');",
                              literal(cluster, &arena), value_int4(r, i, 1)),
                 "slot %d of cluster %s is suspended: %s", value_int4(r, i, 1), cluster, why);
        else
            tell(
                checkup, CHECKUP_WRONG,
                arena_printf(
                    &arena,
                    "a worker searches the topics for it; if that does not end it, redrive operation %" PRId64
                    " says how to decide",
                    value_int8(r, i, 3)),
                "chunk %s of operation %" PRId64 ", %d events, is in doubt: %s", value_text(r, i, 4, &arena),
                value_int8(r, i, 3), value_int4(r, i, 5), why);
    }
    arena_release(&arena);
    PQclear(r);
    return true;
}

static bool
check_archive(const struct checkup *checkup, struct err *err)
{
    int64_t events, last_at;
    char count[TEXT_SHORT], age[TEXT_SHORT];
    struct err failure = {0};
    if (!archive_holds(checkup->store, &events, &last_at, &failure))
        return failure.kind == ERR_DENIED || err_set(err, failure.kind, "%s", failure.text); // told already
    if (last_at != TIME_ABSENT)
        tell(checkup, CHECKUP_OK, "", "the archive holds %s events; the last came %s ago",
             text_count(events, count), text_age(clock_now() - last_at, age));
    return true;
}

static const char owner_sql[] =
    "SELECT o.rolname::text, CASE WHEN o.rolsuper THEN 'is a superuser' WHEN o.rolcreaterole THEN 'may "
    "create "
    "roles'"
    "  WHEN o.rolbypassrls THEN 'may bypass row level security' WHEN o.rolreplication THEN 'may replicate'"
    "  WHEN o.rolcreatedb THEN 'may create databases' END, o.rolcanlogin, coalesce(w.rolname::text, ''),"
    " coalesce(w.rolsuper, true), coalesce(t.relrowsecurity, false),"
    " (SELECT string_agg(g.tgname, ', ' ORDER BY g.tgname) FROM pg_catalog.pg_trigger g WHERE g.tgrelid = "
    "t.oid"
    "   AND NOT g.tgisinternal)"
    " FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner"
    " LEFT JOIN (pg_catalog.pg_class t JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace"
    "            JOIN pg_catalog.pg_roles w ON w.oid = t.relowner) ON s.nspname = $1 AND t.relname = $2"
    " WHERE n.nspname = 'redrive'";

enum { O_OWNER, O_ATTRIBUTE, O_LOGIN, O_TABLE_OWNER, O_TABLE_SUPER, O_ROW_SECURITY, O_TRIGGERS };

// With whose rights are events changed, and what else happens then?
static bool
check_owner(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    struct arena arena = {0};
    const char *table = checkup->store->table.text;
    param_text(&params, checkup->store->table.schema);
    param_text(&params, checkup->store->table.name);
    if (!pg_ask(checkup->store, FOR_READING, owner_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 1) {
        const struct owner_seen seen = {.owner = value_text(r, 0, O_OWNER, &arena),
                                        .attribute = value_text(r, 0, O_ATTRIBUTE, &arena),
                                        .may_log_in = value_bool(r, 0, O_LOGIN),
                                        .table = table,
                                        .table_owner = value_text(r, 0, O_TABLE_OWNER, &arena),
                                        .is_table_owner_super = value_bool(r, 0, O_TABLE_SUPER)};
        const struct judgement judgement = checkup_judge_owner(&seen);
        tell_judgement(checkup, &judgement);
        if (!value_is_null(r, 0, O_TRIGGERS))
            tell(checkup, CHECKUP_NOTE, "look at them: what fails in one ends every operation",
                 "triggers on %s run with the rights of %s when redrive changes an event: %s", table,
                 seen.owner, value_text(r, 0, O_TRIGGERS, &arena));
        if (value_bool(r, 0, O_ROW_SECURITY))
            tell(
                checkup, CHECKUP_WRONG, "give redrive's roles only to those who may see and close all rows",
                "%s has row level security, which redrive does not keep: counts, texts and operations are of "
                "all rows",
                table);
    }
    arena_release(&arena);
    PQclear(r);
    return true;
}

static const char foreign_sql[] =
    "SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) || ' belongs to ' ||"
    "   pg_catalog.pg_get_userbyid(coalesce(s.refobjid, 10)), 'DROP it, if nobody knows what it is for'"
    " FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_depend d ON d.refobjid = n.oid"
    " LEFT JOIN pg_catalog.pg_shdepend s ON s.classid = d.classid AND s.objid = d.objid AND s.objsubid = 0"
    "  AND s.deptype = 'o' AND s.dbid = (SELECT b.oid FROM pg_catalog.pg_database b"
    "                                    WHERE b.datname = pg_catalog.current_database())"
    " WHERE n.nspname = 'redrive' AND d.refclassid = 'pg_catalog.pg_namespace'::regclass"
    "   AND coalesce(s.refobjid, 10) <> n.nspowner" // without a note: of the role that initdb made
    " UNION ALL"
    " SELECT g.who || ' may create functions in it', 'REVOKE CREATE ON SCHEMA redrive FROM ' || g.who || ';'"
    " FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC'"
    "   ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END AS who"
    "   FROM pg_catalog.aclexplode(n.nspacl) a WHERE a.privilege_type = 'CREATE' AND a.grantee <> "
    "n.nspowner) g"
    " WHERE n.nspname = 'redrive' ORDER BY 1 LIMIT 20";

// Whoever can put a function into the schema can have it called with the rights of others.
static bool
check_foreign(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING, foreign_sql, NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        tell(checkup, CHECKUP_WRONG, value_text(r, i, 1, &arena), "in the schema redrive: %s",
             value_text(r, i, 0, &arena));
    if (PQntuples(r) == 0)
        tell(checkup, CHECKUP_OK, "", "everything in the schema redrive belongs to its owner");
    arena_release(&arena);
    PQclear(r);
    return true;
}

// Nothing is published from a database that does not hold what Kafka holds.
static bool
check_stop(const struct checkup *checkup, struct err *err)
{
    static const char remedy[] =
        "as an administrator: redrive migrate --adopt --dry-run (this is the true one), or "
        "redrive migrate --as-copy --dry-run (this is a copy)";
    char cluster[64];
    struct turn turn;
    if (!turn_stopped(checkup->store, cluster, &turn, err))
        return false;
    if (turn.stop != STOP_NONE)
        tell(checkup, CHECKUP_WRONG, remedy, "nothing is published to %s: %.450s", cluster, turn.stop_detail);
    else if (checkup->store->info.is_copy)
        tell(checkup, CHECKUP_WRONG, remedy,
             "nothing is published: this is another database than the one that redrive was installed in, so "
             "it "
             "is a copy or it was restored from one");
    return true;
}

static bool
check_alarms(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(
            checkup->store, FOR_READING,
            "SELECT sentence, what FROM redrive.alarm WHERE at > pg_catalog.now() - interval '7 days' AND "
            "what <> 'unfit' ORDER BY no DESC LIMIT 5",
            NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        tell(checkup, CHECKUP_WRONG,
             bytes_equal_text(value_bytes(r, i, 1), "end fell back")
                 ? "set unclean.leader.election.enable=false for dead letter topics; redrive.alarm has the "
                   "offsets"
                 : "raise retention.ms of dead letter topics, and let redrive ingest run without pause; "
                   "redrive.alarm has the offsets",
             "%s", value_text(r, i, 0, &arena));
    arena_release(&arena);
    PQclear(r);
    return true;
}

static bool
check_unfit(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(
            checkup->store, FOR_READING,
            "SELECT why, count(*), count(DISTINCT topic) FROM redrive.unfit GROUP BY why ORDER BY 2 DESC, "
            "1 LIMIT 5",
            NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++)
        tell(checkup, CHECKUP_WRONG,
             "change the constraint or the trigger: they are tried again every ten minutes, and when redrive "
             "ingest starts",
             "the table of dead letters refuses %" PRId64 " dead letters of %" PRId64 " topics: %.300s",
             value_int8(r, i, 1), value_int8(r, i, 2), value_text(r, i, 0, &arena));
    arena_release(&arena);
    PQclear(r);
    return true;
}

// Dead letters that only point at their original have no payload until redrive ingest has read it.
static bool
check_originals(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING,
                "SELECT o.topic, count(*), (SELECT w.why FROM redrive.original w WHERE w.topic = o.topic AND"
                " w.state = 'waiting' AND w.why IS NOT NULL ORDER BY w.next_at DESC LIMIT 1)"
                " FROM redrive.original o WHERE o.state = 'waiting' AND (o.tries >= 3 OR"
                " o.at < pg_catalog.clock_timestamp() - interval '2 min')"
                " GROUP BY o.topic ORDER BY 2 DESC, 1 LIMIT 5",
                NULL, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        const char *why = value_text(r, i, 2, &arena);
        int64_t count = value_int8(r, i, 1);
        tell(checkup, CHECKUP_WRONG,
             "let redrive ingest run with the right to read that topic, before retention removes them",
             "%" PRId64 " dead %s in %s: %.300s", count,
             count == 1 ? "letter waits for its original" : "letters wait for their originals",
             value_text(r, i, 0, &arena), why ? why : "redrive ingest has not asked for them yet");
    }
    arena_release(&arena);
    PQclear(r);
    return true;
}

// What redrive ingest could not read, and whether it reads at all.
static bool
check_ingest(const struct checkup *checkup, struct err *err)
{
    PGresult *r;
    if (!check_alarms(checkup, err) || !check_unfit(checkup, err) || !check_originals(checkup, err))
        return false;
    if (!pg_ask(
            checkup->store, FOR_READING,
            "SELECT count(*) FILTER (WHERE p.is_read), count(DISTINCT p.topic) FILTER (WHERE p.is_read), "
            "coalesce(sum(greatest(p.end_offset - p.next_offset, 0)) FILTER (WHERE p.is_read), 0)::int8, "
            "count(DISTINCT p.topic) FROM (SELECT q.*, EXISTS (SELECT FROM redrive.ingester i WHERE "
            "i.cluster = q.cluster AND q.topic = ANY (i.topics) AND i.seen_at > "
            "pg_catalog.clock_timestamp() - interval '15 s') AS is_read FROM redrive.ingest_position q) p",
            NULL, &r, err))
        return false;
    int64_t partitions = value_int8(r, 0, 0), topics = value_int8(r, 0, 1), behind = value_int8(r, 0, 2),
            known = value_int8(r, 0, 3);
    PQclear(r);
    if (partitions > 0)
        tell(checkup, CHECKUP_OK, "",
             "redrive ingest reads %" PRId64 " partitions of %" PRId64 " dead letter topics; %" PRId64
             " dead letters are left to take in",
             partitions, topics, behind);
    else if (known > 0)
        tell(checkup, CHECKUP_NOTE, "start redrive ingest, or its unit redrive-ingest.service",
             "nobody takes in dead letters now; %" PRId64 " dead letter topics were read before", known);
    return true;
}

// A schema of that name which redrive migrate refuses to build on. *is_theirs: it was told.
static bool
check_squatter(const struct checkup *checkup, bool *is_theirs, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(checkup->store, FOR_READING,
                "SELECT pg_catalog.pg_get_userbyid(n.nspowner)::text FROM pg_catalog.pg_namespace n"
                " WHERE n.nspname = 'redrive' AND pg_catalog.pg_get_userbyid(n.nspowner) <> session_user",
                NULL, &r, err))
        return false;
    *is_theirs = PQntuples(r) == 1;
    const char *owner = *is_theirs ? value_text(r, 0, 0, &arena) : "";
    if (*is_theirs)
        tell(checkup, CHECKUP_WRONG,
             arena_printf(&arena,
                          "where it was made for redrive: redrive migrate --owner %s; where nobody knows it: "
                          "DROP SCHEMA redrive CASCADE, then redrive migrate",
                          owner),
             "the schema redrive belongs to %s, and redrive is not installed in it", owner);
    arena_release(&arena);
    PQclear(r);
    return true;
}

static bool
check_schema(const struct checkup *checkup, struct err *err)
{
    struct err missing = {0};
    bool is_theirs = false, are_ours;
    if (checkup->store->info.schema_version == 0 && !check_squatter(checkup, &is_theirs, err))
        return false;
    if (is_theirs)
        return true;
    if (!schema_check(checkup->store, &missing)) {
        tell(checkup, missing.kind == ERR_DENIED ? CHECKUP_DENIED : CHECKUP_WRONG,
             missing.kind == ERR_NOT_FOUND ? "redrive migrate" : "", "%s", missing.text);
        return true;
    }
    tell(checkup, CHECKUP_OK, "", "the schema redrive is version %" PRId64 ", install %s",
         checkup->store->info.schema_version, checkup->store->info.install);
    if (!schema_functions_are_ours(checkup->store, &are_ours, err))
        return false;
    if (!are_ours)
        tell(checkup, CHECKUP_WRONG, "redrive migrate",
             "the functions of the schema redrive come from another build of this version");
    if (!check_owner(checkup, err) || !check_foreign(checkup, err) || !check_doubt(checkup, err))
        return false;
    if (!check_stop(checkup, err))
        return false;
    return check_ingest(checkup, err) && check_tables(checkup, err) && check_levels(checkup, err) &&
           check_archive(checkup, err);
}

bool
store_checkup(struct store *store, checkup_fn *found, void *context, struct err *err)
{
    struct checkup checkup = {.store = store, .found = found, .context = context};
    check_versions(&checkup);
    check_link(&checkup);
    return check_durability(&checkup, err) && check_state(&checkup, err) && check_login(&checkup, err) &&
           check_table(&checkup, err) && check_schema(&checkup, err);
}

// One column of at most `limit` rows.
static bool
read_names(struct store *store, const char *sql, size_t limit, struct arena *arena, const char ***names,
           size_t *count, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    param_int8(&params, (int64_t)limit);
    if (!pg_ask(store, FOR_READING, sql, &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *names = arena_array(arena, *count + 1, sizeof **names);
    for (size_t i = 0; i < *count; i++)
        (*names)[i] = value_text(r, (int)i, 0, arena);
    PQclear(r);
    return true;
}

bool
store_checkup_topics(struct store *store, size_t limit, struct arena *arena, const char ***topics,
                     size_t *count, struct err *err)
{
    return read_names(store,
                      "SELECT kafka_topic::text FROM (SELECT e.kafka_topic FROM :\"events\" e WHERE e.status "
                      "= 'PENDING' ORDER BY e.id DESC LIMIT 10000) AS newest"
                      " WHERE kafka_topic IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT $1",
                      limit, arena, topics, count, err);
}

bool
store_checkup_oldest(struct store *store, int64_t *age, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    if (!pg_ask(
            store, FOR_READING,
            "SELECT coalesce(greatest(extract(epoch FROM now() - min(e.created_at) AT TIME ZONE :zone), 0)"
            " * 1000000, 0)::int8 FROM :\"events\" e WHERE e.status = 'PENDING'",
            &params, &r, err))
        return false;
    *age = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
store_checkup_types(struct store *store, size_t limit, struct arena *arena, const char ***types,
                    size_t *count, struct err *err)
{
    return read_names(store,
                      "SELECT event_type::text FROM (SELECT e.event_type FROM :\"events\" e"
                      " ORDER BY e.id DESC LIMIT 20000) AS newest"
                      " WHERE event_type IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT $1",
                      limit, arena, types, count, err);
}
