#include "actors.h"

struct actors actors;

const char *
make_login(char name[80], const char *stem, const char *group)
{
    snprintf(name, 80, "%s_%s", actors.world.db.name, stem);
    test_sql(actors.world.admin, "CREATE ROLE %s LOGIN %s%s", name, group ? "IN ROLE " : "",
             group ? group : "");
    return name;
}

const char *
conninfo_of(const char *user)
{
    static char conninfo[800];
    snprintf(conninfo, sizeof conninfo, "%s user=%s", actors.world.conninfo, user);
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
begin_actors(void **state)
{
    (void)state;
    world_make(&actors.world, ACTORS_EVENTS);
    make_roles(actors.world.store, true);
    // A column that is none of redrive's business, and the public schema closed to all.
    test_sql(actors.world.admin, "ALTER TABLE public.dlq_events ADD card_number text DEFAULT '4111'");
    make_login(actors.viewer, "vera", "redrive_viewer");
    make_login(actors.worker, "wanda", "redrive_worker");
    make_login(actors.operator_, "olga", "redrive_operator");
    make_login(actors.admin, "ada", "redrive_admin");
    actors.session = test_connect(conninfo_of(actors.operator_));
    test_sql(actors.session, "SET client_min_messages = error");
    return 0;
}

int
end_actors(void **state)
{
    (void)state;
    PQfinish(actors.session);
    const char *const names[] = {actors.viewer, actors.worker, actors.operator_, actors.admin};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", names[i], names[i]);
    world_end(&actors.world);
    return 0;
}
