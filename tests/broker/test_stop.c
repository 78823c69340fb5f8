// `redrive work`, told to end: what is in hand is settled first, it says so with its status, and who comes
// next has nothing to find out.
#include "tests/broker/work_world.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTITIONS = 2, EVENTS = 6000 };

static struct world world;
static char topic[64];
static int64_t operation;

static int
begin(void **state)
{
    (void)state;
    world_make(&world, 0);
    make_topic(topic, "stop", PARTITIONS, NULL, NULL);
    test_sql(world.admin,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
             "kafka_topic) SELECT 'e' || i, 't', jsonb_build_object('i', i), 'boom', 's' || i, '%s' FROM "
             "generate_series(1, %d) i",
             topic, EVENTS);
    operation = make_operation(&world, world.store, ACTION_REPROCESS, 1, EVENTS);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
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
    execl(program, "redrive", "work", "-d", world.conninfo, "-b", test_kafka(), once, (char *)NULL);
    _exit(127);
}

static int64_t
chunks_in_hand(void)
{
    return test_number(world.admin, "SELECT count(*) FROM redrive.chunk WHERE state = 'claimed'");
}

// Waits until it has a chunk in hand, and keeps it from settling that: its events are locked by somebody.
static void
hold_a_chunk(void)
{
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end;) {
        if (chunks_in_hand()) {
            test_sql(world.admin, "BEGIN; SELECT FROM dlq_events e WHERE e.id IN (SELECT unnest(event_ids) "
                                  "FROM redrive.chunk WHERE state = 'claimed') FOR UPDATE");
            if (chunks_in_hand())
                return;
            test_sql(world.admin, "ROLLBACK");
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
    assert_int_equal(chunks_in_hand(), 0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.slot WHERE holder IS NOT NULL"),
                     0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.worker"), 0);
    struct operation found = get_operation(&world, operation);
    assert_true(found.done > 0 && found.queued > 0);
    assert_int_equal(found.done + found.queued, EVENTS);
    struct tally tally = {.times = calloc(EVENTS + 1, 1), .most = EVENTS};
    assert_non_null(tally.times);
    read_topic(topic, PARTITIONS, "read_committed", tally_record, &tally);
    free(tally.times);
    assert_int_equal(tally.records, found.done);
}

// The same signal twice is no reason to leave what is in hand behind.
static void
assert_ends_in_peace(int first, int second)
{
    pid_t pid = start_program(NULL);
    hold_a_chunk();
    kill(pid, first);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    kill(pid, second);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    test_sql(world.admin, "ROLLBACK");
    assert_int_equal(work_wait(pid), 0);
    assert_all_put_down();
}

static void
settles_what_is_in_hand_on_sigterm(void **state)
{
    (void)state;
    assert_ends_in_peace(SIGTERM, SIGTERM);
}

static void
settles_what_is_in_hand_on_an_interrupt(void **state)
{
    (void)state;
    assert_ends_in_peace(SIGINT, SIGHUP);
}

// Asked twice at the keyboard it goes at once; what it leaves is found and decided by the next one.
static void
goes_at_once_on_the_second_interrupt(void **state)
{
    (void)state;
    pid_t pid = start_program(NULL);
    hold_a_chunk();
    kill(pid, SIGINT);
    clock_sleep(200000);
    assert_true(is_alive(pid));
    kill(pid, SIGINT);
    assert_int_equal(work_wait(pid), 130);
    assert_true(chunks_in_hand() > 0);
    test_sql(world.admin, "ROLLBACK");
    expire_leases(&world);
    assert_int_equal(work_wait(start_program("--once")), 0);
    assert_all_done(&world, operation, EVENTS);
    assert_each_once(topic, PARTITIONS, 1, EVENTS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(settles_what_is_in_hand_on_sigterm, begin, end),
        cmocka_unit_test_setup_teardown(settles_what_is_in_hand_on_an_interrupt, begin, end),
        cmocka_unit_test_setup_teardown(goes_at_once_on_the_second_interrupt, begin, end),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
