#include "store/mapping.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"

void
mapping_use(struct store *store)
{
    struct strbuf quoted = {0};
    pg_quote_table(&quoted, store->schema.name, "mapped");
    free(store->table.quoted);
    store->table.quoted = strbuf_detach(&quoted);
    store->table.is_mapped = true;
}

bool
mapping_apply(struct store *store, const char *mapping, struct err *err)
{
    struct params params = {0};
    param_text(&params, mapping);
    return pg_do(store, FOR_SCHEMA, "SELECT redrive._mapping_apply($1::jsonb)", &params, err);
}

void
mapping_print(struct strbuf *out, const char *mapping, const struct pg_names *names)
{
    pg_expand(out, "SELECT redrive._mapping_apply(", names);
    pg_literal(out, mapping); // behind pg_expand, so that no name in it is taken for one of ours
    strbuf_add_text(out, ");\n");
}

bool
mapping_look(struct store *store, struct err *err)
{
    struct err failure = {0};
    if (!store->table.is_mapped || (store->is_read_only && !store->may_number) ||
        pg_do(store, FOR_LOOKING, "SELECT redrive.mapped_look()", NULL, &failure))
        return true;
    if (strcmp(failure.sqlstate, "25006") == 0) // a standby, which shows what the primary has numbered
        return true;
    *err = failure;
    return false;
}

static const char checkup_sql[] =
    "SELECT m.name, coalesce(m.owner, 'another program'), m.sends, coalesce(m.retry, ''), m.looked_at,"
    " (SELECT string_agg(w.name::text, ', ') FROM unnest(m.columns) AS w (name) WHERE NOT EXISTS (SELECT FROM"
    "   pg_catalog.pg_attribute a WHERE a.attrelid = t.oid AND a.attname = w.name AND NOT a.attisdropped)),"
    " t.oid IS NOT NULL, pg_catalog.quote_ident(o.rolname),"
    " NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = t.oid AND a.attname = ANY "
    "(m.columns)"
    "   AND NOT pg_catalog.has_column_privilege(o.oid, t.oid, a.attnum, 'SELECT'))"
    " FROM redrive.mapping m JOIN pg_catalog.pg_namespace n ON n.nspname = 'redrive'"
    " JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner LEFT JOIN (pg_catalog.pg_class t JOIN"
    " pg_catalog.pg_namespace s ON s.oid = t.relnamespace) ON s.nspname = $1 AND t.relname = $2";

enum { C_NAME, C_OWNER, C_SENDS, C_RETRY, C_LOOKED_AT, C_MISSING, C_HAS_TABLE, C_ROLE, C_MAY_READ };

static void
tell_fit(const struct store *store, const PGresult *r, checkup_fn *found, void *context, struct arena *arena)
{
    const char *table = store->table.text, *name = value_text(r, 0, C_NAME, arena);
    char age[TEXT_SHORT];
    if (!value_bool(r, 0, C_HAS_TABLE))
        found(context, CHECKUP_WRONG, arena_printf(arena, "there is no table %s", table),
              "give --table SCHEMA.NAME, or set table in the configuration");
    else if (!value_is_null(r, 0, C_MISSING))
        found(context, CHECKUP_WRONG,
              arena_printf(arena, "%s has no %s any more, which the mapping %s reads", table,
                           value_text(r, 0, C_MISSING, arena), name),
              arena_printf(arena, "redrive migrate --table %s --mapping %s", table, name));
    else if (!value_bool(r, 0, C_MAY_READ))
        found(context, CHECKUP_DENIED,
              arena_printf(arena, "%s lacks SELECT on %s", value_text(r, 0, C_ROLE, arena), table),
              arena_printf(arena, "GRANT SELECT ON %s TO %s;", table, value_text(r, 0, C_ROLE, arena)));
    else if (value_is_null(r, 0, C_LOOKED_AT))
        found(context, CHECKUP_NOTE, arena_printf(arena, "nobody has looked at %s yet", table),
              "start the screen, redrive work or redrive watch");
    else
        found(context, CHECKUP_OK,
              arena_printf(arena, "the last look at %s was %s ago", table,
                           text_age(clock_now() - value_time(r, 0, C_LOOKED_AT), age)),
              "");
}

bool
mapping_checkup(struct store *store, checkup_fn *found, void *context, struct err *err)
{
    PGresult *r;
    struct params params = {0};
    struct arena arena = {0};
    param_text(&params, store->table.schema);
    param_text(&params, store->table.name);
    if (!pg_ask(store, FOR_READING, checkup_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 1) {
        const char *retry = value_text(r, 0, C_RETRY, &arena);
        found(context, CHECKUP_OK,
              arena_printf(
                  &arena, "%s is the table of %s, read by the mapping %s; redrive writes nothing into it",
                  store->table.text, value_text(r, 0, C_OWNER, &arena), value_text(r, 0, C_NAME, &arena)),
              "");
        tell_fit(store, r, found, context, &arena);
        if (!value_bool(r, 0, C_SENDS))
            found(context, CHECKUP_NOTE, "the mapping names no topic: a reprocess needs \"to\", or --to",
                  *retry ? retry : "its owner's own tool tries a row again");
    }
    arena_release(&arena);
    PQclear(r);
    return true;
}
