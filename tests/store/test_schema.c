// The schema: made once, by whoever comes first; printed as it runs; refused when it is newer.
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "world.h"

#include "async/thread.h"
#include "store/operations/adoption.h"
#include "store/schema_files.h"

static void
migrates_twice(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.store = open_store(world.conninfo);
    assert_int_equal(store_info(world.store)->schema_version, 0);
    assert_refused(schema_check(world.store, &err), ERR_NOT_FOUND, "redrive migrate");

    struct schema_result result;
    assert_works(schema_migrate(world.store, &result, &err));
    assert_int_equal(result.from, 0);
    assert_int_equal(result.to, SCHEMA_VERSION);
    assert_works(schema_check(world.store, &err));
    assert_int_equal(strlen(store_info(world.store)->install), 36);
    assert_false(store_info(world.store)->is_copy);
    char install[37];
    snprintf(install, sizeof install, "%s", store_info(world.store)->install);

    assert_works(schema_migrate(world.store, &result, &err));
    assert_int_equal(result.from, SCHEMA_VERSION);
    assert_string_equal(store_info(world.store)->install, install);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'migrate'"),
                     1);
    // The contract table is as it was.
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'public.dlq_events'::regclass"),
        0);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM pg_index WHERE indrelid = 'public.dlq_events'::regclass"),
        5);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM pg_constraint WHERE confrelid = 'public.dlq_events'::regclass"),
        0);
    world_end(&world);
}

// In a child of its own; the exit status tells.
static pid_t
migrate_in_child(const char *conninfo)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct err err = {0};
    struct store *store;
    struct schema_result result;
    const struct store_settings settings = {
        .conninfo = conninfo, .table = "public.dlq_events", .program = "test"};
    bool ok = store_open(&store, &settings, &err) && schema_migrate(store, &result, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err.text);
    _exit(ok ? 0 : 1);
}

static void
migrates_from_four_sides_at_once(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    pid_t children[4];
    for (int i = 0; i < 4; i++)
        children[i] = migrate_in_child(world.conninfo);
    for (int i = 0; i < 4; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(test_number(world.admin, "SELECT max(version) FROM redrive.schema_version"),
                     SCHEMA_VERSION);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.install"), 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit"), 1);
    world_end(&world);
}

static void
refuses_a_newer_schema(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    test_sql(world.admin, "INSERT INTO redrive.schema_version (version) VALUES (%d)", SCHEMA_VERSION + 1);
    struct schema_result result;
    assert_refused(schema_migrate(world.store, &result, &err), ERR_USAGE, "use the newer program");
    assert_works(store_reconnect(world.store, &err));
    assert_refused(schema_check(world.store, &err), ERR_USAGE, "use the newer program");
    world_end(&world);
}

// Everything the catalog knows of the schema, in one text.
static const char catalog_sql[] =
    "SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM ("
    " SELECT 'function ' || pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') AS line FROM pg_proc p "
    "WHERE pronamespace = 'redrive'::regnamespace"
    " UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'redrive'"
    " UNION ALL SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || "
    "is_nullable || coalesce(column_default, '')"
    "  FROM information_schema.columns WHERE table_schema = 'redrive'"
    " UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || "
    "pg_get_constraintdef(oid) FROM pg_constraint"
    "  WHERE connamespace = 'redrive'::regnamespace"
    " UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE tgrelid "
    "= 'redrive.audit'::regclass"
    " UNION ALL SELECT 'install ' || source_table || zone || system_identifier FROM redrive.install"
    " UNION ALL SELECT 'version ' || version FROM redrive.schema_version"
    " UNION ALL SELECT 'audit ' || action || detail FROM redrive.audit) AS lines";

// A version that does not exist: a column more, by an upgrade, and one of the functions that are there.
static const char later_sql[] = "ALTER TABLE redrive.worker ADD COLUMN colour text NOT NULL DEFAULT 'grey';"
                                " UPDATE redrive.worker SET colour = 'red';";
static const struct schema_upgrade later[] = {
    {.version = 2, .name = "002_colour.sql", .sql = {later_sql, sizeof later_sql - 1}}, {0}};
static const char broken_sql[] = "ALTER TABLE redrive.worker ADD COLUMN colour text;"
                                 " ALTER TABLE redrive.nothing ADD COLUMN colour text;";
static const struct schema_upgrade torn[] = {
    {.version = 2, .name = "002_broken.sql", .sql = {broken_sql, sizeof broken_sql - 1}}, {0}};

static const char *
versions(struct world *world)
{
    return test_text(world->admin,
                     "SELECT string_agg(version::text, ' ' ORDER BY version) FROM redrive.schema_version");
}

static void
says_that_an_old_schema_needs_migrating(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    assert_works(schema_check(world.store, &err));
    assert_refused(schema_check_by(world.store, later, &err), ERR_USAGE, "run redrive migrate");
    test_sql(world.admin, "DELETE FROM redrive.schema_version");
    assert_works(store_reconnect(world.store, &err));
    assert_refused(schema_check(world.store, &err), ERR_NOT_FOUND, "run redrive migrate");
    world_end(&world);
}

// By the upgrade and the functions alone: what is in the tables stays.
static void
a_later_version_upgrades_what_is_there(void **state)
{
    (void)state;
    struct world old, fresh;
    world_make(&old, 10);
    int64_t discard = make_operation(&old, old.store, ACTION_DISCARD, 1, 2);
    apply_to_end(old.store, discard, 10);
    test_sql(old.admin,
             "INSERT INTO redrive.worker (name, publishes) VALUES ('w', true);"
             " CREATE OR REPLACE FUNCTION redrive.has_sent() RETURNS boolean LANGUAGE sql AS 'SELECT true'");
    struct schema_result result;
    assert_works(schema_migrate_by(old.store, later, &result, &err));
    assert_int_equal(result.from, 1);
    assert_int_equal(result.to, 2);
    assert_string_equal(versions(&old), "1 2");
    assert_string_equal(test_text(old.admin, "SELECT colour FROM redrive.worker"), "red");
    assert_int_equal(test_number(old.admin, "SELECT redrive.has_sent()::int4"), 0);
    assert_int_equal(get_operation(&old, discard).done, 2);
    assert_int_equal(
        test_number(old.admin, "SELECT count(*) FROM redrive.audit WHERE detail = 'schema version 1 to 2'"),
        1);
    assert_works(schema_check_by(old.store, later, &err));
    assert_works(schema_migrate_by(old.store, later, &result, &err));
    assert_int_equal(result.from, 2);

    // A database that begins with it becomes the same, but for what is in the tables.
    world_begin(&fresh);
    fresh.store = open_store(fresh.conninfo);
    assert_works(schema_migrate_by(fresh.store, later, &result, &err));
    assert_int_equal(result.from, 0);
    assert_string_equal(versions(&fresh), "1 2");
    char expected[64];
    test_sql(old.admin, "ALTER TABLE redrive.audit DISABLE TRIGGER ALL; DELETE FROM redrive.audit;"
                        " ALTER TABLE redrive.audit ENABLE ALWAYS TRIGGER audit_is_final");
    test_sql(fresh.admin, "ALTER TABLE redrive.audit DISABLE TRIGGER ALL; DELETE FROM redrive.audit;"
                          " ALTER TABLE redrive.audit ENABLE ALWAYS TRIGGER audit_is_final");
    snprintf(expected, sizeof expected, "%s", test_text(old.admin, catalog_sql));
    assert_string_equal(test_text(fresh.admin, catalog_sql), expected);

    // A program that does not know it leaves it alone.
    assert_refused(schema_migrate(old.store, &result, &err), ERR_USAGE, "use the newer program");
    assert_refused(schema_check(old.store, &err), ERR_USAGE, "use the newer program");
    world_end(&old);
    world_end(&fresh);
}

// Of the same version: a program that says "run redrive migrate" must find that it helps.
static void
functions_of_another_build_are_replaced(void **state)
{
    (void)state;
    struct world world;
    struct schema_result result;
    bool are_ours;
    world_make(&world, 0);
    assert_works(schema_migrate(world.store, &result, &err));
    assert_false(result.has_renewed);
    assert_works(schema_functions_are_ours(world.store, &are_ours, &err));
    assert_true(are_ours);
    test_sql(world.admin,
             "CREATE OR REPLACE FUNCTION redrive.has_sent() RETURNS boolean LANGUAGE sql AS 'SELECT true';"
             " COMMENT ON TABLE redrive.schema_version IS 'functions 00000000'");
    assert_works(schema_functions_are_ours(world.store, &are_ours, &err));
    assert_false(are_ours);
    assert_works(schema_migrate(world.store, &result, &err));
    assert_true(result.has_renewed);
    assert_int_equal(result.from, result.to);
    assert_int_equal(test_number(world.admin, "SELECT redrive.has_sent()::int4"), 0);
    assert_string_equal(versions(&world), "1");
    assert_works(schema_migrate(world.store, &result, &err));
    assert_false(result.has_renewed);
    // One that was made before there was such a comment.
    test_sql(world.admin, "COMMENT ON TABLE redrive.schema_version IS NULL");
    assert_works(schema_migrate(world.store, &result, &err));
    assert_true(result.has_renewed);
    world_end(&world);
}

static void
an_upgrade_that_fails_leaves_all_as_it_was(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    char before[64];
    snprintf(before, sizeof before, "%s", test_text(world.admin, catalog_sql));
    struct schema_result result;
    assert_refused(schema_migrate_by(world.store, torn, &result, &err), ERR_NOT_FOUND, "left as it was");
    assert_string_equal(test_text(world.admin, catalog_sql), before);
    assert_works(schema_check(world.store, &err));
    world_end(&world);
}

static void
prints_what_it_runs(void **state)
{
    (void)state;
    struct world made, printed;
    world_make(&made, 0);
    world_begin(&printed);
    struct strbuf sql = {0};
    assert_works(schema_print(&(struct schema_wanted){.table = "public.dlq_events"}, &sql, &err));
    PGresult *r = PQexec(printed.admin, strbuf_text(&sql));
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s", PQerrorMessage(printed.admin));
    PQclear(r);
    strbuf_release(&sql);

    char expected[64];
    snprintf(expected, sizeof expected, "%s", test_text(made.admin, catalog_sql));
    assert_string_equal(test_text(printed.admin, catalog_sql), expected);
    printed.store = open_store(printed.conninfo);
    assert_works(schema_check(printed.store, &err));
    world_end(&made);
    world_end(&printed);
}

static void
works_on_a_table_with_a_strange_name(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    test_sql(world.admin,
             "CREATE SCHEMA \"Dead ''letters\"; ALTER TABLE public.dlq_events SET SCHEMA \"Dead ''letters\";"
             "ALTER TABLE \"Dead ''letters\".dlq_events RENAME TO \"d\"\"lq\"");
    test_sql(world.admin,
             "INSERT INTO \"Dead ''letters\".\"d\"\"lq\" (event_id, event_type, event_payload, error_message)"
             " SELECT 'e' || i, 't', '{}', 'boom' FROM generate_series(1, 5) AS i");
    const struct store_settings settings = {.conninfo = world.conninfo,
                                            .table = "\"Dead ''letters\".\"d\"\"lq\"",
                                            .zone = "Asia/Kathmandu",
                                            .program = "test"};
    assert_works(store_open(&world.store, &settings, &err));
    struct schema_result result;
    assert_works(schema_migrate(world.store, &result, &err));
    assert_int_equal(store_info(world.store)->zone_us, 20700 * US_PER_SECOND);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 5);
    int64_t applied, left;
    assert_works(work_apply(world.store, no, 10, &applied, &left, &err));
    assert_int_equal(applied, 5);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM \"Dead ''letters\".\"d\"\"lq\" WHERE status = 'DISCARDED'"
                    " AND resolved_at BETWEEN (now() AT TIME ZONE 'Asia/Kathmandu') - interval '1 min'"
                    " AND (now() AT TIME ZONE 'Asia/Kathmandu') + interval '1 min'"),
        5);
    world_end(&world);
}

static void
takes_no_other_table_and_no_bad_name(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store;
    struct store_settings settings = {.conninfo = world.conninfo, .table = "public.other", .program = "test"};
    // The schema that is there is another table's.
    assert_works(store_open(&store, &settings, &err));
    assert_int_equal(store_info(store)->schema_version, 0);
    assert_refused(schema_check(store, &err), ERR_NOT_FOUND, "redrive migrate --table public.other");
    store_close(store);
    static const char *const bad[] = {"",    "a.b.c", "a.",  ".b", "a b", "a;drop table x",
                                      "\"a", "a.\"",  "x\"y"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        settings.table = bad[i];
        assert_refused(store_open(&store, &settings, &err), ERR_USAGE, "is not the name of a table");
    }
    settings.table = "PUBLIC.Dlq_Events"; // folded, as PostgreSQL does
    assert_works(store_open(&store, &settings, &err));
    store_close(store);
    settings.table = "dlq_events";
    assert_works(store_open(&store, &settings, &err));
    store_close(store);
    settings.table = "public.dlq_events";
    settings.zone = "Mars/Olympus";
    assert_refused(store_open(&store, &settings, &err), ERR_USAGE, "time zone");
    world_end(&world);
}

static void
takes_over_a_zone(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store;
    const struct store_settings settings = {
        .conninfo = world.conninfo, .table = "public.dlq_events", .zone = "Asia/Tokyo", .program = "test"};
    assert_works(store_open(&store, &settings, &err));
    struct schema_result result;
    assert_works(schema_migrate(store, &result, &err));
    store_close(store);
    assert_works(store_reconnect(world.store, &err));
    assert_int_equal(store_info(world.store)->zone_us, 9 * 3600 * US_PER_SECOND);
    world_end(&world);
}

static void
offers_indexes(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    assert_works(schema_create_indexes(world.store, &err));
    assert_works(schema_create_indexes(world.store, &err));
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM pg_index WHERE indrelid = 'public.dlq_events'::regclass"),
        7);
    struct strbuf sql = {0};
    assert_works(schema_print_indexes("public.dlq_events", &sql, &err));
    assert_non_null(strstr(strbuf_text(&sql), "CREATE INDEX CONCURRENTLY"));
    strbuf_release(&sql);
    world_end(&world);
}

static int64_t
indexes_of(struct world *world, const char *table, const char *what)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
             " WHERE x.indrelid = '%s'::regclass AND x.indisvalid AND i.relname ~ 'redrive' AND %s",
             table, what);
    return test_number(world->admin, sql);
}

static void
offers_indexes_by_partition(void **state)
{
    (void)state;
    struct world world;
    world_make_partitioned(&world, 10);
    // One level more, and a partition whose build broke off once.
    test_sql(
        world.admin,
        "CREATE SCHEMA \"Far\"; ALTER TABLE public.dlq_events DETACH PARTITION public.dlq_new;"
        "CREATE TABLE \"Far\".\"Dlq 20\" PARTITION OF public.dlq_events FOR VALUES FROM ('2020-01-01') TO"
        " (MAXVALUE) PARTITION BY RANGE (id);"
        "CREATE TABLE \"Far\".low PARTITION OF \"Far\".\"Dlq 20\" FOR VALUES FROM (MINVALUE) TO (5);"
        "CREATE TABLE \"Far\".high PARTITION OF \"Far\".\"Dlq 20\" FOR VALUES FROM (5) TO (MAXVALUE)");
    char broken[80];
    snprintf(broken, sizeof broken, "p%lld_redrive_pending",
             (long long)test_number(world.admin, "SELECT '\"Far\".low'::regclass::oid::bigint"));
    test_sql(world.admin,
             "CREATE INDEX \"%s\" ON \"Far\".low (id) WHERE status = 'PENDING';"
             "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '\"Far\".\"%s\"'::regclass",
             broken, broken);
    assert_works(schema_create_indexes(world.store, &err));
    static const char *const tables[] = {"public.dlq_events", "public.dlq_old", "\"Far\".\"Dlq 20\"",
                                         "\"Far\".low", "\"Far\".high"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(indexes_of(&world, tables[i], i == 0 ? "true" : "i.relispartition"), 2);

    // Again, with a partition that came later and has its index from its parent: nothing is made twice.
    test_sql(world.admin, "CREATE TABLE public.dlq_odd PARTITION OF public.dlq_events DEFAULT");
    assert_works(schema_create_indexes(world.store, &err));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(indexes_of(&world, tables[i], "true"), 2);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM pg_index x JOIN pg_inherits i ON i.inhrelid = "
                                 "x.indexrelid WHERE x.indrelid = 'public.dlq_odd'::regclass AND x.indisvalid"
                                 " AND i.inhparent::regclass::text ~ 'redrive'"),
                     2);
    world_end(&world);
}

struct making {
    struct store *store;
    struct err err;
    bool ok;
    atomic_bool is_over;
};

static void
make_indexes(void *context)
{
    struct making *making = context;
    making->ok = schema_create_indexes(making->store, &making->err);
    making->is_over = true;
}

// The moments that need a lock against writers are tried again and again rather than waited for: a writer who
// takes his time is not broken, and others do not queue up behind the one who waits for him.
static void
indexes_wait_without_a_queue_behind(void **state)
{
    (void)state;
    struct world world;
    world_make_partitioned(&world, 10);
    PGconn *slow = test_connect(world.conninfo), *quick = test_connect(world.conninfo);
    static const char insert[] = "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                                 "error_message) VALUES ('e', 't', '{}', 'x')";
    test_sql(slow, "BEGIN; %s", insert);
    test_sql(quick, "SET lock_timeout = '1500ms'");
    struct making making = {.store = world.store};
    struct thread *thread = thread_start(make_indexes, &making, "indexes");
    for (int i = 0; i < 20 && !making.is_over; i++) {
        test_sql(quick, "%s", insert);
        clock_sleep(50000);
    }
    bool was_over = making.is_over;
    test_sql(slow, "COMMIT");
    thread_join(thread);
    if (!making.ok)
        fail_msg("%s", making.err.text);
    assert_false(was_over);
    assert_int_equal(indexes_of(&world, "public.dlq_events", "true"), 2);
    PQfinish(slow);
    PQfinish(quick);
    world_end(&world);
}

// A copy of the database made by a restore has another system identifier: here the stored one is changed
// instead.
static void
a_copy_becomes_an_install_of_its_own(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    char before[37];
    snprintf(before, sizeof before, "%s", store_info(world.store)->install);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    struct slot slot;
    struct claim claim;
    char chunk[37];
    snprintf(chunk, sizeof chunk, "%s", new_uuid(world.admin));
    assert_works(slot_acquire(world.store, "k1", "w1", NULL, 0, &slot, &err));
    assert_works(chunk_claim(world.store, &slot, no, chunk, 4, 1 << 20, &world.arena, &claim, &err));

    test_sql(world.admin, "UPDATE redrive.install SET system_identifier = system_identifier + 1");
    assert_works(store_reconnect(world.store, &err));
    assert_true(store_info(world.store)->is_copy);
    assert_refused(slot_acquire(world.store, "k1", "w1", NULL, 0, &slot, &err), ERR_STOPPED,
                   "another server");
    assert_refused(history_as_copy(world.store, " ", &err), ERR_USAGE, "reason");
    // A session that learned of the copy before hears of the decision.
    struct store *other;
    assert_works(store_open(&other, &world.settings, &err));
    struct stop stop;
    assert_works(stop_find(other, &stop, &err));
    assert_non_null(strstr(stop.detail, "another database"));
    assert_works(history_as_copy(world.store, "staging", &err));
    assert_false(store_info(world.store)->is_copy);
    assert_works(stop_find(other, &stop, &err));
    assert_string_equal(stop.detail, "");
    store_close(other);
    assert_string_not_equal(store_info(world.store)->install, before);

    // What was in flight is decided by the original: here it is held. Other slots publish under new names.
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.in_doubt, 4);
    assert_int_equal(operation.claimed, 0);
    assert_int_equal(operation.queued, 0);
    assert_int_equal(operation.cancelled, 6);
    assert_string_equal(test_text(world.admin, "SELECT reason FROM redrive.audit WHERE action = 'cancel'"),
                        "staging");
    assert_refused(chunk_finish(world.store, &slot, &claim.chunk, CHUNK_COMMITTED, "x", &err), ERR_CONFLICT,
                   "taken over");
    // Not by a scan either: nobody here can fence the original, which may commit it yet.
    struct recovery_wanted wanted;
    assert_works(recovery_wanted(world.store, "k1", "w1", NULL, 0, &wanted, &err));
    assert_int_equal(wanted.in_doubt, 0);
    test_sql(world.admin, "UPDATE redrive.slot SET lease_until = '-infinity'");
    assert_refused(slot_acquire_in_doubt(world.store, "k1", "w1", NULL, 0, &slot, &err), ERR_NOT_FOUND,
                   "in doubt");
    assert_works(slot_acquire(world.store, "k1", "w1", NULL, 0, &slot, &err));
    assert_non_null(strstr(slot.txn_id, store_info(world.store)->install));
    assert_false(slot.is_provisioned);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(migrates_twice),
        cmocka_unit_test(migrates_from_four_sides_at_once),
        cmocka_unit_test(refuses_a_newer_schema),
        cmocka_unit_test(says_that_an_old_schema_needs_migrating),
        cmocka_unit_test(a_later_version_upgrades_what_is_there),
        cmocka_unit_test(functions_of_another_build_are_replaced),
        cmocka_unit_test(an_upgrade_that_fails_leaves_all_as_it_was),
        cmocka_unit_test(prints_what_it_runs),
        cmocka_unit_test(works_on_a_table_with_a_strange_name),
        cmocka_unit_test(takes_no_other_table_and_no_bad_name),
        cmocka_unit_test(takes_over_a_zone),
        cmocka_unit_test(offers_indexes),
        cmocka_unit_test(offers_indexes_by_partition),
        cmocka_unit_test(indexes_wait_without_a_queue_behind),
        cmocka_unit_test(a_copy_becomes_an_install_of_its_own),
    };
    return cmocka_run_group_tests_name("store schema", tests, NULL, NULL);
}
