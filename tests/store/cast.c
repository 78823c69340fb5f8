#include "cast.h"

struct cast cast;

const char *
make_login(char name[80], const char *stem, const char *group)
{
    snprintf(name, 80, "%s_%s", cast.world.db.name, stem);
    test_sql(cast.world.admin, "CREATE ROLE %s LOGIN %s%s", name, group ? "IN ROLE " : "",
             group ? group : "");
    return name;
}

const char *
conninfo_of(const char *user)
{
    static char conninfo[800];
    snprintf(conninfo, sizeof conninfo, "%s user=%s", cast.world.conninfo, user);
    return conninfo;
}

struct store *
store_of(const char *user)
{
    return open_store(conninfo_of(user));
}

void
make_roles(struct store *store, bool make)
{
    struct strbuf left = {0};
    assert_works(schema_roles(store, make, &left, &err));
    assert_string_equal(strbuf_text(&left), "");
    strbuf_release(&left);
}

int
begin_cast(void **state)
{
    (void)state;
    world_make(&cast.world, CAST_EVENTS);
    make_roles(cast.world.store, true);
    // A column that is none of redrive's business, and the public schema closed to all.
    test_sql(cast.world.admin, "ALTER TABLE public.dlq_events ADD card_number text DEFAULT '4111'");
    make_login(cast.viewer, "vera", "redrive_viewer");
    make_login(cast.worker, "wanda", "redrive_worker");
    make_login(cast.operator_, "olga", "redrive_operator");
    make_login(cast.admin, "ada", "redrive_admin");
    cast.session = test_connect(conninfo_of(cast.operator_));
    test_sql(cast.session, "SET client_min_messages = error");
    return 0;
}

int
end_cast(void **state)
{
    (void)state;
    PQfinish(cast.session);
    const char *const names[] = {cast.viewer, cast.worker, cast.operator_, cast.admin};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        test_sql(cast.world.admin, "DROP OWNED BY %s; DROP ROLE %s", names[i], names[i]);
    world_end(&cast.world);
    return 0;
}
