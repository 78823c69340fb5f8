// Whoever comes first, or comes in beside: schemas and functions that were put where redrive is made, and
// tables whose owner waits for the rights of whoever migrates.
#include "base/strbuf.h"
#include "store/checkup.h"
#include "tests/store/actors.h"

static struct world world;                               // a database of its own for each test
static char mallory[80], maker[80], app[80], keeper[80]; // logins, and a role that a migration makes

static const char *
as(const char *login)
{
    static char conninfo[800];
    snprintf(conninfo, sizeof conninfo, "%s user=%s", world.conninfo, login);
    return conninfo;
}

static void
make_login_of(char name[80], const char *stem)
{
    snprintf(name, 80, "%s_%s", world.db.name, stem);
    test_sql(world.admin, "CREATE ROLE %s LOGIN", name);
}

static int
begin(void **state)
{
    (void)state;
    world_begin(&world);
    add_events(world.admin, 20);
    make_login_of(mallory, "mallory");
    make_login_of(maker, "maker");
    make_login_of(app, "app");
    snprintf(keeper, sizeof keeper, "%s_keeper", world.db.name);
    test_sql(world.admin,
             "GRANT CREATE ON DATABASE %s TO %s, %s; GRANT SELECT, UPDATE ON public.dlq_events TO %s",
             world.db.name, mallory, maker, maker);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    store_close(world.store);
    world.store = NULL;
    PGconn *server = test_connect(getenv("REDRIVE_TEST_PG"));
    const char *const roles[] = {mallory, maker, app, keeper};
    test_sql(world.admin, "SET client_min_messages = error; ALTER TABLE public.dlq_events OWNER TO postgres");
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        test_sql(world.admin,
                 "DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN DROP OWNED BY %s "
                 "CASCADE; END IF; END $$",
                 roles[i], roles[i]);
    world_end(&world);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        test_sql(server, "DROP ROLE IF EXISTS %s", roles[i]);
    PQfinish(server);
    return 0;
}

static void
assert_refuses(const char *login, const char *owner, const char *words)
{
    struct store *store = open_store(login ? as(login) : world.conninfo);
    struct schema_result result;
    assert_refused(schema_migrate_as(store, owner, &result, &err), ERR_DENIED, words);
    store_close(store);
}

static void
assert_migrates(const char *login, const char *owner)
{
    struct store *store = open_store(login ? as(login) : world.conninfo);
    struct schema_result result;
    assert_works(schema_migrate_as(store, owner, &result, &err));
    store_close(store);
}

// What mallory leaves behind for others to call.
#define HIS_AUDIT                                                                                            \
    "CREATE FUNCTION redrive._audit(p_action text, p_operation bigint, p_events bigint, p_reason text, "     \
    "p_detail text) RETURNS void LANGUAGE sql AS 'SELECT';"

static bool
is_superuser(const char *role)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT rolsuper::int FROM pg_roles WHERE rolname = '%s'", role);
    return test_number(world.admin, sql) == 1;
}

static void assert_finds(const char *words);

static void
a_schema_of_somebody_else_is_not_built_on(void **state)
{
    (void)state;
    PGconn *squatter = test_connect(as(mallory));
    test_sql(squatter, "CREATE SCHEMA redrive; " HIS_AUDIT);
    char words[200];
    snprintf(words, sizeof words, "the schema redrive belongs to %s", mallory);
    assert_refuses(NULL, NULL, words);
    assert_refuses(maker, NULL, words);
    assert_refuses(NULL, keeper, words);
    PQfinish(squatter);
    snprintf(words, sizeof words, "WRONG the schema redrive belongs to %s, and redrive is not installed",
             mallory);
    assert_finds(words);
    assert_finds("DROP SCHEMA redrive CASCADE, then redrive migrate");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM pg_proc WHERE pronamespace = "
                                              "'redrive'::regnamespace"),
                     1);
    // The printed script says the same to a DBA.
    struct strbuf sql = {0};
    assert_works(schema_print(&(struct schema_wanted){.table = "public.dlq_events"}, &sql, &err));
    assert_string_equal(test_state(world.admin, strbuf_text(&sql)), "RD003");
    test_sql(world.admin, "ROLLBACK; DROP SCHEMA redrive CASCADE");
    strbuf_release(&sql);
    assert_migrates(NULL, NULL);
}

// What looks like an install is called by every command that a superuser runs, doctor and migrate first.
static void
a_superuser_calls_nothing_of_a_squatter(void **state)
{
    (void)state;
    PGconn *squatter = test_connect(as(mallory));
    test_sql(
        squatter,
        "CREATE SCHEMA redrive; CREATE FUNCTION redrive.gain() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
        " EXECUTE 'ALTER ROLE %s SUPERUSER'; RETURN 1; EXCEPTION WHEN insufficient_privilege THEN RETURN 1;"
        " END $$; CREATE VIEW redrive.schema_version AS SELECT redrive.gain() AS version;"
        " CREATE VIEW redrive.install AS SELECT gen_random_uuid() AS id, 'public.dlq_events' AS source_table,"
        " 'UTC' AS zone; CREATE FUNCTION redrive.is_copy() RETURNS boolean LANGUAGE sql AS 'SELECT "
        "redrive.gain() > 1'; GRANT USAGE ON SCHEMA redrive TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA "
        "redrive TO PUBLIC",
        mallory);
    PQfinish(squatter);
    struct store *store = NULL;
    const struct store_settings settings = {
        .conninfo = world.conninfo, .table = "public.dlq_events", .program = "test"};
    assert_refused(store_open(&store, &settings, &err), ERR_DENIED, "nothing in it is called by a superuser");
    assert_false(is_superuser(mallory));
}

// The schema is the migrator's own, but others were let into it.
static void
what_others_planted_is_not_built_on(void **state)
{
    (void)state;
    test_sql(world.admin, "CREATE SCHEMA redrive AUTHORIZATION %s; GRANT ALL ON SCHEMA redrive TO %s", maker,
             mallory);
    assert_refuses(maker, NULL, "may create functions in the schema redrive");
    PGconn *squatter = test_connect(as(mallory));
    static const char *const plants[] = {
        HIS_AUDIT,
        "CREATE VIEW redrive.item AS SELECT 1",
        "CREATE TYPE redrive.change AS ENUM ('x')",
    };
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        test_sql(squatter, "%s", plants[i]);
        assert_refuses(maker, NULL, "holds what redrive did not make");
        test_sql(world.admin,
                 "DROP OWNED BY %s CASCADE; GRANT ALL ON SCHEMA redrive TO %s; GRANT CREATE ON "
                 "DATABASE %s TO %s",
                 mallory, mallory, world.db.name, mallory);
    }
    test_sql(world.admin, "REVOKE ALL ON SCHEMA redrive FROM %s", mallory);
    assert_migrates(maker, NULL);

    // Later, beside what is installed: an overload that a call may prefer.
    test_sql(world.admin, "GRANT CREATE, USAGE ON SCHEMA redrive TO %s", mallory);
    test_sql(squatter, "CREATE FUNCTION redrive._audit(text, bigint, integer, text, text) RETURNS void "
                       "LANGUAGE sql AS 'SELECT'");
    test_sql(world.admin, "REVOKE CREATE ON SCHEMA redrive FROM %s", mallory);
    assert_refuses(maker, NULL, "function redrive._audit(text,bigint,integer,text,text) of ");
    PQfinish(squatter);
}

static void
an_empty_schema_of_ones_own_is_used(void **state)
{
    (void)state;
    test_sql(world.admin, "CREATE SCHEMA redrive AUTHORIZATION %s; REVOKE CREATE ON DATABASE %s FROM %s",
             maker, world.db.name, maker);
    assert_migrates(maker, NULL);
    assert_migrates(maker, NULL);
}

#define HIS_TRIGGER                                                                                          \
    "CREATE FUNCTION public.gain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE ' || "   \
    "quote_ident(TG_ARGV[0]) || ' SUPERUSER'; RETURN NEW; EXCEPTION WHEN insufficient_privilege THEN "       \
    "RETURN NEW; END $$; CREATE TRIGGER gain BEFORE UPDATE ON public.dlq_events FOR EACH ROW EXECUTE "       \
    "FUNCTION public.gain('%s')"

static void
give_the_table_to_app(void)
{
    test_sql(world.admin, "GRANT ALL ON SCHEMA public TO %s; ALTER TABLE public.dlq_events OWNER TO %s", app,
             app);
    PGconn *owner = test_connect(as(app));
    test_sql(owner, HIS_TRIGGER, app);
    PQfinish(owner);
}

static void
a_superuser_gives_his_rights_to_no_trigger(void **state)
{
    (void)state;
    give_the_table_to_app();
    assert_refuses(NULL, NULL, "--owner redrive_owner");
    assert_refuses(NULL, "postgres", "is a superuser, and a trigger on");
    assert_migrates(NULL, keeper);
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(DISTINCT pg_get_userbyid(o), ' ') FROM ("
                                  " SELECT proowner FROM pg_proc WHERE pronamespace = "
                                  "'redrive'::regnamespace"
                                  " UNION ALL SELECT relowner FROM pg_class WHERE relnamespace = "
                                  "'redrive'::regnamespace"
                                  " UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = "
                                  "'redrive') AS w (o)"),
                        keeper);
    char sql[200];
    snprintf(
        sql, sizeof sql,
        "SELECT concat(rolcanlogin, rolsuper, rolcreaterole, rolbypassrls) FROM pg_roles WHERE rolname = "
        "'%s'",
        keeper);
    assert_string_equal(test_text(world.admin, sql), "ffff");

    world.store = open_store(world.conninfo);
    apply_operation(&world, ACTION_DISCARD, 1, 5);
    assert_int_equal(events_in(&world, "DISCARDED"), 5);
    assert_false(is_superuser(app));
    // From now on the owner is named each time, so that nobody builds on another by mistake.
    assert_refuses(NULL, NULL, "is a superuser, and a trigger on");
    assert_migrates(NULL, keeper);
}

// An install that a superuser made is given away, with all it has.
static void
a_schema_is_given_to_a_role_without_login(void **state)
{
    (void)state;
    assert_migrates(NULL, NULL);
    world.store = open_store(world.conninfo);
    apply_operation(&world, ACTION_DISCARD, 1, 5);
    assert_migrates(NULL, keeper);
    give_the_table_to_app();
    test_sql(world.admin, "GRANT SELECT, UPDATE ON public.dlq_events TO %s", keeper);
    apply_operation(&world, ACTION_DISCARD, 6, 9);
    assert_int_equal(events_in(&world, "DISCARDED"), 9);
    assert_false(is_superuser(app));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM pg_depend d LEFT JOIN pg_shdepend s ON "
                                              "s.classid = d.classid AND s.objid = d.objid AND s.deptype = "
                                              "'o' AND s.dbid = (SELECT oid FROM pg_database WHERE datname = "
                                              "current_database()) WHERE d.refclassid = "
                                              "'pg_namespace'::regclass AND d.refobjid = "
                                              "'redrive'::regnamespace AND s.refobjid IS NULL"),
                     0);
}

// --- doctor ---

static char found[20000];

static void
note_finding(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    (void)context;
    size_t len = strlen(found);
    snprintf(found + len, sizeof found - len, "%s %s -> %s\n", verdict == CHECKUP_WRONG ? "WRONG" : "said",
             sentence, remedy);
}

static void
assert_finds(const char *words)
{
    found[0] = '\0';
    struct store *store = open_store(world.conninfo);
    assert_works(store_checkup(store, note_finding, NULL, &err));
    store_close(store);
    if (!strstr(found, words))
        fail_msg("\"%s\" is missing in:\n%s", words, found);
}

static void
doctor_says_who_has_rights_in_the_schema(void **state)
{
    (void)state;
    assert_migrates(NULL, NULL);
    assert_finds("said everything in the schema redrive belongs to its owner");
    assert_finds("who may log in");

    give_the_table_to_app();
    assert_finds("WRONG the schema redrive belongs to postgres, who is a superuser, and a trigger on");
    assert_finds("run with the rights of postgres when redrive changes an event: gain");

    test_sql(world.admin, "ALTER TABLE public.dlq_events ENABLE ROW LEVEL SECURITY");
    assert_finds("WRONG public.dlq_events has row level security, which redrive does not keep");

    test_sql(world.admin, "GRANT CREATE, USAGE ON SCHEMA redrive TO %s", mallory);
    PGconn *squatter = test_connect(as(mallory));
    test_sql(squatter, "CREATE FUNCTION redrive.gain() RETURNS int LANGUAGE sql AS 'SELECT 1'");
    PQfinish(squatter);
    char words[200];
    snprintf(words, sizeof words, "WRONG in the schema redrive: function redrive.gain() belongs to %s",
             mallory);
    assert_finds(words);
    snprintf(words, sizeof words, "-> REVOKE CREATE ON SCHEMA redrive FROM %s;", mallory);
    assert_finds(words);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_schema_of_somebody_else_is_not_built_on, begin, end),
        cmocka_unit_test_setup_teardown(a_superuser_calls_nothing_of_a_squatter, begin, end),
        cmocka_unit_test_setup_teardown(what_others_planted_is_not_built_on, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_schema_of_ones_own_is_used, begin, end),
        cmocka_unit_test_setup_teardown(a_superuser_gives_his_rights_to_no_trigger, begin, end),
        cmocka_unit_test_setup_teardown(a_schema_is_given_to_a_role_without_login, begin, end),
        cmocka_unit_test_setup_teardown(doctor_says_who_has_rights_in_the_schema, begin, end),
    };
    return cmocka_run_group_tests_name("squatters", tests, NULL, NULL);
}
