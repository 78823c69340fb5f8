#include "store/schema.h"

#include <stdlib.h>
#include <string.h>
#include "store/pg.h"
#include "store/schema_files.h"

// Held to the end of the transaction, so it works behind a pooler; the number is "redrive" in ASCII.
#define LOCK_SQL "SELECT pg_catalog.pg_advisory_xact_lock(32199629435663973);\n"

#define ROLES_MAKE_SQL "SELECT redrive._roles_make()"
#define ROLES_GRANT_SQL "SELECT redrive._roles_grant"

static void
add_file(struct strbuf *out, const struct schema_file *file, const char *table_quoted, const char *table_text,
         const char *zone_sql)
{
    struct strbuf text = {0};
    strbuf_add(&text, file->text);
    strbuf_printf(out, "\n-- %s\n", file->name);
    pg_expand(out, strbuf_text(&text), table_quoted, table_text, zone_sql);
    if (file->version)
        strbuf_printf(out, "INSERT INTO redrive.schema_version (version) VALUES (%d);\n", file->version);
    strbuf_release(&text);
}

static void
add_script(struct strbuf *out, int from, const char *table_quoted, const char *table_text, const char *zone)
{
    struct strbuf zone_sql = {0};
    if (zone)
        pg_literal(&zone_sql, zone);
    struct schema_file file;
    for (size_t i = 0; schema_file(i, &file); i++) {
        if (file.version == 0 || file.version > from)
            add_file(out, &file, table_quoted, table_text, zone ? strbuf_text(&zone_sql) : NULL);
    }
    strbuf_printf(out, "\nSELECT redrive._audit('migrate', NULL, 0, NULL, 'schema version %d to %d');\n",
                  from, SCHEMA_VERSION);
    strbuf_release(&zone_sql);
}

bool
schema_print(const char *table, const char *zone, bool with_roles, struct strbuf *out, struct err *err)
{
    char *schema, *name;
    if (!pg_parse_table(table, &schema, &name, err))
        return false;
    struct strbuf quoted = {0}, shown = {0};
    pg_quote_table(&quoted, schema, name);
    pg_show_table(&shown, schema, name);
    strbuf_add_text(out, "BEGIN;\nSET LOCAL search_path = pg_catalog;\n" LOCK_SQL);
    add_script(out, 0, strbuf_text(&quoted), strbuf_text(&shown), zone);
    if (with_roles)
        strbuf_add_text(out, "-- What this returns is left to the table's owner.\n" ROLES_MAKE_SQL
                             ";\n" ROLES_GRANT_SQL "(true);\n");
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

static bool
fail_newer(int64_t version, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "the schema redrive has version %lld, this program knows up to %d: use the newer program",
                   (long long)version, SCHEMA_VERSION);
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

static bool
migrate_locked(struct store *store, struct schema_result *result, struct err *err)
{
    if (!pg_script(store, LOCK_SQL, err) || !read_version(store, &result->from, err))
        return false;
    if (result->from > SCHEMA_VERSION)
        return fail_newer(result->from, err);
    result->to = SCHEMA_VERSION;
    if (result->from < SCHEMA_VERSION) {
        struct strbuf script = {0};
        add_script(&script, result->from, store->table_quoted, store->table_text, store->zone_wanted);
        bool ok = pg_script(store, strbuf_text(&script), err);
        strbuf_release(&script);
        if (!ok)
            return err_context(err, "the schema was left as it was");
    }
    return !store->zone_wanted || set_zone(store, err);
}

bool
schema_migrate(struct store *store, struct schema_result *result, struct err *err)
{
    *result = (struct schema_result){0};
    if (!pg_may_write(store, err) || !pg_begin(store, FOR_SCHEMA, err))
        return false;
    if (!migrate_locked(store, result, err)) {
        pg_rollback(store);
        return false;
    }
    return pg_commit(store, err) && store_learn(store, err);
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
    if ((make && !pg_script(store, LOCK_SQL ROLES_MAKE_SQL ";", err)) ||
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
schema_check(struct store *store, struct err *err)
{
    if (!pg_has_schema(store, err))
        return false;
    if (store->info.schema_version > SCHEMA_VERSION)
        return fail_newer(store->info.schema_version, err);
    if (store->info.schema_version < SCHEMA_VERSION)
        return err_set(err, ERR_USAGE,
                       "the schema redrive has version %lld, this program needs %d: run redrive migrate",
                       (long long)store->info.schema_version, SCHEMA_VERSION);
    return true;
}

// What the program asks the contract table most, and what serves it.
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
enum { OFFER_COUNT = sizeof offers / sizeof offers[0] };

static void
add_offer(struct strbuf *out, const struct offer *offer, const char *schema, const char *name)
{
    struct strbuf table = {0}, index = {0};
    pg_quote_table(&table, schema, name);
    strbuf_printf(&index, "%.40s_%s", name, offer->suffix);
    for (const char *c = strbuf_text(&index); (c = strchr(c, '"')); c++)
        index.data[c - index.data] = '_';
    strbuf_printf(out, "CREATE INDEX CONCURRENTLY IF NOT EXISTS \"%s\" ON %s %s", strbuf_text(&index),
                  strbuf_text(&table), offer->columns);
    strbuf_release(&table);
    strbuf_release(&index);
}

bool
schema_print_indexes(const char *table, struct strbuf *out, struct err *err)
{
    char *schema, *name;
    if (!pg_parse_table(table, &schema, &name, err))
        return false;
    for (size_t i = 0; i < OFFER_COUNT; i++) {
        strbuf_printf(out, "-- %s\n", offers[i].comment);
        add_offer(out, &offers[i], schema, name);
        strbuf_add_text(out, ";\n");
    }
    free(schema);
    free(name);
    return true;
}

bool
schema_create_indexes(struct store *store, struct err *err)
{
    if (!pg_may_write(store, err))
        return false;
    for (size_t i = 0; i < OFFER_COUNT; i++) {
        // Not within a transaction: CONCURRENTLY refuses one. It waits for writers, never the other way
        // round.
        struct strbuf sql = {0};
        add_offer(&sql, &offers[i], store->table_schema, store->table_name);
        bool ok = pg_script(store, strbuf_text(&sql), err);
        strbuf_release(&sql);
        if (!ok)
            return err_context(err, "an index on %s", store->table_text);
    }
    return true;
}

bool
schema_adopt(struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err) &&
           pg_do(store, FOR_WRITING, "SELECT redrive.adopt()", NULL, err) && store_learn(store, err);
}
