// Several who decide on the same events at the same time.
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "world.h"

// While a freeze is open, everybody else reads, inserts and closes without waiting.
static bool
others_go_on(void *context, size_t written, size_t total)
{
    (void)written;
    (void)total;
    PGconn *consumer = context;
    test_sql(consumer, "SET lock_timeout = '200ms'");
    add_events(consumer, 3);
    test_sql(consumer,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'rest-api' WHERE id = 2;"
             "DELETE FROM public.dlq_events WHERE id = 3; SELECT * FROM redrive.operation");
    return true;
}

static void
nobody_waits_for_a_freeze(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    PGconn *consumer = test_connect(world.conninfo);
    int64_t ids[10];
    for (int i = 0; i < 10; i++)
        ids[i] = i + 1;
    struct operation_request request = {
        .action = ACTION_REPROCESS, .ids = ids, .count = 10, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no;
    assert_works(operation_create(world.store, &request, others_go_on, consumer, &no, &err));
    assert_int_equal(get_operation(&world, no).queued, 10);
    assert_int_equal(events_in(&world, "PENDING"), 11);
    PQfinish(consumer);
    world_end(&world);
}

// Children of this program with a store of their own; each ends with 0 when all went well.
typedef void child_fn(struct store *store, int number, int64_t operation);

static pid_t
start_child(struct world *world, child_fn *work, int number, int64_t operation)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    work(open_store(world->conninfo), number, operation);
    _exit(0);
}

static void
end_children(const pid_t *children, int count)
{
    for (int i = 0; i < count; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
}

// In a child cmocka cannot tell: a failure ends it.
static void
must(bool ok, const struct err *err)
{
    if (ok)
        return;
    fprintf(stderr, "child: %s %s\n", err->sqlstate, err->text);
    _exit(1);
}

static void
apply_in_child(struct store *store, int number, int64_t operation)
{
    (void)number;
    struct err err = {0};
    int64_t applied, left = 1;
    while (left)
        must(work_apply(store, operation, 37, &applied, &left, &err), &err);
}

static void
workers_share_an_operation(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 3000);
    pid_t children[4];
    for (int i = 0; i < 4; i++)
        children[i] = start_child(&world, apply_in_child, i, no);
    end_children(children, 4);
    assert_int_equal(get_operation(&world, no).done, 3000);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(test_number(world.admin, "SELECT sum(events) FROM redrive.audit WHERE action = 'apply'"),
                     3000);
    world_end(&world);
}

enum { CROWD = 25000 };

// Freezes an overlapping range, in several slices, and carries out what it got.
static void
decide_in_child(struct store *store, int number, int64_t operation)
{
    (void)operation;
    struct err err = {0};
    int64_t *ids = malloc(CROWD * sizeof *ids);
    size_t count = 0;
    for (int64_t id = 1 + number * 1000; id <= CROWD - (3 - number) * 1000; id++)
        ids[count++] = id;
    struct operation_request request = {.action = number % 2 ? ACTION_DISCARD : ACTION_REPROCESS,
                                        .ids = ids,
                                        .count = count,
                                        .scope = "a crowd",
                                        .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "00000000-0000-4000-8000-00000000000%d", number);
    int64_t no, applied, left = request.action == ACTION_DISCARD;
    must(operation_create(store, &request, NULL, NULL, &no, &err), &err);
    while (left)
        must(work_apply(store, no, 5000, &applied, &left, &err), &err);
}

static void
operators_meet(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, CROWD);
    pid_t children[4];
    for (int i = 0; i < 4; i++)
        children[i] = start_child(&world, decide_in_child, i, 0);
    end_children(children, 4);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.operation"), 4);
    // Every event has exactly one decision that holds: it was discarded, or it is pending and waits in one
    // operation. (An item may also wait for an event that was discarded after its freeze looked: that ends as
    // a conflict when its turn comes.)
    test_sql(world.admin, "CREATE VIEW held AS SELECT i.dlq_id, i.state FROM redrive.item i JOIN "
                          "public.dlq_events e ON e.id ="
                          " i.dlq_id WHERE i.state = 'done' OR i.state = 'queued' AND e.status = 'PENDING'");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM held"), CROWD);
    assert_int_equal(test_number(world.admin, "SELECT count(DISTINCT dlq_id) FROM held"), CROWD);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM held WHERE state = 'done'"),
                     events_in(&world, "DISCARDED"));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.item"), 4 * (CROWD - 3000));
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM redrive.item WHERE state = 'skipped' AND detail IS NULL"),
        0);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM redrive.operation WHERE total = queued + done + skipped"),
        4);
    world_end(&world);
}

// Freezes event 1, says so, waits until somebody waits for it, freezes event 15,000 and commits.
static void
freeze_until_somebody_waits(const char *conninfo, int ready)
{
    PGconn *conn = PQconnectdb(conninfo);
    static const char *const sql[] = {
        "BEGIN; SELECT redrive.operation_begin('00000000-0000-4000-8000-00000000000f', 'reprocess', 'x', "
        "NULL, "
        "NULL, NULL, NULL, -1); SELECT redrive.operation_freeze(no, '{1}') FROM redrive.operation",
        "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.01); "
        "END LOOP; END $$; SELECT redrive.operation_freeze(no, '{15000}'), redrive.operation_confirm(no) "
        "FROM "
        "redrive.operation; COMMIT",
    };
    char byte = 'x';
    for (int i = 0; i < 2; i++) {
        PGresult *r = PQexec(conn, sql[i]);
        ExecStatusType status = PQresultStatus(r);
        PQclear(r);
        if ((status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) ||
            (i == 0 && write(ready, &byte, 1) != 1))
            _exit(1);
    }
    _exit(0);
}

// Of two that want the same events the second waits for the end of the first, and sees what it took.
static void
freezes_take_turns(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 15000);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
        freeze_until_somebody_waits(world.conninfo, ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 15000);
    end_children(&child, 1);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.queued, 14998);
    assert_int_equal(operation.skipped, 2);
    assert_int_equal(items_in(&world, no, "skipped"), 2);
    close(ready[0]);
    close(ready[1]);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_a_freeze),
        cmocka_unit_test(workers_share_an_operation),
        cmocka_unit_test(operators_meet),
        cmocka_unit_test(freezes_take_turns),
    };
    return cmocka_run_group_tests_name("concurrency", tests, NULL, NULL);
}
