// Workers that die at the named points of the protocol, are frozen past their lease, or meet each other:
// every event is published exactly once, and PostgreSQL agrees. The short form; the long one is `make crash`.
#include "tests/broker/fixture.h"

#define PARTITIONS 4

// Each second one dies at the second passage; of a turn there is only one.
static const char *const points[] = {"turn-write",   "after-acquire",    "turn-commit",   "after-fence",
                                     "claim-commit", "after-claim",      "half-produced", "all-reports",
                                     "after-mark",   "commit-in-flight", "after-commit",  "finish-commit",
                                     "after-finish", "recovery"};

static struct broker_fixture fixture = {.stem = "crash", .partitions = PARTITIONS};

static void
dies_at_every_point(void **state)
{
    (void)state;
    enum { EVENTS = 4000 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    int killed = 0;
    for (size_t i = 0; i < 2 * sizeof points / sizeof *points; i++) {
        char wish[64];
        const char *point = points[i % (sizeof points / sizeof *points)];
        snprintf(wish, sizeof wish, "%s:%d", point, 1 + (int)(i & 1));
        // A recovery needs something to recover: what the claim before it has left.
        if (strcmp(point, "recovery") == 0) {
            killed += work_run(&fixture.world, &(struct work_how){.chunk = 50, .kill = "after-claim:1"}) ==
                      -SIGKILL;
            expire_leases(&fixture.world);
            snprintf(wish, sizeof wish, "recovery:1");
        }
        int status = work_run(&fixture.world, &(struct work_how){.chunk = 50, .kill = wish});
        if (status != -SIGKILL)
            fail_msg("not killed at %s: %d", wish, status);
        killed++;
        expire_leases(&fixture.world);
    }
    assert_int_equal(killed, 2 * sizeof points / sizeof *points + 2);

    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation, .chunk = 500}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
dies_at_any_time(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    for (int i = 0; i < 12; i++) {
        pid_t pid = work_start(&fixture.world, &(struct work_how){.chunk = 20});
        clock_sleep(100000 + clock_mono() % 300000);
        kill(pid, SIGKILL);
        work_wait(pid);
        expire_leases(&fixture.world);
    }
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation, .chunk = 500}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
is_frozen_past_its_lease(void **state)
{
    (void)state;
    enum { EVENTS = 4000, FREEZES = 5 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    pid_t frozen[FREEZES];
    for (int i = 0; i < FREEZES; i++) {
        frozen[i] = work_start(&fixture.world, &(struct work_how){.chunk = 10});
        clock_sleep(250000 + clock_mono() % 150000);
        kill(frozen[i], SIGSTOP);
        expire_leases(&fixture.world);
    }
    // One that lives takes over what they hold; then they wake and must find out.
    pid_t other = work_start(&fixture.world, &(struct work_how){.operation = operation, .chunk = 20});
    clock_sleep(500000);
    for (int i = 0; i < FREEZES; i++)
        kill(frozen[i], SIGCONT);
    for (int i = 0; i < FREEZES; i++)
        assert_int_equal(work_wait(frozen[i]), 0);
    assert_int_equal(work_wait(other), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
is_publishing_again_soon_after_a_death(void **state)
{
    (void)state;
    enum { EVENTS = 4000 };
    static const char *const deaths[] = {"after-claim:2", "half-produced:2", "commit-in-flight:2",
                                         "after-commit:2"};
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = 100, .kill = deaths[i]}),
                         -SIGKILL);
        int64_t done = get_operation(&fixture.world, operation).done;
        int64_t start = clock_mono();
        pid_t next = work_start(&fixture.world, &(struct work_how){.operation = operation, .chunk = 100});
        // Something that was in flight, and something new.
        while (get_operation(&fixture.world, operation).done < done + 300 &&
               clock_mono() - start < 30 * US_PER_SECOND)
            clock_sleep(5000);
        int64_t took = clock_mono() - start;
        kill(next, SIGTERM);
        work_wait(next);
        if (took > 5 * US_PER_SECOND)
            fail_msg("after %s it took %lld ms until it published again", deaths[i], (long long)took / 1000);
    }
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
works_beside_others(void **state)
{
    (void)state;
    enum { EVENTS = 3000, WORKERS = 3 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    pid_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        workers[i] = work_start(&fixture.world, &(struct work_how){.operation = operation, .chunk = 50});
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(work_wait(workers[i]), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
finishes_what_is_in_flight_when_asked_to_stop(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    pid_t pid = work_start(&fixture.world, &(struct work_how){.operation = operation, .chunk = 20});
    while (get_operation(&fixture.world, operation).done == 0)
        clock_sleep(10000);
    kill(pid, SIGTERM);
    int64_t start = clock_mono();
    assert_int_equal(work_wait(pid), ERR_CANCELLED);
    assert_true(clock_mono() - start < 10 * US_PER_SECOND);

    struct operation found = get_operation(&fixture.world, operation);
    assert_int_equal(found.claimed, 0);
    assert_true(found.queued > 0);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM redrive.slot WHERE holder IS NOT NULL"), 0);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(dies_at_every_point),      on_fixture(dies_at_any_time),
        on_fixture(is_frozen_past_its_lease), on_fixture(is_publishing_again_soon_after_a_death),
        on_fixture(works_beside_others),      on_fixture(finishes_what_is_in_flight_when_asked_to_stop),
    };
    return cmocka_run_group_tests_name("kill points", tests, NULL, NULL);
}
