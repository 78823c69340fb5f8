// Several tables of dead letters in one database: a schema for each, the same ids in all of them, and nothing
// of one in another.
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "world.h"

#include "store/pg.h"
#include "store/schema_files.h"
#include "store/tables.h"

#define PAYMENTS "public.payments_dlq"

static struct store *
open_table(const char *conninfo, const char *table)
{
    struct store *store = NULL;
    const struct store_settings settings = {.conninfo = conninfo, .table = table, .program = "test"};
    assert_works(store_open(&store, &settings, &err));
    return store;
}

static void
create_table(struct world *world, const char *table, int events)
{
    test_sql(world->admin, "CREATE TABLE %s (LIKE public.dlq_events INCLUDING ALL)", table);
    test_sql(world->admin,
             "INSERT INTO %s (id, event_id, event_type, event_payload, error_message, kafka_topic, "
             "kafka_partition, "
             "kafka_offset) SELECT i, 'pay-' || i, 'payment', '{}', 'declined', 'payments', 0, i FROM "
             "generate_series(1, %d) i",
             table, events);
}

static struct store *
migrate_table(struct world *world, const char *table)
{
    struct store *store = open_table(world->conninfo, table);
    struct schema_result result;
    assert_works(schema_migrate(store, &result, &err));
    assert_int_equal(result.to, SCHEMA_VERSION);
    return store;
}

// With 200 events each, whose ids are the same.
static struct store *
make_two(struct world *world)
{
    world_make(world, 200);
    create_table(world, PAYMENTS, 200);
    return migrate_table(world, PAYMENTS);
}

// What the catalog knows of a schema, with the names of the first one and of its table.
static char *
catalog_of(struct world *world, const char *schema, const char *table)
{
    char sql[2000];
    snprintf(
        sql, sizeof sql,
        "SELECT md5(string_agg(regexp_replace(regexp_replace(line, '\\m%s\\M', 'redrive', 'g'), '\\m%s\\M', "
        "'dlq_events', 'g'), E'\\n' ORDER BY line)) FROM ("
        " SELECT pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') AS line FROM pg_proc p"
        "  WHERE p.pronamespace = '%s'::regnamespace"
        " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = '%s'"
        " UNION ALL SELECT table_name || '.' || column_name || data_type || coalesce(column_default, '')"
        "  FROM information_schema.columns WHERE table_schema = '%s'"
        " UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = "
        "'%s'::regnamespace) l",
        schema, table, schema, schema, schema, schema);
    return strdup(test_text(world->admin, sql));
}

static void
a_further_table_has_a_schema_of_its_own(void **state)
{
    (void)state;
    struct world world;
    struct store *payments = make_two(&world);
    assert_string_equal(store_info(world.store)->schema, "redrive");
    assert_string_equal(store_info(payments)->schema, "redrive_payments_dlq");
    assert_string_equal(store_info(payments)->table, PAYMENTS);
    assert_int_equal(store_info(payments)->tables, 2);
    assert_string_not_equal(store_info(payments)->install, store_info(world.store)->install);

    char *first = catalog_of(&world, "redrive", "dlq_events");
    char *second = catalog_of(&world, "redrive_payments_dlq", "payments_dlq");
    assert_string_equal(first, second);
    free(first);
    free(second);
    // No function of the one reaches into the other.
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = "
                    "'redrive_payments_dlq'::regnamespace AND (p.prosrc ~ '\\mredrive\\.[a-z_]' OR "
                    "p.prosrc ~ 'dlq_events' OR p.proconfig::text ~ 'redrive,')"),
        0);
    // The identity towards Kafka stays within the prefix that rights are granted for.
    assert_string_equal(test_text(world.admin, "SELECT split_part(redrive_payments_dlq._txn_id("
                                               "gen_random_uuid(), 'c', 1, 1), '.', 1)"),
                        "redrive");
    store_close(payments);
    world_end(&world);
}

// What a DBA runs by hand is what migrate makes: the same catalog, in the schema of this table.
static void
a_printed_further_schema_is_the_one_that_migrate_makes(void **state)
{
    (void)state;
    struct world made, printed;
    store_close(make_two(&made));
    world_make(&printed, 0);
    create_table(&printed, PAYMENTS, 0);
    struct store *payments = open_table(printed.conninfo, PAYMENTS);
    struct strbuf sql = {0};
    assert_works(schema_print(&(struct schema_wanted){.store = payments, .table = PAYMENTS}, &sql, &err));
    test_sql(printed.admin, "%s", strbuf_text(&sql));
    strbuf_release(&sql);
    store_close(payments);

    char *expected = catalog_of(&made, "redrive_payments_dlq", "payments_dlq");
    char *found = catalog_of(&printed, "redrive_payments_dlq", "payments_dlq");
    assert_string_equal(found, expected);
    free(expected);
    free(found);
    payments = open_table(printed.conninfo, PAYMENTS);
    assert_works(schema_check(payments, &err));
    assert_string_equal(store_info(payments)->schema, "redrive_payments_dlq");
    store_close(payments);
    world_end(&made);
    world_end(&printed);
}

static void
decide(struct world *world, struct store *store, enum operation_action action, int64_t first, int64_t last)
{
    apply_to_end(store, make_operation(world, store, action, first, last), 7);
}

// Two programs at once, on the same ids.
static void
decisions_never_cross(void **state)
{
    (void)state;
    struct world world;
    struct store *payments = make_two(&world);
    store_close(payments);
    pid_t child = fork();
    if (child == 0) {
        struct world theirs = {.conninfo = world.conninfo, .admin = test_connect(world.conninfo)};
        payments = open_table(world.conninfo, PAYMENTS);
        for (int i = 0; i < 10; i++) {
            decide(&theirs, payments, ACTION_DISCARD, 1, 150);
            decide(&theirs, payments, ACTION_RESTORE, 51, 150);
        }
        _exit(0);
    }
    for (int i = 0; i < 10; i++)
        decide(&world, world.store, ACTION_RESOLVE, i * 15 + 1, i * 15 + 15);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(events_in(&world, "RESOLVED"), 150);
    assert_int_equal(events_in(&world, "PENDING"), 50);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM payments_dlq WHERE status = 'DISCARDED' AND id <= 50"),
        50);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM payments_dlq WHERE status = 'PENDING'"),
                     150);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.operation WHERE action <> 'resolve'"), 0);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive_payments_dlq.operation WHERE skipped = 0"),
        11);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive_payments_dlq.audit WHERE action IN "
                                 "('resolve', 'migrate')"),
                     1);
    // An event that is busy in one table is free in the other.
    payments = open_table(world.conninfo, PAYMENTS);
    int64_t ours = make_operation(&world, world.store, ACTION_DISCARD, 151, 160);
    int64_t theirs = make_operation(&world, payments, ACTION_RESOLVE, 151, 160);
    apply_to_end(payments, theirs, 100);
    apply_to_end(world.store, ours, 100);
    assert_int_equal(events_in(&world, "DISCARDED"), 10);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM payments_dlq WHERE status = 'RESOLVED'"),
                     10);
    store_close(payments);
    world_end(&world);
}

static void
the_table_is_found_or_named(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    create_table(&world, PAYMENTS, 1);
    struct store *only = migrate_table(&world, PAYMENTS);
    assert_string_equal(store_info(only)->schema, "redrive"); // the first one, whatever its name
    store_close(only);
    only = open_table(world.conninfo, NULL);
    assert_string_equal(store_info(only)->table, PAYMENTS);
    assert_int_equal(store_info(only)->tables, 1);
    store_close(only);
    const struct store_settings settings = {.conninfo = world.conninfo, .program = "test"};
    const char **tables;
    size_t count;
    assert_works(store_tables(&settings, &world.arena, &tables, &count, &only, &err));
    assert_string_equal(store_info(only)->table, PAYMENTS);
    store_close(only);

    // One without a schema can be read, and says what is missing.
    world.store = open_table(world.conninfo, STORE_TABLE);
    assert_int_equal(store_info(world.store)->schema_version, 0);
    assert_refused(schema_check(world.store, &err), ERR_NOT_FOUND,
                   "redrive migrate --table public.dlq_events");
    struct schema_result result;
    assert_works(schema_migrate(world.store, &result, &err));
    assert_string_equal(store_info(world.store)->schema, "redrive_dlq_events");

    struct store *store;
    assert_refused(store_open(&store, &settings, &err), ERR_USAGE,
                   "--table: public.payments_dlq, public.dlq_events");
    assert_works(store_tables(&settings, &world.arena, &tables, &count, &only, &err));
    assert_int_equal(count, 2);
    assert_null(only);
    assert_string_equal(tables[0], PAYMENTS);
    world_end(&world);
}

static void
names_that_become_the_same_get_a_number(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    static const struct {
        const char *table, *schema;
    } rows[] = {
        {"public.\"Odd-Name's\"", "redrive_odd_name_s"},
        {"public.\"odd.name's\"", "redrive_odd_name_s_2"},
        {"public.a_table_with_a_name_as_long_as_the_server_takes_it_which_is_63b",
         "redrive_a_table_with_a_name_as_long_as_the_server_takes_i"},
        {"other.dlq_events", "redrive_other_dlq_events"},
    };
    test_sql(world.admin, "CREATE SCHEMA other");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        create_table(&world, rows[i].table, 3);
        struct store *store = migrate_table(&world, rows[i].table);
        if (strncmp(store_info(store)->schema, rows[i].schema, 55) != 0)
            fail_msg("%s: %s", rows[i].table, store_info(store)->schema);
        decide(&world, store, ACTION_DISCARD, 1, 2);
        store_close(store);
    }
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM public.\"odd.name's\" WHERE status = 'PENDING'"), 1);
    world_end(&world);
}

// A role that is called as the schema is no schema.
static void
all_schemas_have_one_owner(void **state)
{
    (void)state;
    struct world world;
    struct schema_result result;
    world_begin(&world);
    create_table(&world, PAYMENTS, 3);
    world.store = open_store(world.conninfo);
    assert_works(schema_migrate_as(world.store, "redrive", &result, &err));
    struct store *payments = open_table(world.conninfo, PAYMENTS);
    assert_refused(schema_migrate_as(payments, "somebody_else", &result, &err), ERR_USAGE,
                   "the owner of the first");
    assert_works(schema_migrate(payments, &result, &err));
    assert_string_equal(store_info(payments)->schema, "redrive_payments_dlq");
    assert_string_equal(test_text(world.admin, "SELECT nspowner::regrole FROM pg_namespace WHERE nspname = "
                                               "'redrive_payments_dlq'"),
                        "redrive");
    decide(&world, payments, ACTION_DISCARD, 1, 2);
    store_close(payments);
    test_sql(world.admin, "DROP OWNED BY redrive CASCADE; DROP ROLE redrive");
    world_end(&world);
}

static void
each_has_its_own_version(void **state)
{
    (void)state;
    struct world world;
    struct store *payments = make_two(&world);
    static const char change[] = "ALTER TABLE redrive.recipe ADD COLUMN colour text;";
    const struct schema_upgrade upgrades[] = {
        {.version = SCHEMA_VERSION + 1, .name = "002_colour.sql", .sql = {change, sizeof change - 1}}, {0}};
    struct schema_result result;
    assert_works(schema_migrate_by(payments, upgrades, &result, &err));
    assert_int_equal(result.from, SCHEMA_VERSION);
    assert_int_equal(store_info(payments)->schema_version, SCHEMA_VERSION + 1);
    assert_works(store_reconnect(world.store, &err));
    assert_works(schema_check(world.store, &err));
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM pg_attribute WHERE attname = 'colour' AND "
                                 "attrelid = 'redrive_payments_dlq.recipe'::regclass"),
                     1);
    store_close(payments);
    world_end(&world);
}

// In statements, in what functions say, and in sentences for a person; never in names of Kafka, roles,
// headers, or the program. What was replaced stays as it is.
static void
the_schema_is_put_into_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"SELECT redrive.f() FROM redrive.item, redrive.%I",
         "SELECT redrive_x.f() FROM redrive_x.item, redrive_x.%I"},
        {"SET search_path = pg_catalog, redrive, pg_temp",
         "SET search_path = pg_catalog, redrive_x, pg_temp"},
        {"REVOKE CREATE ON SCHEMA redrive", "REVOKE CREATE ON SCHEMA redrive_x"},
        {"the schema redrive belongs to ana", "the schema redrive_x belongs to ana"},
        {"n.nspname = 'redrive' OR 'redrive'::regnamespace",
         "n.nspname = 'redrive_x' OR 'redrive_x'::regnamespace"},
        {"nextval('redrive.change')", "nextval('redrive_x.change')"},
        {"format('redrive.%s.%s', a)", "format('redrive.%s.%s', a)"},
        {"run redrive migrate; redrive doctor", "run redrive migrate; redrive doctor"},
        {"'redrive-event-id', 'redrive_' || level", "'redrive-event-id', 'redrive_' || level"},
        {"GRANT redrive_operator TO ana", "GRANT redrive_operator TO ana"},
        {"redrive_x.f(), SCHEMA redrive_x", "redrive_x.f(), SCHEMA redrive_x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf text = {0}, same = {0};
        pg_add_in_schema(&text, rows[i].text, "redrive_x");
        assert_string_equal(strbuf_text(&text), rows[i].wanted);
        pg_add_in_schema(&same, rows[i].text, "redrive");
        assert_string_equal(strbuf_text(&same), rows[i].text);
        strbuf_release(&text);
        strbuf_release(&same);
    }
}

// --- rights ---

static void
conninfo_of(const struct world *world, const char *user, char *out, size_t room)
{
    snprintf(out, room, "%s user=%s", world->conninfo, user);
}

static void
a_login_sees_the_tables_it_may_use(void **state)
{
    (void)state;
    struct world world;
    char conninfo[700];
    struct store *payments = make_two(&world);
    test_sql(world.admin,
             "CREATE ROLE redrive_test_payer LOGIN; GRANT SELECT ON payments_dlq TO redrive_test_payer");
    test_sql(world.admin,
             "DO $$ DECLARE s text; BEGIN FOR s IN SELECT "
             "redrive_payments_dlq.grants('redrive_test_payer', 'operator') LOOP EXECUTE s; END LOOP; "
             "END $$");
    conninfo_of(&world, "redrive_test_payer", conninfo, sizeof conninfo);
    struct store *payer = open_table(conninfo, NULL);
    assert_string_equal(store_info(payer)->table, PAYMENTS);
    assert_int_equal(store_info(payer)->tables, 1);
    assert_true(store_info(payer)->may_decide);
    int64_t no = make_operation(&world, payer, ACTION_DISCARD, 1, 5);
    assert_int_equal(no, 1);
    store_close(payer);

    struct store *refused = NULL;
    const struct store_settings settings = {.conninfo = conninfo, .table = STORE_TABLE, .program = "test"};
    assert_refused(store_open(&refused, &settings, &err), ERR_DENIED, "GRANT USAGE ON SCHEMA redrive TO");
    PGconn *session = test_connect(conninfo);
    assert_string_equal(test_state(session, "SELECT redrive.is_copy()"), "42501");
    assert_string_equal(test_state(session, "SELECT * FROM redrive.operation"), "42501");
    assert_string_equal(test_state(session, "UPDATE redrive_payments_dlq.operation SET total = 7"), "42501");
    // No function of the other schema is within reach, and no table.
    assert_int_equal(
        test_number(session, "SELECT count(*) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON "
                             "n.oid = p.pronamespace WHERE n.nspname = 'redrive' AND "
                             "(has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, "
                             "'EXECUTE'))"),
        0);
    assert_int_equal(test_number(session,
                                 "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
                                 "ON n.oid = c.relnamespace WHERE n.nspname = 'redrive' AND c.relkind IN "
                                 "('r', 'v') AND has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE')"),
                     0);
    PQfinish(session);
    store_close(payments);
    test_sql(world.admin, "DROP OWNED BY redrive_test_payer; DROP ROLE redrive_test_payer");
    world_end(&world);
}

// Somebody made a schema of that name before redrive did, which leads to a table of his.
static void
a_squatter_is_not_believed(void **state)
{
    (void)state;
    struct world world;
    char conninfo[700];
    world_make(&world, 3);
    create_table(&world, PAYMENTS, 3);
    test_sql(world.admin,
             "CREATE ROLE redrive_test_mallory LOGIN; GRANT CREATE ON DATABASE %s TO redrive_test_mallory",
             world.db.name);
    conninfo_of(&world, "redrive_test_mallory", conninfo, sizeof conninfo);
    PGconn *mallory = test_connect(conninfo);
    test_sql(mallory,
             "CREATE SCHEMA redrive_payments_dlq; GRANT USAGE ON SCHEMA redrive_payments_dlq TO PUBLIC;"
             "CREATE TABLE redrive_payments_dlq.schema_version (version int, at timestamptz, who name);"
             "CREATE TABLE redrive_payments_dlq.install (source_table text);"
             "INSERT INTO redrive_payments_dlq.install VALUES ('" PAYMENTS "');"
             "GRANT SELECT ON ALL TABLES IN SCHEMA redrive_payments_dlq TO PUBLIC");
    struct store *store = open_table(world.conninfo, PAYMENTS);
    assert_int_equal(store_info(store)->tables, 1);
    assert_int_equal(store_info(store)->schema_version, 0);
    struct schema_result result;
    assert_refused(schema_migrate(store, &result, &err), ERR_DENIED, "belongs to redrive_test_mallory");
    store_close(store);
    test_sql(mallory, "DROP SCHEMA redrive_payments_dlq CASCADE");

    // And the first schema: whoever made it could name any table, where a superuser names none.
    test_sql(world.admin, "DROP SCHEMA redrive CASCADE");
    test_sql(mallory, "CREATE SCHEMA redrive; CREATE TABLE redrive.schema_version (version int);"
                      "CREATE TABLE redrive.mine (id bigint);"
                      "CREATE TABLE redrive.install (source_table text);"
                      "INSERT INTO redrive.install VALUES ('redrive.mine')");
    const struct store_settings settings = {.conninfo = world.conninfo, .program = "test"};
    assert_refused(store_open(&store, &settings, &err), ERR_USAGE, "you are a superuser");
    const char **tables;
    size_t count;
    assert_works(store_tables(&settings, &world.arena, &tables, &count, NULL, &err));
    assert_int_equal(count, 0);
    struct store *only;
    assert_refused(store_tables(&settings, &world.arena, &tables, &count, &only, &err), ERR_USAGE,
                   "you are a superuser");
    // Nothing of it is even read where reading would run something of his.
    test_sql(mallory, "CREATE FUNCTION redrive.evil() RETURNS text LANGUAGE plpgsql AS $$ BEGIN CREATE TABLE "
                      "public.owned (); RETURN 'x.y'; END $$; DROP TABLE redrive.install;"
                      "CREATE VIEW redrive.install AS SELECT redrive.evil() AS source_table");
    assert_refused(store_open(&store, &settings, &err), ERR_DENIED, "belongs to redrive_test_mallory");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM pg_class WHERE relname = 'owned'"), 0);
    PQfinish(mallory);
    test_sql(world.admin, "DROP OWNED BY redrive_test_mallory CASCADE; DROP ROLE redrive_test_mallory");
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_further_table_has_a_schema_of_its_own),
        cmocka_unit_test(a_printed_further_schema_is_the_one_that_migrate_makes),
        cmocka_unit_test(decisions_never_cross),
        cmocka_unit_test(the_table_is_found_or_named),
        cmocka_unit_test(names_that_become_the_same_get_a_number),
        cmocka_unit_test(all_schemas_have_one_owner),
        cmocka_unit_test(each_has_its_own_version),
        cmocka_unit_test(the_schema_is_put_into_texts),
        cmocka_unit_test(a_login_sees_the_tables_it_may_use),
        cmocka_unit_test(a_squatter_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
