// The connection: rights, faults, poolers.
#include <signal.h>
#include <unistd.h>
#include "world.h"

#include "store/operations/adoption.h"
#include "store/pg.h"

static struct store *
open_with(const struct store_settings *settings)
{
    struct store *store = NULL;
    assert_works(store_open(&store, settings, &err));
    return store;
}

static void
a_server_that_is_not_there_is_a_sentence(void **state)
{
    (void)state;
    struct store *store;
    const struct store_settings settings = {
        .conninfo = "host=/nowhere/at/all password=hunter2", .table = "public.dlq_events", .program = "test"};
    struct err err = {0};
    assert_false(store_open(&store, &settings, &err));
    assert_null(store);
    assert_int_equal(err.kind, ERR_UNREACHABLE);
    assert_non_null(strstr(err.text, "PostgreSQL cannot be reached: "));
    assert_null(strchr(err.text, '\n'));
    assert_null(strstr(err.text, "hunter2"));
    for (int i = 0; i < 50; i++)
        assert_in_range(store_backoff(i), US_PER_SECOND / 10, 5 * US_PER_SECOND);
}

static void
missing_tables_are_sentences(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    struct store *store = open_store(world.conninfo);
    struct event_page page;
    struct arena arena = {0};
    struct operation *operations;
    size_t count;
    int64_t pending, highest;
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_PAYLOAD | EVENT_RAW, .limit = 10};
    // Without the schema, events can be read all the same.
    add_events(world.admin, 3);
    assert_works(store_events(store, &query, &page, &err));
    assert_int_equal(page.count, 3);
    assert_false(page.events[0].record.is_kept);
    assert_int_not_equal(page.events[0].payload.len, 0);
    event_page_release(&page);
    assert_refused(operation_list(store, 0, 10, &arena, &operations, &count, &err), ERR_NOT_FOUND,
                   "run redrive migrate");
    assert_refused(schema_check(store, &err), ERR_NOT_FOUND, "run redrive migrate");

    test_sql(world.admin, "DROP TABLE public.dlq_events");
    assert_refused(store_events(store, &query, &page, &err), ERR_NOT_FOUND,
                   "there is no table public.dlq_events in database redrive_test_");
    assert_refused(store_pending_count(store, &pending, &highest, &err), ERR_NOT_FOUND, "--table");
    size_t ids = 0;
    assert_refused(store_pending_ids(store, count_ids, &ids, &err), ERR_NOT_FOUND, "--table");
    // The connection is still good.
    int64_t now;
    assert_works(store_now(store, &now, &err));

    // The schema was dropped under a running program.
    struct schema_result result;
    assert_works(schema_migrate(store, &result, &err));
    test_sql(world.admin, "DROP SCHEMA redrive CASCADE");
    assert_refused(operation_list(store, 0, 10, &arena, &operations, &count, &err), ERR_NOT_FOUND,
                   "no table public.dlq_events");
    arena_release(&arena);
    store_close(store);
    world_end(&world);
}

static void
missing_rights_name_their_grant(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    char role[80], conninfo[800], sentence[300];
    snprintf(role, sizeof role, "%s_ana", world.db.name);
    test_sql(world.admin, "CREATE ROLE %s LOGIN", role);
    snprintf(conninfo, sizeof conninfo, "%s user=%s", world.conninfo, role);
    struct store *store;
    const struct store_settings settings = {
        .conninfo = conninfo, .table = "public.dlq_events", .program = "test"};
    struct arena arena = {0};
    struct operation *operations;
    size_t count;
    struct event_page page;
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_ERROR, .limit = 10};

    snprintf(sentence, sizeof sentence, "GRANT USAGE ON SCHEMA redrive TO \"%s\";", role);
    assert_refused(store_open(&store, &settings, &err), ERR_DENIED, sentence);
    test_sql(world.admin, "GRANT USAGE ON SCHEMA redrive TO %s", role);
    snprintf(sentence, sizeof sentence, "GRANT SELECT ON ALL TABLES IN SCHEMA redrive TO \"%s\";", role);
    test_sql(world.admin, "GRANT SELECT ON public.dlq_events TO %s", role);
    assert_refused(store_open(&store, &settings, &err), ERR_DENIED, sentence);
    test_sql(world.admin,
             "GRANT SELECT ON ALL TABLES IN SCHEMA redrive TO %s; REVOKE ALL ON public.dlq_events FROM %s",
             role, role);
    store = open_with(&settings);
    snprintf(sentence, sizeof sentence,
             "%s may not read public.dlq_events; its owner can allow it: GRANT SELECT ON public.dlq_events "
             "TO \"%s\";",
             role, role);
    assert_refused(store_events(store, &query, &page, &err), ERR_DENIED, sentence);
    test_sql(world.admin, "GRANT SELECT ON public.dlq_events TO %s", role);
    assert_works(store_events(store, &query, &page, &err));
    event_page_release(&page);
    assert_works(operation_list(store, 0, 10, &arena, &operations, &count, &err));

    // A viewer: no function, and no way around one.
    const int64_t ids[] = {1, 2};
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = ids, .count = 2, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no;
    snprintf(sentence, sizeof sentence, "GRANT EXECUTE ON FUNCTION redrive.operation_begin TO \"%s\";", role);
    assert_refused(operation_create(store, &request, NULL, NULL, &no, &err), ERR_DENIED, sentence);
    PGconn *ana = test_connect(conninfo);
    static const char *const attempts[] = {
        "UPDATE public.dlq_events SET status = 'RESOLVED'",
        "UPDATE redrive.operation_item SET state = 'done'",
        "INSERT INTO redrive.operation (key, action, scope) VALUES (gen_random_uuid(), 'discard', 'x')",
        "INSERT INTO redrive.audit (action) VALUES ('x')",
        "DELETE FROM redrive.audit",
        "TRUNCATE redrive.audit",
        "SELECT redrive._audit('x', 1, 1, 'x', 'x')",
        "SELECT redrive.operation_begin(gen_random_uuid(), 'discard', 'x', '', '', '', '', 1)",
        "SELECT redrive.history_as_copy('x')",
        "UPDATE redrive.slot SET fence = 0",
        "DELETE FROM redrive.chunk"};
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        assert_string_equal(test_state(ana, attempts[i]), "42501");

    // An operator: what redrive.grants says is what is needed.
    test_sql(
        world.admin,
        "DO $$ DECLARE g text; BEGIN FOR g IN SELECT redrive.grants('%s') LOOP EXECUTE g; END LOOP; END $$",
        role);
    assert_works(operation_create(store, &request, NULL, NULL, &no, &err));
    int64_t applied, left;
    assert_works(work_apply(store, no, 10, &applied, &left, &err));
    assert_int_equal(
        test_number(
            world.admin,
            "SELECT count(*) FROM public.dlq_events WHERE status = 'DISCARDED' AND resolved_by LIKE '%_ana'"),
        2);
    assert_string_equal(
        test_text(world.admin, "SELECT DISTINCT who FROM redrive.audit WHERE action <> 'migrate'"), role);
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        if (i != 7)
            assert_string_equal(test_state(ana, attempts[i]), "42501");
    }

    // The owner of the schema lost the right to change the table: then every function fails, and says whose
    // right it is.
    test_sql(world.admin,
             "CREATE ROLE %s_owner; GRANT USAGE, CREATE ON SCHEMA redrive TO %s_owner; ALTER SCHEMA redrive "
             "OWNER TO %s_owner;"
             "ALTER FUNCTION redrive.operation_freeze OWNER TO %s_owner; GRANT ALL ON ALL TABLES IN SCHEMA "
             "redrive TO %s_owner;"
             "GRANT ALL ON ALL SEQUENCES IN SCHEMA redrive TO %s_owner",
             role, role, role, role, role, role);
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    snprintf(sentence, sizeof sentence, "GRANT SELECT, UPDATE ON public.dlq_events TO \"%s_owner\";", role);
    assert_refused(operation_create(store, &request, NULL, NULL, &no, &err), ERR_DENIED, sentence);
    PQfinish(ana);
    store_close(store);
    arena_release(&arena);
    test_sql(
        world.admin,
        "ALTER SCHEMA redrive OWNER TO postgres; ALTER FUNCTION redrive.operation_freeze OWNER TO postgres;"
        "DROP OWNED BY %s, %s_owner; DROP ROLE %s, %s_owner",
        role, role, role, role);
    world_end(&world);
}

static void
a_role_without_the_right_cannot_migrate(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    char role[80], conninfo[800];
    snprintf(role, sizeof role, "%s_bo", world.db.name);
    test_sql(world.admin, "CREATE ROLE %s LOGIN", role);
    snprintf(conninfo, sizeof conninfo, "%s user=%s", world.conninfo, role);
    struct store *store = open_store(conninfo);
    struct schema_result result;
    test_sql(world.admin, "GRANT SELECT, UPDATE ON public.dlq_events TO %s", role);
    assert_refused(
        schema_migrate(store, &result, &err), ERR_DENIED,
        "may not create the schema redrive; a database owner can allow it: GRANT CREATE ON DATABASE");
    test_sql(world.admin, "GRANT CREATE ON DATABASE %s TO %s", world.db.name, role);
    assert_works(schema_migrate(store, &result, &err));
    // An owner that is nobody special: everything works, whether or not it may read the system identifier.
    add_events(world.admin, 4);
    int64_t no = make_operation(&world, store, ACTION_DISCARD, 1, 4);
    int64_t applied, left;
    assert_works(work_apply(store, no, 10, &applied, &left, &err));
    assert_int_equal(applied, 4);
    store_close(store);
    test_sql(world.admin, "DROP OWNED BY %s CASCADE; DROP ROLE %s", role, role);
    world_end(&world);
}

static void
read_only_changes_nothing(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 2);
    const struct store_settings settings = {
        .conninfo = world.conninfo, .table = "public.dlq_events", .program = "test", .is_read_only = true};
    struct store *store = open_with(&settings);
    const int64_t ids[] = {3};
    struct operation_request request = {.action = ACTION_DISCARD,
                                        .ids = ids,
                                        .count = 1,
                                        .scope = "x",
                                        .key = "00000000-0000-4000-8000-000000000001"};
    struct slot slot;
    struct schema_result result;
    int64_t applied, left;
    assert_refused(operation_create(store, &request, NULL, NULL, &no, &err), ERR_DENIED, "--read-only");
    assert_refused(operation_steer(store, no, STEER_CANCEL, 0, NULL, &err), ERR_DENIED, "--read-only");
    assert_refused(work_apply(store, no, 5, &applied, &left, &err), ERR_DENIED, "--read-only");
    assert_refused(slot_acquire(store, "k", "w", NULL, 0, &slot, &err), ERR_DENIED, "--read-only");
    assert_refused(worker_beat(store, "w", true, NULL, 0, &err), ERR_DENIED, "--read-only");
    assert_refused(schema_migrate(store, &result, &err), ERR_DENIED, "--read-only");
    assert_refused(history_as_copy(store, "x", &err), ERR_DENIED, "--read-only");
    assert_refused(schema_create_indexes(store, &err), ERR_DENIED, "--read-only");
    struct stats stats;
    assert_works(stats_read(store, false, &world.arena, &stats, &err));
    assert_int_equal(stats.pending.pending, 5);
    store_close(store);
    world_end(&world);
}

// What another session does to ours.
static void
terminate_others(struct world *world)
{
    test_sql(world->admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                           "current_database() AND pid <> pg_backend_pid()"
                           " AND application_name LIKE 'redrive/%%'");
    while (test_number(world->admin, "SELECT count(*) FROM pg_stat_activity WHERE datname = "
                                     "current_database() AND pid <> pg_backend_pid()"
                                     " AND application_name LIKE 'redrive/%'") > 0)
        clock_sleep(1000);
}

static bool
terminate_in_the_middle(void *context, size_t written, size_t total)
{
    (void)written;
    (void)total;
    terminate_others(context);
    return true;
}

static void
a_broken_connection_is_replaced(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    int64_t now;
    terminate_others(&world);
    assert_refused(store_now(world.store, &now, &err), ERR_UNREACHABLE, "PostgreSQL");
    assert_false(store_is_connected(world.store));
    assert_refused(store_now(world.store, &now, &err), ERR_UNREACHABLE,
                   "PostgreSQL"); // and again, without a crash
    assert_works(store_reconnect(world.store, &err));
    assert_true(store_is_connected(world.store));
    assert_works(store_now(world.store, &now, &err));

    // In the middle of a freeze: nothing is left, and the same key makes it once.
    const int64_t ids[] = {1, 2, 3};
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = ids, .count = 3, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no;
    assert_refused(operation_create(world.store, &request, terminate_in_the_middle, &world, &no, &err),
                   ERR_UNREACHABLE, "PostgreSQL");
    assert_works(store_reconnect(world.store, &err));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.operation"), 0);
    assert_works(operation_create(world.store, &request, NULL, NULL, &no, &err));
    assert_int_equal(get_operation(&world, no).queued, 3);

    // Database gone altogether.
    PGconn *server = test_connect(getenv("REDRIVE_TEST_PG"));
    test_sql(server, "ALTER DATABASE %s ALLOW_CONNECTIONS false", world.db.name);
    terminate_others(&world);
    assert_refused(store_now(world.store, &now, &err), ERR_UNREACHABLE, "PostgreSQL");
    assert_refused(store_reconnect(world.store, &err), ERR_UNREACHABLE, "cannot be reached");
    assert_refused(store_now(world.store, &now, &err), ERR_UNREACHABLE, "no connection");
    test_sql(server, "ALTER DATABASE %s ALLOW_CONNECTIONS true", world.db.name);
    assert_works(store_reconnect(world.store, &err));
    PQfinish(server);
    world_end(&world);
}

static struct store *interrupted;

static void
on_alarm(int number)
{
    (void)number;
    store_interrupt(interrupted);
}

// The signal stands for the other thread: it comes while libpq waits.
static void
a_statement_can_be_stopped(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    PGconn *blocker = test_connect(world.conninfo);
    test_sql(blocker, "BEGIN; LOCK TABLE public.dlq_events IN ACCESS EXCLUSIVE MODE");
    interrupted = world.store;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    int64_t pending, highest;
    alarm(1);
    assert_refused(store_pending_count(world.store, &pending, &highest, &err), ERR_CANCELLED,
                   "stopped as asked");
    alarm(1);
    size_t count = 0;
    assert_refused(store_pending_ids(world.store, count_ids, &count, &err), ERR_CANCELLED,
                   "stopped as asked");
    // Without being asked to stop, a lock that is not given ends as one.
    assert_refused(store_pending_count(world.store, &pending, &highest, &err), ERR_CONFLICT,
                   "locked for too long");
    test_sql(blocker, "ROLLBACK");
    assert_works(store_pending_count(world.store, &pending, &highest, &err));
    store_interrupt(world.store); // with nothing running it is harmless
    clock_sleep(50000);
    assert_works(store_pending_count(world.store, &pending, &highest, &err));
    PQfinish(blocker);
    world_end(&world);
}

// Of two at the same time, whichever of them still runs.
static void
two_statements_can_be_stopped(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *beside = pg_open_beside(world.store);
    assert_non_null(beside);
    struct pg_step quick = {.sql = "SELECT 1"}, slow = {.sql = "SELECT pg_sleep(60)"};
    assert_works(pg_run_both(world.store, beside, FOR_SCANNING, &quick, &quick, 1, &err));
    interrupted = world.store;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    int64_t from = clock_mono();
    alarm(1);
    assert_refused(pg_run_both(world.store, beside, FOR_SCANNING, &quick, &slow, 1, &err), ERR_CANCELLED,
                   "stopped as asked");
    alarm(1);
    assert_refused(pg_run_both(world.store, beside, FOR_SCANNING, &slow, &slow, 1, &err), ERR_CANCELLED,
                   "stopped as asked");
    assert_true(clock_mono() - from < 30 * US_PER_SECOND);
    assert_works(pg_run_both(world.store, beside, FOR_SCANNING, &quick, &quick, 1, &err));
    store_close(beside);
    world_end(&world);
}

// One waits for the only server connection until the other's answer has been taken.
static void
run_both_over_one(struct store *store, struct store *other)
{
    char console_at[300];
    snprintf(console_at, sizeof console_at, "%s dbname=pgbouncer", getenv("REDRIVE_TEST_PGBOUNCER"));
    PGconn *console = test_connect(console_at);
    test_sql(console, "SET default_pool_size = 1");
    struct pg_step mine = {.sql = "SELECT repeat('x', 8000000)"}, others = mine;
    assert_works(pg_run_both(store, other, FOR_SCANNING, &mine, &others, 1, &err));
    test_sql(console, "SET default_pool_size = 20");
    PQfinish(console);
}

// Two clients through a pool of one server connection each transaction: whatever depends on a session would
// show.
static void
everything_works_behind_a_pooler(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    if (!*world.db.pooled) {
        world_end(&world);
        skip();
    }
    add_events(world.admin, 15000);
    struct store *other = open_store(world.db.pooled);
    world.store = open_store(world.db.pooled);
    struct schema_result result;
    assert_works(schema_migrate(world.store, &result, &err));
    assert_works(store_reconnect(other, &err));
    assert_works(schema_check(other, &err));

    size_t count = 0;
    assert_works(store_pending_ids(other, count_ids, &count, &err));
    assert_int_equal(count, 15000);
    run_both_over_one(world.store, other);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 12000);
    int64_t applied, left = 1;
    while (left) { // hand over hand
        assert_works(work_apply(world.store, no, 700, &applied, &left, &err));
        if (left)
            assert_works(work_apply(other, no, 700, &applied, &left, &err));
    }
    assert_int_equal(get_operation(&world, no).done, 12000);

    no = make_operation(&world, other, ACTION_REPROCESS, 12001, 15000);
    struct slot slots[2];
    assert_works(slot_acquire(world.store, "k", "a", NULL, 0, &slots[0], &err));
    assert_works(slot_acquire(other, "k", "b", NULL, 0, &slots[1], &err));
    size_t published = 0;
    for (int turn = 0; published < 3000 && turn < 100; turn++) {
        struct store *store = turn % 2 ? other : world.store;
        struct claim claim = {0};
        assert_works(chunk_claim(store, &slots[turn % 2], no, new_uuid(world.admin), 250, 1 << 24,
                                 &world.arena, &claim, &err));
        if (claim.count)
            assert_works(chunk_finish(store, &slots[turn % 2], &claim.chunk, CHUNK_COMMITTED, "x", &err));
        published += claim.count;
    }
    assert_int_equal(published, 3000);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);

    struct event_page page;
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_PAYLOAD | EVENT_GROUP, .limit = 500};
    assert_works(store_events(other, &query, &page, &err));
    assert_int_equal(page.count, 500);
    event_page_release(&page);
    struct stats stats;
    assert_works(stats_read(world.store, false, &world.arena, &stats, &err));
    assert_works(worker_beat(other, "w", true, "idle", 0, &err));
    // Nothing of ours stays in the server connections that others will get.
    PGconn *stranger = test_connect(world.db.pooled);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(test_text(stranger, "SHOW transaction_read_only"), "off");
        assert_string_equal(test_text(stranger, "SHOW search_path"), "\"$user\", public");
        assert_string_equal(test_text(stranger, "SHOW statement_timeout"), "0");
    }
    PQfinish(stranger);
    interrupted = world.store;
    test_sql(world.admin, "BEGIN; LOCK TABLE public.dlq_events IN ACCESS EXCLUSIVE MODE");
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    int64_t pending, highest;
    assert_refused(store_pending_count(world.store, &pending, &highest, &err), ERR_CANCELLED,
                   "stopped as asked");
    test_sql(world.admin, "ROLLBACK");
    store_close(other);
    world_end(&world);
}

// libpq asks whether the server takes writes only where the connection is to write. A store that was opened
// to read must not begin to write where the server refuses.
static void
a_store_that_reads_may_become_one_that_writes(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3);
    for (int refuses = 0; refuses <= 1; refuses++) {
        char conninfo[600];
        snprintf(conninfo, sizeof conninfo, "%s%s", world.conninfo,
                 refuses ? " options='-c default_transaction_read_only=on'" : "");
        struct store_settings settings = {
            .conninfo = conninfo, .table = "public.dlq_events", .program = "test", .is_read_only = true};
        struct store *store = open_with(&settings);
        assert_refused(worker_beat(store, "w", true, NULL, 0, &err), ERR_DENIED, "--read-only");
        settings.is_read_only = false;
        assert_int_equal(store_become(store, &settings), !refuses);
        if (refuses)
            assert_refused(worker_beat(store, "w", true, NULL, 0, &err), ERR_DENIED, "--read-only");
        else
            assert_works(worker_beat(store, "w", true, NULL, 0, &err));
        settings.table = "public.others";
        assert_false(store_become(store, &settings));
        store_close(store);
    }
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_is_not_there_is_a_sentence),
        cmocka_unit_test(missing_tables_are_sentences),
        cmocka_unit_test(missing_rights_name_their_grant),
        cmocka_unit_test(a_role_without_the_right_cannot_migrate),
        cmocka_unit_test(read_only_changes_nothing),
        cmocka_unit_test(a_broken_connection_is_replaced),
        cmocka_unit_test(a_statement_can_be_stopped),
        cmocka_unit_test(two_statements_can_be_stopped),
        cmocka_unit_test(everything_works_behind_a_pooler),
        cmocka_unit_test(a_store_that_reads_may_become_one_that_writes),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
