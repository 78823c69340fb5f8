// How the roles of the levels come to be, and are kept up.
#include "actors.h"
#include "base/alloc.h"

static void
roles_are_kept_up_by_each_migration(void **state)
{
    (void)state;
    test_sql(actors.world.admin,
             "CREATE FUNCTION redrive.newest() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';"
             "REVOKE ALL ON FUNCTION redrive.newest() FROM PUBLIC;"
             "CREATE TABLE redrive.newer (i int)");
    assert_string_equal(test_state(actors.session, "SELECT redrive.newest()"), "42501");
    make_roles(actors.world.store, false);
    assert_string_equal(test_state(actors.session, "SELECT redrive.newest()"), "");
    assert_string_equal(test_state(actors.session, "SELECT * FROM redrive.newer"), "");
    assert_string_equal(test_state(actors.session, "INSERT INTO redrive.newer VALUES (1)"), "42501");
    test_sql(actors.world.admin, "DROP FUNCTION redrive.newest(); DROP TABLE redrive.newer");
}

static void
a_split_of_duties_outlives_a_migration(void **state)
{
    (void)state;
    test_sql(actors.world.admin, "REVOKE redrive_worker FROM redrive_operator");
    make_roles(actors.world.store, true);
    struct store *store = store_of(actors.operator_);
    int64_t no = make_operation(&actors.world, store, ACTION_DISCARD, 51, 51), applied, left;
    assert_refused(work_apply(store, no, 10, &applied, &left, &err), ERR_DENIED, "GRANT redrive_worker TO");
    test_sql(actors.world.admin, "GRANT redrive_worker TO redrive_operator");
    assert_works(work_apply(store, no, 10, &applied, &left, &err));
    store_close(store);
}

static void
another_database_of_the_server_gives_nothing_unasked(void **state)
{
    (void)state;
    struct world other;
    world_make(&other, 1);
    make_roles(other.store, false);
    assert_int_equal(
        test_number(other.admin, "SELECT has_schema_privilege('redrive_operator', 'redrive', 'USAGE')::int"),
        0);
    make_roles(other.store, true);
    assert_int_equal(
        test_number(other.admin, "SELECT has_schema_privilege('redrive_operator', 'redrive', 'USAGE')::int"),
        1);
    world_end(&other);
}

static void
the_printed_sql_makes_the_same(void **state)
{
    (void)state;
    struct world other;
    struct strbuf sql = {0};
    world_begin(&other);
    assert_works(
        schema_print(&(struct schema_wanted){.table = "public.dlq_events", .with_roles = true}, &sql, &err));
    test_sql(other.admin, "%s", strbuf_text(&sql));
    static const char rights_sql[] =
        "SELECT string_agg(DISTINCT p.proname || ':' || g.grantee::regrole, ' ') FROM pg_proc p, "
        "aclexplode(p.proacl) g"
        " WHERE p.pronamespace = 'redrive'::regnamespace AND g.grantee::regrole::text LIKE 'redrive\\_%'";
    char *wanted = alloc_text(test_text(actors.world.admin, rights_sql));
    assert_string_equal(test_text(other.admin, rights_sql), wanted);
    free(wanted);
    strbuf_release(&sql);
    world_end(&other);
}

static void
without_the_right_to_create_roles_the_error_has_the_statements(void **state)
{
    (void)state;
    struct world other;
    struct strbuf left = {0};
    world_begin(&other);
    make_login(actors.owner, "owen", NULL);
    test_sql(other.admin,
             "GRANT CREATE ON DATABASE %s TO %s; GRANT SELECT, UPDATE ON public.dlq_events TO %s",
             other.db.name, actors.owner, actors.owner);
    char conninfo[800];
    snprintf(conninfo, sizeof conninfo, "%s user=%s", other.conninfo, actors.owner);
    other.store = open_store(conninfo);
    struct schema_result result;
    assert_works(schema_migrate(other.store, &result, &err));
    // The roles are there already, so what is left is the table that belongs to somebody else.
    assert_works(schema_roles(other.store, true, &left, &err));
    assert_non_null(strstr(strbuf_text(&left), "GRANT SELECT (id, event_id,"));
    assert_non_null(strstr(strbuf_text(&left), "ON public.dlq_events TO redrive_viewer;"));
    strbuf_reset(&left);
    // A superuser's own function stands where pg_roles is looked into: as if they were not.
    test_sql(other.admin, "ALTER ROLE redrive_viewer RENAME TO redrive_viewer_gone");
    struct err err = {0};
    bool was_made = schema_roles(other.store, true, &left, &err);
    test_sql(other.admin, "ALTER ROLE redrive_viewer_gone RENAME TO redrive_viewer");
    assert_false(was_made);
    assert_int_equal(err.kind, ERR_DENIED);
    assert_non_null(strstr(err.text, "CREATE ROLE redrive_viewer NOLOGIN;"));
    strbuf_release(&left);
    PGconn *admin = test_connect(other.conninfo);
    store_close(other.store);
    other.store = NULL;
    test_sql(admin, "DROP OWNED BY %s CASCADE; DROP ROLE %s", actors.owner, actors.owner);
    PQfinish(admin);
    world_end(&other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_are_kept_up_by_each_migration),
        cmocka_unit_test(a_split_of_duties_outlives_a_migration),
        cmocka_unit_test(another_database_of_the_server_gives_nothing_unasked),
        cmocka_unit_test(the_printed_sql_makes_the_same),
        cmocka_unit_test(without_the_right_to_create_roles_the_error_has_the_statements),
    };
    return cmocka_run_group_tests_name("roles", tests, begin_actors, end_actors);
}
