#include "store/rollup/categories.h"

#include "store/pg.h"

const struct overrides *
store_overrides(const struct store *store)
{
    return store->overrides;
}

enum category
store_category(const struct store *store, uint64_t group, struct bytes error_class, struct bytes pattern,
               bool *is_overridden)
{
    const struct override *override = overrides_of(store->overrides, group);
    if (is_overridden)
        *is_overridden = override != NULL;
    if (override)
        return override->category;
    return store->rules ? category_of(store->rules, error_class, pattern, NULL) : CATEGORY_UNKNOWN;
}

// A missing table, or one that the role may not read, counts as empty.
static bool
may_look(struct store *store, bool *may, struct err *err)
{
    *may = store->categories == SEEN_READABLE;
    if (store->categories != SEEN_UNKNOWN)
        return true;
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND"
                " pg_catalog.has_table_privilege(c.oid, 'SELECT'), false) FROM pg_catalog.pg_namespace n"
                " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = 'group_category'"
                " WHERE n.nspname = 'redrive'",
                NULL, &r, err))
        return false;
    *may = PQntuples(r) == 1 && value_bool(r, 0, 0);
    store->categories = *may ? SEEN_READABLE : SEEN_CLOSED;
    PQclear(r);
    return true;
}

static bool
read_overrides(struct store *store, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT group_key, category, who::text, at, reason, changed FROM redrive.group_category"
                " ORDER BY changed DESC",
                NULL, &r, err))
        return false;
    struct overrides *overrides = overrides_create();
    struct arena arena = {0};
    store->overrides_token = 0;
    for (int i = 0; i < PQntuples(r); i++) {
        struct override override = {
            .group = (uint64_t)value_int8(r, i, 0),
            .who = value_text(r, i, 2, &arena),
            .at = value_time(r, i, 3),
            .reason = value_text(r, i, 4, &arena),
        };
        store->overrides_token += value_int8(r, i, 5);
        if (category_parse(value_bytes(r, i, 1), &override.category))
            overrides_add(overrides, &override);
    }
    arena_release(&arena);
    PQclear(r);
    overrides_destroy(store->overrides);
    store->overrides = overrides;
    // The cache of groups holds categories.
    group_cache_destroy(store->groups);
    store->groups = NULL;
    return true;
}

bool
store_categories_look(struct store *store, bool *has_changed, struct err *err)
{
    bool may;
    *has_changed = false;
    if (!may_look(store, &may, err))
        return false;
    if (!may)
        return true;
    PGresult *r;
    if (!pg_ask(store, FOR_READING, "SELECT coalesce(sum(changed), 0)::int8 FROM redrive.group_category",
                NULL, &r, err))
        return false;
    int64_t token = value_int8(r, 0, 0);
    PQclear(r);
    if (token == store->overrides_token)
        return true;
    *has_changed = true;
    return read_overrides(store, err);
}

bool
store_category_set(struct store *store, uint64_t group, const enum category *category, const char *reason,
                   struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, (int64_t)group);
    param_text(&params, category ? category_name(*category) : NULL);
    param_text(&params, reason && *reason ? reason : NULL);
    return pg_do(store, FOR_WRITING, "SELECT redrive.category_set($1, $2, $3)", &params, err);
}
