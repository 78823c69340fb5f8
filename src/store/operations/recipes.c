#include "store/operations/recipes.h"

#include "store/pg.h"

bool
recipe_list(struct store *store, struct arena *arena, struct saved_recipe **list, size_t *count,
            struct err *err)
{
    *list = NULL;
    *count = 0;
    PGresult *r;
    if (store->info.schema_version == 0)
        return true;
    if (!pg_ask(store, FOR_READING,
                "SELECT name, text, author::text, at, reason FROM redrive.recipe ORDER BY name COLLATE \"C\"",
                NULL, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *list = arena_array(arena, *count, sizeof **list);
    for (int i = 0; i < PQntuples(r); i++)
        (*list)[i] = (struct saved_recipe){
            .name = value_text(r, i, 0, arena),
            .text = value_text(r, i, 1, arena),
            .author = value_text(r, i, 2, arena),
            .at = value_time(r, i, 3),
            .reason = value_text(r, i, 4, arena),
        };
    PQclear(r);
    return true;
}

static void
add_reason(struct params *params, const char *reason)
{
    param_text(params, reason && *reason ? reason : NULL);
}

bool
recipe_save(struct store *store, const char *name, const char *text, const char *reason, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, name);
    param_text(&params, text);
    add_reason(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.recipe_save($1, $2, $3)", &params, err);
}

bool
recipe_forget(struct store *store, const char *name, const char *reason, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, name);
    add_reason(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.recipe_forget($1, $2)", &params, err);
}
