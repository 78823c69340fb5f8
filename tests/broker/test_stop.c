// `redrive work`, told to end: what is in flight is finished first, it says so with its status, and who comes
// next has nothing to find out.
#include "tests/broker/fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTITIONS = 2, EVENTS = 6000 };

static struct broker_fixture fixture = {.stem = "stop", .partitions = PARTITIONS};
static int64_t operation;

static void
ask_for_much(void)
{
    broker_fixture_fail(&fixture, EVENTS);
    operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
}

static pid_t
start_program(const char *once)
{
    const char *program = getenv("REDRIVE");
    if (!program) {
        fail_msg("REDRIVE is not set");
        return -1; // never reached, which only cmocka knows
    }
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    if (!getenv("REDRIVE_TEST_LOG"))
        dup2(nothing, STDERR_FILENO);
    setenv("REDRIVE_CHUNK", "500", 1);
    execl(program, "redrive", "work", "-d", fixture.world.conninfo, "-b", test_kafka(), once, (char *)NULL);
    _exit(127);
}

static int64_t
chunks_in_flight(void)
{
    return test_number(fixture.world.admin, "SELECT count(*) FROM redrive.chunk WHERE state = 'claimed'");
}

// Waits until it has a chunk in flight, and keeps it from finishing that: its events are locked by somebody.
static void
hold_a_chunk(void)
{
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end;) {
        if (chunks_in_flight()) {
            test_sql(fixture.world.admin,
                     "BEGIN; SELECT FROM dlq_events e WHERE e.id IN (SELECT unnest(dlq_ids) "
                     "FROM redrive.chunk WHERE state = 'claimed') FOR UPDATE");
            if (chunks_in_flight())
                return;
            test_sql(fixture.world.admin, "ROLLBACK");
        }
        clock_sleep(5000);
    }
    fail_msg("it took nothing in hand");
}

static bool
is_alive(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

// What is not sent is queued, what was sent is done and there once; nobody holds a slot.
static void
assert_all_put_down(void)
{
    assert_int_equal(chunks_in_flight(), 0);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM redrive.slot WHERE holder IS NOT NULL"), 0);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.worker"), 0);
    struct operation found = get_operation(&fixture.world, operation);
    assert_true(found.done > 0 && found.queued > 0);
    assert_int_equal(found.done + found.queued, EVENTS);
    struct tally tally = {.times = calloc(EVENTS + 1, 1), .most = EVENTS};
    assert_non_null(tally.times);
    read_topic(fixture.topic, PARTITIONS, "read_committed", tally_record, &tally);
    free(tally.times);
    assert_int_equal(tally.records, found.done);
}

// The same signal twice is no reason to leave what is in flight behind.
static void
assert_ends_in_peace(int first, int second)
{
    ask_for_much();
    pid_t pid = start_program(NULL);
    hold_a_chunk();
    kill(pid, first);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    kill(pid, second);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    test_sql(fixture.world.admin, "ROLLBACK");
    assert_int_equal(work_wait(pid), 0);
    assert_all_put_down();
}

static void
finishes_what_is_in_flight_on_sigterm(void **state)
{
    (void)state;
    assert_ends_in_peace(SIGTERM, SIGTERM);
}

static void
finishes_what_is_in_flight_on_an_interrupt(void **state)
{
    (void)state;
    assert_ends_in_peace(SIGINT, SIGHUP);
}

// Asked twice at the keyboard it goes at once; what it leaves is found and decided by the next one.
static void
goes_at_once_on_the_second_interrupt(void **state)
{
    (void)state;
    ask_for_much();
    pid_t pid = start_program(NULL);
    hold_a_chunk();
    kill(pid, SIGINT);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    kill(pid, SIGINT);
    assert_int_equal(work_wait(pid), 130);
    assert_true(chunks_in_flight() > 0);
    test_sql(fixture.world.admin, "ROLLBACK");
    expire_leases(&fixture.world);
    assert_int_equal(work_wait(start_program("--once")), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(finishes_what_is_in_flight_on_sigterm),
        on_fixture(finishes_what_is_in_flight_on_an_interrupt),
        on_fixture(goes_at_once_on_the_second_interrupt),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
