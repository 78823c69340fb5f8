#include "store/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/crc32c.h"
#include "store/mapping.h"
#include "store/pg.h"
#include "store/schema_files.h"

#define FIRST_SCHEMA "redrive"
#define ROLES_MAKE_SQL "SELECT redrive._roles_make()"
#define ROLES_GRANT_SQL "SELECT redrive._roles_grant"

struct schema_script {
    struct strbuf *out;
    struct pg_names names;
};

// Until the end of the transaction.
static void
add_guard(struct strbuf *out, const char *owner, bool is_mapped, const struct pg_names *names)
{
    struct strbuf guard = {0};
    strbuf_printf(out, "SELECT pg_catalog.set_config('%s.mapped', '%s', true);\n", names->schema,
                  is_mapped ? "yes" : "");
    strbuf_printf(out, "SELECT pg_catalog.set_config('%s.owner', ", names->schema);
    pg_literal(out, owner ? owner : "");
    strbuf_add_text(out, ", true);\n");
    strbuf_add(&guard, schema_guard());
    pg_expand(out, strbuf_text(&guard), names);
    strbuf_release(&guard);
}

static void
add_part(const struct schema_script *script, const char *title, const char *name, struct bytes part)
{
    if (part.len == 0)
        return;
    struct strbuf text = {0};
    strbuf_add(&text, part);
    strbuf_printf(script->out, "\n-- %s: %s\n", name, title);
    pg_expand(script->out, strbuf_text(&text), &script->names);
    strbuf_release(&text);
}

static void
add_version(const struct schema_script *script, int version)
{
    strbuf_printf(script->out, "INSERT INTO %s.schema_version (version) VALUES (%d);\n", script->names.schema,
                  version);
}

static void
add_tables(const struct schema_script *script)
{
    struct schema_file file;
    for (size_t i = 0; schema_file(i, &file); i++)
        add_part(script, "tables", file.name, file.tables);
    add_version(script, SCHEMA_FIRST);
}

// A comment on a table keeps it, so that two builds of one version can be told apart.
static void
print_sum(struct strbuf *out)
{
    struct schema_file file;
    uint32_t sum = 0;
    for (size_t i = 0; schema_file(i, &file); i++)
        sum = crc32c(sum, file.functions);
    strbuf_printf(out, "functions %08" PRIx32, sum);
}

static void
add_functions(const struct schema_script *script)
{
    struct schema_file file;
    for (size_t i = 0; schema_file(i, &file); i++)
        add_part(script, "functions", file.name, file.functions);
    strbuf_printf(script->out, "\nCOMMENT ON TABLE %s.schema_version IS '", script->names.schema);
    print_sum(script->out);
    strbuf_add_text(script->out, "';\n");
}

static void
add_script(const struct schema_script *script, const struct schema_upgrade *upgrades, int from, int to)
{
    if (from < SCHEMA_FIRST)
        add_tables(script);
    for (const struct schema_upgrade *upgrade = upgrades; upgrade->version; upgrade++) {
        if (upgrade->version > from) {
            add_part(script, "upgrade", upgrade->name, upgrade->sql);
            add_version(script, upgrade->version);
        }
    }
    add_functions(script);
    strbuf_printf(script->out, "\nSELECT %s._audit('migrate', NULL, 0, NULL, 'schema version %d to %d');\n",
                  script->names.schema, from, to);
}

static void
make_script(struct strbuf *out, const struct schema_upgrade *upgrades, int from, int to,
            struct pg_names names, const char *zone)
{
    struct strbuf zone_sql = {0};
    if (zone)
        pg_literal(&zone_sql, zone);
    names.zone_sql = zone ? strbuf_text(&zone_sql) : NULL;
    const struct schema_script script = {.out = out, .names = names};
    add_script(&script, upgrades, from, to);
    strbuf_release(&zone_sql);
}

static int
newest_version(const struct schema_upgrade *upgrades)
{
    int version = SCHEMA_FIRST;
    for (; upgrades->version; upgrades++)
        version = upgrades->version;
    return version;
}

bool
schema_print(const struct schema_wanted *wanted, struct strbuf *out, struct err *err)
{
    char *schema, *name;
    if (!pg_parse_table(wanted->table, &schema, &name, err))
        return false;
    struct strbuf quoted = {0}, shown = {0};
    pg_quote_table(&quoted, schema, name);
    pg_show_table(&shown, schema, name);
    strbuf_add_text(out, "BEGIN;\nSET LOCAL search_path = pg_catalog;\n");
    struct pg_names names = {.table_text = strbuf_text(&shown),
                             .schema = wanted->store ? wanted->store->schema.name : FIRST_SCHEMA};
    if (wanted->mapping) {
        strbuf_reset(&quoted);
        pg_quote_table(&quoted, names.schema, "mapped");
    }
    names.table_quoted = strbuf_text(&quoted);
    const char *owner = wanted->owner;
    if (!owner && strcmp(names.schema, FIRST_SCHEMA) != 0)
        owner = wanted->store->schema.owner;
    add_guard(out, owner, wanted->mapping != NULL, &names);
    make_script(out, schema_upgrades(), 0, SCHEMA_VERSION, names, wanted->zone);
    if (wanted->mapping)
        mapping_print(out, wanted->mapping, &names);
    if (wanted->with_roles && owner)
        strbuf_add_text(out, "RESET ROLE;\n");
    if (wanted->with_roles)
        pg_expand(out,
                  "-- What this returns is left to the table's owner.\n" ROLES_MAKE_SQL ";\n" ROLES_GRANT_SQL
                  "(true);\n",
                  &names);
    strbuf_add_text(out, "COMMIT;\n");
    strbuf_release(&quoted);
    strbuf_release(&shown);
    free(schema);
    free(name);
    return true;
}

// Within the transaction that holds the lock.
static bool
read_version(struct store *store, int *version, struct err *err)
{
    PGresult *r;
    *version = 0;
    if (!pg_ask(store, FOR_SCHEMA,
                "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                "c.relnamespace"
                " WHERE n.nspname = 'redrive' AND c.relname = 'schema_version')",
                NULL, &r, err))
        return false;
    bool exists = value_bool(r, 0, 0);
    PQclear(r);
    if (!exists)
        return true;
    if (!pg_ask(store, FOR_SCHEMA, "SELECT coalesce(max(version), 0) FROM redrive.schema_version", NULL, &r,
                err))
        return false;
    *version = value_int4(r, 0, 0);
    PQclear(r);
    return true;
}

bool
schema_functions_are_ours(struct store *store, bool *are_ours, struct err *err)
{
    PGresult *r;
    struct strbuf sum = {0};
    if (!pg_ask(
            store, FOR_READING,
            "SELECT pg_catalog.obj_description('redrive.schema_version'::pg_catalog.regclass, 'pg_class')",
            NULL, &r, err))
        return false;
    print_sum(&sum);
    *are_ours = bytes_equal_text(value_bytes(r, 0, 0), strbuf_text(&sum));
    strbuf_release(&sum);
    PQclear(r);
    return true;
}

static bool
fail_newer(int64_t version, int newest, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "the schema redrive has version %lld, this program knows up to %d: use the newer program",
                   (long long)version, newest);
}

static bool
set_zone(struct store *store, struct err *err)
{
    struct params params = {0};
    param_text(&params, store->zone_wanted);
    return pg_do(store, FOR_SCHEMA,
                 "WITH changed AS (UPDATE redrive.install SET zone = $1 WHERE zone <> $1 RETURNING zone)"
                 " SELECT redrive._audit('migrate', NULL, 0, NULL, 'times are now read and written in ' || "
                 "zone) FROM changed",
                 &params, err);
}

// Waits for another migration, and goes on as the schema's owner.
static bool
become_owner(struct store *store, const char *owner, struct err *err)
{
    struct strbuf guard = {0};
    const struct pg_names names = pg_names(store);
    bool is_further = strcmp(store->schema.name, FIRST_SCHEMA) != 0;
    if (is_further && !owner)
        owner = store->schema.owner;
    else if (is_further && strcmp(owner, store->schema.owner) != 0)
        return err_set(err, ERR_USAGE,
                       "--owner %s: every schema of redrive belongs to the owner of the first, %s", owner,
                       store->schema.owner);
    add_guard(&guard, owner, store->table.is_mapped, &names);
    bool ok = pg_script(store, strbuf_text(&guard), err);
    strbuf_release(&guard);
    return ok;
}

// Somebody else made the schema a moment ago, or its name was free of a table when we looked: for this table?
static bool
is_of_table(struct store *store, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_SCHEMA, "SELECT source_table FROM redrive.install", NULL, &r, err))
        return false;
    bool ok = (PQntuples(r) == 1 && bytes_equal_text(value_bytes(r, 0, 0), store->table.text)) ||
              err_set(err, ERR_USAGE, "the schema %s is that of another table than %s", store->schema.name,
                      store->table.text);
    PQclear(r);
    return ok;
}

// What a migration is to do.
struct schema_wish {
    const char *owner, *mapping;
    const struct schema_upgrade *upgrades;
};

static bool
migrate_locked(struct store *store, const struct schema_wish *wish, struct schema_result *result,
               struct err *err)
{
    const struct schema_upgrade *upgrades = wish->upgrades;
    bool was_mapped = store->table.is_mapped;
    if (wish->mapping)
        mapping_use(store);
    if (!become_owner(store, wish->owner, err) || !read_version(store, &result->from, err))
        return false;
    result->to = newest_version(upgrades);
    if (result->from > 0 && wish->mapping && !was_mapped)
        return err_set(
            err, ERR_USAGE,
            "redrive reads %s without a mapping already, and keeps decisions in it: a mapping is for "
            "a table of another program",
            store->table.text);
    if (result->from > 0 && store->schema.is_new && !is_of_table(store, err))
        return false;
    if (result->from > result->to)
        return fail_newer(result->from, result->to, err);
    bool are_ours = false;
    if (result->from > 0 && !schema_functions_are_ours(store, &are_ours, err))
        return false;
    result->has_renewed = result->from > 0 && !are_ours;
    if (result->from < result->to || result->has_renewed) {
        struct strbuf script = {0};
        make_script(&script, upgrades, result->from, result->to, pg_names(store), store->zone_wanted);
        bool ok = pg_script(store, strbuf_text(&script), err);
        strbuf_release(&script);
        if (!ok)
            return err_context(err, "the schema was left as it was");
    }
    return (!wish->mapping || mapping_apply(store, wish->mapping, err)) &&
           (!store->zone_wanted || set_zone(store, err));
}

static bool
migrate_as(struct store *store, const struct schema_wish *wish, struct schema_result *result, struct err *err)
{
    *result = (struct schema_result){0};
    if (!pg_may_write(store, err) || !pg_begin(store, FOR_SCHEMA, err))
        return false;
    if (!migrate_locked(store, wish, result, err)) {
        pg_rollback(store);
        return false;
    }
    return pg_commit(store, err) && store_learn(store, err);
}

bool
schema_migrate_by(struct store *store, const struct schema_upgrade *upgrades, struct schema_result *result,
                  struct err *err)
{
    return migrate_as(store, &(struct schema_wish){.upgrades = upgrades}, result, err);
}

bool
schema_migrate_as(struct store *store, const char *owner, struct schema_result *result, struct err *err)
{
    return schema_migrate_mapped(store, owner, NULL, result, err);
}

bool
schema_migrate_mapped(struct store *store, const char *owner, const char *mapping,
                      struct schema_result *result, struct err *err)
{
    const struct schema_wish wish = {.owner = owner, .mapping = mapping, .upgrades = schema_upgrades()};
    return migrate_as(store, &wish, result, err);
}

bool
schema_migrate(struct store *store, struct schema_result *result, struct err *err)
{
    return schema_migrate_as(store, NULL, result, err);
}

bool
schema_roles(struct store *store, bool make, struct strbuf *left, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    struct arena arena = {0};
    if (!pg_may_write(store, err) || !pg_begin(store, FOR_SCHEMA, err))
        return false;
    param_bool(&params, make);
    if ((make && !pg_do(store, FOR_SCHEMA, ROLES_MAKE_SQL, NULL, err)) ||
        !pg_ask(store, FOR_SCHEMA, ROLES_GRANT_SQL "($1)", &params, &r, err)) {
        pg_rollback(store);
        return false;
    }
    for (int i = 0; i < PQntuples(r); i++)
        strbuf_printf(left, "%s\n", value_text(r, i, 0, &arena));
    arena_release(&arena);
    PQclear(r);
    return pg_commit(store, err);
}

bool
schema_check_by(struct store *store, const struct schema_upgrade *upgrades, struct err *err)
{
    int newest = newest_version(upgrades);
    if (!pg_has_schema(store, err))
        return false;
    if (store->info.schema_version > newest)
        return fail_newer(store->info.schema_version, newest, err);
    if (store->info.schema_version < newest)
        return err_set(err, ERR_USAGE,
                       "the schema redrive has version %lld, this program needs %d: run redrive migrate",
                       (long long)store->info.schema_version, newest);
    return true;
}

bool
schema_check(struct store *store, struct err *err)
{
    return schema_check_by(store, schema_upgrades(), err);
}

// The most frequent queries on the contract table, and the indexes for them.
static const struct offer {
    const char *suffix;
    const char *columns;
    const char *comment;
} offers[] = {
    {"redrive_pending", "(id) WHERE status = 'PENDING'",
     "pages, counts and reconciliation of pending events; about 22 bytes per pending event, one more index "
     "write per insert and close"},
    {"redrive_event_id", "(event_id)",
     "finds the rows of one event by its own id; about 40 bytes per row, one more index write per insert"},
};
enum { OFFER_COUNT = sizeof offers / sizeof offers[0], SHORT_TRIES = 100, SHORT_PAUSE = 300000 }; // µs

bool
schema_print_indexes(const char *table, struct strbuf *out, struct err *err)
{
    char *schema, *name;
    if (!pg_parse_table(table, &schema, &name, err))
        return false;
    struct strbuf quoted = {0};
    pg_quote_table(&quoted, schema, name);
    strbuf_add_text(out, "-- A partitioned table refuses CONCURRENTLY: there, redrive migrate --with-indexes "
                         "goes from partition to partition.\n");
    for (size_t i = 0; i < OFFER_COUNT; i++) {
        struct strbuf index = {0};
        strbuf_printf(&index, "%.40s_%s", name, offers[i].suffix);
        for (char *c = index.data; (c = strchr(c, '"')); c++)
            *c = '_';
        strbuf_printf(out, "-- %s\nCREATE INDEX CONCURRENTLY IF NOT EXISTS \"%s\" ON %s %s;\n",
                      offers[i].comment, strbuf_text(&index), strbuf_text(&quoted), offers[i].columns);
        strbuf_release(&index);
    }
    strbuf_release(&quoted);
    free(schema);
    free(name);
    return true;
}

// The next statement that is still to be run for one index, and whether it takes a lock that writers would
// have to wait behind; no row: the index is complete. Remains of a build that broke off are dropped first. A
// partitioned table gets an index of its own alone, each partition one built CONCURRENTLY, and these are
// attached, the deepest first (CREATE INDEX, "Building Indexes Concurrently" and ON ONLY). Partitions that
// have it from their parent already, and foreign ones, are passed over. $1 schema, $2 name, $3 suffix, $4
// columns.
static const char next_index_sql[] =
    "WITH RECURSIVE tree AS ("
    " SELECT c.oid AS rel, c.relkind AS kind, NULL::oid AS above, own.oid AS index, own.is_valid,"
    "        true AS is_attached, 0 AS level"
    "   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    "   LEFT JOIN LATERAL (SELECT x.indexrelid AS oid, x.indisvalid AS is_valid FROM pg_index x"
    "                        JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = c.oid"
    "                         AND i.relname = translate(left($2, 40), '\"', '_') || '_' || $3) own ON true"
    "  WHERE n.nspname = $1 AND c.relname = $2"
    " UNION ALL"
    " SELECT c.oid, c.relkind, t.index, coalesce(given.oid, own.oid), coalesce(given.is_valid, own.is_valid),"
    "        given.oid IS NOT NULL, t.level + 1"
    "   FROM tree t JOIN pg_inherits h ON h.inhparent = t.rel JOIN pg_class c ON c.oid = h.inhrelid"
    "   LEFT JOIN LATERAL (SELECT x.indexrelid AS oid, x.indisvalid AS is_valid FROM pg_inherits g"
    "                        JOIN pg_index x ON x.indexrelid = g.inhrelid"
    "                       WHERE g.inhparent = t.index AND x.indrelid = c.oid) given ON true"
    "   LEFT JOIN LATERAL (SELECT x.indexrelid AS oid, x.indisvalid AS is_valid FROM pg_index x"
    "                        JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = c.oid"
    "                         AND i.relname = 'p' || c.oid || '_' || $3) own ON true"
    "  WHERE t.kind = 'p' AND c.relkind IN ('r', 'p')),"
    " step AS ("
    " SELECT 1 AS place, 0 AS depth, rel, format('DROP INDEX CONCURRENTLY %s', index::regclass) AS sql,"
    "        false AS is_short FROM tree WHERE kind = 'r' AND NOT is_valid"
    " UNION ALL"
    " SELECT 2, level, rel, format('CREATE INDEX %s%I ON %s%s %s',"
    "        CASE WHEN kind = 'r' THEN 'CONCURRENTLY ' ELSE '' END,"
    "        CASE WHEN level = 0 THEN translate(left($2, 40), '\"', '_') ELSE 'p' || rel END || '_' || $3,"
    "        CASE WHEN kind = 'p' THEN 'ONLY ' ELSE '' END, rel::regclass, $4), kind = 'p'"
    "   FROM tree WHERE index IS NULL"
    " UNION ALL"
    " SELECT 3, -level, rel, format('ALTER INDEX %s ATTACH PARTITION %s', above::regclass, index::regclass), "
    "true"
    "   FROM tree WHERE NOT is_attached AND index IS NOT NULL AND above IS NOT NULL)"
    " SELECT sql, is_short FROM step ORDER BY place, depth, rel LIMIT 1";

// "" in sql: nothing is left to do.
static bool
next_index(struct store *store, const struct offer *offer, struct strbuf *sql, bool *is_short,
           struct err *err)
{
    struct params params = {0};
    param_text(&params, store->table.schema);
    param_text(&params, store->table.name);
    param_text(&params, offer->suffix);
    param_text(&params, offer->columns);
    strbuf_reset(sql);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, next_index_sql, &params, &r, err))
        return false;
    if (PQntuples(r) > 0) {
        strbuf_add_text(sql, PQgetvalue(r, 0, 0));
        *is_short = value_bool(r, 0, 1);
    }
    PQclear(r);
    return true;
}

// Instant, once it has its lock; but writers would queue up behind it while it waits, so it gives up at once
// and tries again.
static bool
run_short(struct store *store, const char *sql, struct err *err)
{
    struct err busy = {0};
    for (int i = 0; i < SHORT_TRIES; i++) {
        err_clear(&busy);
        if (!pg_begin(store, FOR_SCHEMA, err))
            return false;
        if (pg_script(store, "SET LOCAL lock_timeout = '100ms'", &busy) && pg_script(store, sql, &busy))
            return pg_commit(store, err);
        pg_rollback(store);
        if (strcmp(busy.sqlstate, "55P03") != 0)
            break;
        clock_sleep(SHORT_PAUSE);
    }
    *err = busy;
    return strcmp(busy.sqlstate, "55P03") != 0
               ? false
               : err_context(err,
                             "others keep it busy; what was made stays, run it again in a calmer minute");
}

static bool
create_index(struct store *store, const struct offer *offer, struct err *err)
{
    struct strbuf sql = {0};
    bool ok = true, is_short = false;
    while (ok && (ok = next_index(store, offer, &sql, &is_short, err)) && sql.len > 0)
        // Not within a transaction: CONCURRENTLY refuses one. It waits for writers, never the other way
        // round.
        ok = is_short ? run_short(store, strbuf_text(&sql), err) : pg_script(store, strbuf_text(&sql), err);
    strbuf_release(&sql);
    return ok;
}

bool
schema_create_indexes(struct store *store, struct err *err)
{
    if (!pg_may_write(store, err))
        return false;
    for (size_t i = 0; i < OFFER_COUNT; i++)
        if (!create_index(store, &offers[i], err))
            return err_context(err, "an index on %s", store->table.text);
    return true;
}
