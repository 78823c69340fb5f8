// A host whose clock is set while its worker runs: nothing is sent, the operation's row says why, and it goes
// on by itself when the clock is right again.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include "tests/broker/fixture.h"

enum { EVENTS = 20 };

static struct broker_fixture fixture = {.stem = "clock", .partitions = 1};
static volatile int64_t *ahead; // seconds, of the worker's process too
static pid_t worker;

extern char __executable_start, etext;

// Of redrive's own calls only: librdkafka's waits would end at once, which those of a host do not when its
// clock is set.
int
clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *caller = __builtin_return_address(0);
    int result = real(id, now);
    if (id == CLOCK_REALTIME && ahead && caller >= &__executable_start && caller < &etext)
        now->tv_sec += *ahead;
    return result;
}

static int64_t
rows(int64_t no, const char *condition)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.operation WHERE no = %lld AND %s", (long long)no,
             condition);
    return test_number(fixture.world.admin, sql);
}

static bool
await_row(int64_t no, const char *condition)
{
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end; clock_sleep(100000))
        if (rows(no, condition))
            return true;
    return false;
}

static void
a_clock_that_is_set_stops_and_says_so(void **state)
{
    (void)state;
    struct world *world = &fixture.world;
    broker_fixture_fail(&fixture, 2 * EVENTS);
    int64_t before = make_operation(world, world->store, ACTION_REPROCESS, 1, EVENTS);
    worker = work_start(world, &(struct work_how){.lives = 120 * US_PER_SECOND});
    assert_true(await_row(before, "state = 'done'"));

    *ahead = 3600;
    int64_t held = make_operation(world, world->store, ACTION_REPROCESS, EVENTS + 1, 2 * EVENTS);
    static const char why[] =
        "state_note LIKE 'this host%s clock is 3% s ahead of PostgreSQL%: nothing is published %next try%'";
    if (!await_row(held, why))
        fail_msg("%s", test_text(world->admin,
                                 "SELECT coalesce(max(state_note), 'no note') FROM redrive.operation"));
    int64_t chunks = test_number(world->admin, "SELECT count(*) FROM redrive.chunk");
    for (int i = 0; i < 60; i++, clock_sleep(100000))
        assert_int_equal(rows(held, why), 1);
    assert_int_equal(rows(held, "queued = total AND done = 0 AND claimed = 0"), 1);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.chunk"), chunks);

    *ahead = 0;
    assert_true(await_row(held, "state = 'done' AND state_note IS NULL"));
    kill(worker, SIGTERM);
    assert_int_equal(work_wait(worker), 0);
    worker = 0;
    assert_all_done(world, held, EVENTS);
    assert_each_once(fixture.topic, 1, 1, 2 * EVENTS);
}

static int
tear_down(void **state)
{
    if (worker)
        kill(worker, SIGKILL);
    return broker_fixture_tear_down(state);
}

int
main(void)
{
    void *shared = mmap(NULL, sizeof *ahead, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    ahead = shared;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(a_clock_that_is_set_stops_and_says_so, broker_fixture_set_up,
                                                 tear_down, &fixture),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
