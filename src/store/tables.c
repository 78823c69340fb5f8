#include "store/tables.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/mapping.h"
#include "store/pg.h"

#define FIRST "redrive"

// The schemas that are ours. Catalog only; plain tables whose text column has the server's own type, because
// rules, policies and types of others would run with the rights of whoever looks.
static const char schemas_sql[] =
    "SELECT n.nspname::text, o.rolname::text, me.rolsuper AND NOT o.rolsuper,"
    " coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE')"
    "          AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'), false),"
    " EXISTS (SELECT FROM pg_catalog.pg_class v WHERE v.relnamespace = n.oid AND v.relname = 'mapped'"
    "            AND v.relkind = 'v' AND v.relowner = home.nspowner)"
    " FROM pg_catalog.pg_namespace home JOIN pg_catalog.pg_roles o ON o.oid = home.nspowner"
    " JOIN pg_catalog.pg_roles me ON me.rolname = session_user"
    " JOIN pg_catalog.pg_namespace n ON n.nspowner = home.nspowner AND n.nspname ~ '^redrive(_[a-z0-9_]+)?$'"
    " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = 'install' AND c.relkind = 'r'"
    "   AND c.relowner = home.nspowner AND NOT c.relhasrules AND NOT c.relrowsecurity"
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'source_table'"
    "   AND a.atttypid = 'pg_catalog.text'::pg_catalog.regtype"
    " WHERE home.nspname = '" FIRST "' ORDER BY n.nspname";

struct known_schema {
    const char *name;
    const char *table; // NULL: this login may not know it
    bool is_mapped;    // it is another program's table
};

// Of one database.
struct known_schemas {
    struct known_schema *list;
    size_t count;
    const char *owner;
    bool is_distrusted; // this is a superuser, and the owner is none
    struct arena arena;
};

static void
add_source(struct strbuf *sql, const char *schema)
{
    strbuf_printf(sql, "%sSELECT '%s'::pg_catalog.text, source_table FROM %s.install",
                  sql->len ? " UNION ALL " : "", schema, schema);
}

static bool
read_sources(struct store *store, const char *sql, struct known_schemas *known, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    for (int row = 0; row < PQntuples(r); row++) {
        const char *name = value_text(r, row, 0, &known->arena);
        for (size_t i = 0; i < known->count; i++)
            if (strcmp(known->list[i].name, name) == 0)
                known->list[i].table = value_text(r, row, 1, &known->arena);
    }
    PQclear(r);
    return true;
}

// In the schema `redrive` as pg_expand sees it, so that the names here stay what they are.
static bool
read_schemas(struct store *store, struct known_schemas *known, struct err *err)
{
    PGresult *r;
    snprintf(store->schema.name, sizeof store->schema.name, FIRST);
    if (!pg_ask(store, FOR_READING, schemas_sql, NULL, &r, err))
        return false;
    struct strbuf sources = {0};
    known->list = arena_array(&known->arena, (size_t)PQntuples(r) + 1, sizeof *known->list);
    for (int row = 0; row < PQntuples(r); row++) {
        const char *name = value_text(r, row, 0, &known->arena);
        known->list[known->count++] = (struct known_schema){.name = name, .is_mapped = value_bool(r, row, 4)};
        known->owner = value_text(r, row, 1, &known->arena);
        known->is_distrusted = value_bool(r, row, 2);
        if (value_bool(r, row, 3))
            add_source(&sources, name);
    }
    PQclear(r);
    bool ok = sources.len == 0 || read_sources(store, strbuf_text(&sources), known, err);
    strbuf_release(&sources);
    return ok;
}

static bool
fail_several(const struct known_schemas *known, struct err *err)
{
    struct strbuf names = {0};
    for (size_t i = 0; i < known->count; i++)
        if (known->list[i].table)
            strbuf_printf(&names, "%s%s", names.len ? ", " : "", known->list[i].table);
    err_set(err, ERR_USAGE, "this database has several tables of dead letters: name one with --table: %s",
            strbuf_text(&names));
    strbuf_release(&names);
    return false;
}

// "redrive_payments_dlq", with a number behind it where another table has that already.
static void
name_schema(struct store *store, const struct known_schemas *known)
{
    enum { LONGEST = 56 }; // of the server's 63 bytes: room for the number
    struct strbuf name = {0};
    strbuf_add_text(&name, FIRST "_");
    if (strcmp(store->table.schema, "public") != 0)
        strbuf_printf(&name, "%s_", store->table.schema);
    strbuf_add_text(&name, store->table.name);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        name.data[i] = is_plain ? c : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : '_';
    }
    if (name.len > LONGEST)
        name.data[name.len = LONGEST] = '\0';
    bool is_taken = true;
    for (int number = 1; is_taken; number++) {
        snprintf(store->schema.name, sizeof store->schema.name, number == 1 ? "%s" : "%s_%d",
                 strbuf_text(&name), number);
        is_taken = false;
        for (size_t i = 0; i < known->count; i++)
            is_taken = is_taken || strcmp(known->list[i].name, store->schema.name) == 0;
    }
    strbuf_release(&name);
}

static const struct known_schema *
find_known(const struct known_schemas *known, const char *table)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->list[i].table && strcmp(known->list[i].table, table) == 0)
            return &known->list[i];
    return NULL;
}

// Which table is it where none was named? NULL in *only: there is none that could be meant. takes_usual: of
// several it is the usual one, or else the first.
static bool
choose_only(const struct known_schemas *known, bool takes_usual, const char **only, struct err *err)
{
    *only = NULL;
    for (size_t i = 0; i < known->count; i++) {
        const char *table = known->list[i].table;
        if (!table)
            continue;
        if (*only && (!takes_usual || known->is_distrusted))
            return fail_several(known, err);
        if (!*only || strcmp(table, STORE_TABLE) == 0)
            *only = table;
    }
    if (*only && known->is_distrusted && strcmp(*only, STORE_TABLE) != 0)
        return err_set(err, ERR_USAGE, "name the table with --table %s: you are a superuser, and %s is none",
                       *only, known->owner);
    return true;
}

static bool
settle(struct store *store, const struct known_schemas *known, struct err *err)
{
    const char *only = NULL;
    if (!store->table.wanted && !choose_only(known, store->table.takes_usual, &only, err))
        return false;
    if (!pg_know_table(store, store->table.wanted ? store->table.wanted : only ? only : STORE_TABLE, err))
        return false;
    store->info.tables = 0;
    bool may_read_first = true;
    for (size_t i = 0; i < known->count; i++) {
        store->info.tables += known->list[i].table != NULL;
        may_read_first = may_read_first && (known->list[i].table || strcmp(known->list[i].name, FIRST) != 0);
    }
    const struct known_schema *found = find_known(known, store->table.text);
    snprintf(store->info.table, sizeof store->info.table, "%s", store->table.text);
    snprintf(store->schema.owner, sizeof store->schema.owner, "%s", known->owner ? known->owner : "");
    store->schema.is_new = !found && known->count > 0 && may_read_first;
    if (found)
        snprintf(store->schema.name, sizeof store->schema.name, "%s", found->name);
    else if (store->schema.is_new)
        name_schema(store, known);
    if (found && found->is_mapped)
        mapping_use(store);
    snprintf(store->info.schema, sizeof store->info.schema, "%s", store->schema.name);
    return true;
}

bool
pg_find_schema(struct store *store, struct err *err)
{
    struct known_schemas known = {0};
    bool ok = read_schemas(store, &known, err) && settle(store, &known, err);
    arena_release(&known.arena);
    return ok;
}

bool
store_tables(const struct store_settings *settings, struct arena *arena, const char ***tables, size_t *count,
             struct store **only, struct err *err)
{
    struct store *store = store_create(settings);
    struct known_schemas known = {0};
    *count = 0;
    if (only)
        *only = NULL;
    bool ok = pg_reach(store, err) && read_schemas(store, &known, err);
    *tables = arena_array(arena, known.count + 1, sizeof **tables);
    for (size_t i = 0; ok && i < known.count && !known.is_distrusted; i++)
        if (known.list[i].table)
            (*tables)[(*count)++] = arena_text(arena, bytes_of(known.list[i].table));
    arena_release(&known.arena);
    if (ok && only && *count < 2 && (ok = store_learn(store, err)))
        *only = store;
    else
        store_close(store);
    return ok;
}
