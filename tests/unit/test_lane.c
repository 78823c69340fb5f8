// A lane: jobs in order, results that are abandoned, and an end that always comes.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "async/lane.h"
#include "async/mailbox.h"
#include "base/alloc.h"
#include "base/clock.h"

// A connection that counts what is done to it.
struct server {
    atomic_int interrupts, closes;
    struct mailbox *gate; // a job waits here until the test opens it
    atomic_int begun, dropped;
};

static void
interrupt(void *connection)
{
    struct server *server = connection;
    atomic_fetch_add(&server->interrupts, 1);
}

static void
close_server(void *connection)
{
    struct server *server = connection;
    atomic_fetch_add(&server->closes, 1);
}

struct job {
    struct server *server;
    int number, results;
};

static void
drop(void *thing)
{
    struct job *job = thing;
    atomic_fetch_add(&job->server->dropped, 1);
    free(job);
}

static void
give(struct lane *lane, struct server *server, int number, int results)
{
    struct job *job = alloc_bytes(sizeof *job);
    *job = (struct job){server, number, results};
    assert_true(lane_give(lane, job, -1));
}

static void
assert_result(struct lane *lane, int number)
{
    struct job *result = lane_take(lane, 10 * US_PER_SECOND);
    assert_non_null(result);
    assert_int_equal(result->number, number);
    free(result);
}

// Makes its results once the gate is open.
static void
answer(struct lane *lane, void *given)
{
    struct job *job = given;
    assert_ptr_equal(lane_connection(lane), job->server);
    atomic_fetch_add(&job->server->begun, 1);
    if (job->server->gate)
        (void)!mailbox_take(job->server->gate, -1);
    for (int i = 0; i < job->results; i++) {
        struct job *result = alloc_bytes(sizeof *result);
        *result = (struct job){job->server, job->number + i, 0};
        if (!lane_put(lane, result))
            drop(result);
    }
    free(job);
}

static struct lane *
make(struct server *server, void (*work)(struct lane *lane, void *job))
{
    return lane_create(&(struct lane_settings){.name = "test",
                                               .work = work,
                                               .connection = server,
                                               .interrupt = interrupt,
                                               .close = close_server,
                                               .jobs = 2,
                                               .results = 2,
                                               .drop_job = drop,
                                               .drop_result = drop});
}

static void
await_begun(struct server *server, int count)
{
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND; atomic_load(&server->begun) < count;)
        if (clock_mono() > until)
            fail_msg("no job was begun");
}

static void
results_come_in_the_order_of_the_jobs(void **state)
{
    (void)state;
    struct server server = {0};
    struct lane *lane = make(&server, answer);
    give(lane, &server, 10, 2);
    give(lane, &server, 20, 1);
    give(lane, &server, 30, 0);
    assert_result(lane, 10);
    assert_result(lane, 11);
    assert_result(lane, 20);
    assert_null(lane_take(lane, 1000));
    lane_destroy(lane);
    assert_int_equal(server.closes, 1);
    assert_int_equal(server.dropped, 0);
}

static void
a_full_queue_takes_no_job(void **state)
{
    (void)state;
    struct server server = {.gate = mailbox_create(1)};
    struct lane *lane = make(&server, answer);
    struct job late = {&server, 9, 0};
    give(lane, &server, 1, 0);
    await_begun(&server, 1);
    give(lane, &server, 2, 0);
    give(lane, &server, 3, 0);
    assert_false(lane_give(lane, &late, 1000));
    mailbox_close(server.gate);
    lane_destroy(lane);
    mailbox_destroy(server.gate, NULL);
}

// Of the three jobs one runs, one has results that wait, one is queued: none of them reaches the owner.
static void
nothing_that_was_abandoned_arrives(void **state)
{
    (void)state;
    struct server server = {0};
    struct lane *lane = make(&server, answer);
    give(lane, &server, 1, 2);
    await_begun(&server, 1);
    give(lane, &server, 5, 9); // more than fit, so that the job waits for room
    await_begun(&server, 2);
    give(lane, &server, 7, 1);
    lane_abandon(lane);
    give(lane, &server, 100, 1);
    assert_result(lane, 100);
    assert_null(lane_take(lane, 1000));
    lane_destroy(lane);
    assert_int_equal(server.dropped, 2 + 9 + 1);
}

// A statement that begins again and again, as after an interrupt that was lost.
static void
run_deaf(struct lane *lane, void *given)
{
    struct job *job = given;
    atomic_fetch_add(&job->server->begun, 1);
    while (atomic_load(&job->server->interrupts) < 3)
        ;
    assert_false(lane_is_wanted(lane));
    free(job);
}

static void
an_end_interrupts_until_it_is_heard(void **state)
{
    (void)state;
    struct server server = {0};
    struct lane *lane = make(&server, run_deaf);
    give(lane, &server, 1, 0);
    await_begun(&server, 1);
    give(lane, &server, 2, 0);
    lane_destroy(lane);
    assert_true(server.interrupts >= 3);
    assert_int_equal(server.begun, 1);
    assert_int_equal(server.dropped, 1); // the second was never begun
    assert_int_equal(server.closes, 1);
}

static void
an_idle_lane_is_not_interrupted(void **state)
{
    (void)state;
    struct server server = {0};
    struct lane *lane = make(&server, answer);
    lane_interrupt(lane);
    lane_destroy(lane);
    lane_destroy(NULL);
    assert_int_equal(server.interrupts, 0);
}

static void
sleep_long(struct lane *lane, void *given)
{
    struct job *job = given;
    assert_true(lane_sleep(lane, 1000));
    atomic_fetch_add(&job->server->begun, 1);
    assert_false(lane_sleep(lane, 3600 * US_PER_SECOND));
    free(job);
}

static void
a_sleeping_lane_wakes_for_its_end(void **state)
{
    (void)state;
    struct server server = {0};
    struct lane *lane = make(&server, sleep_long);
    give(lane, &server, 1, 0);
    await_begun(&server, 1);
    int64_t began = clock_mono();
    lane_stop(lane);
    lane_destroy(lane);
    assert_true(clock_mono() - began < 60 * US_PER_SECOND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_the_order_of_the_jobs),
        cmocka_unit_test(a_full_queue_takes_no_job),
        cmocka_unit_test(nothing_that_was_abandoned_arrives),
        cmocka_unit_test(an_end_interrupts_until_it_is_heard),
        cmocka_unit_test(an_idle_lane_is_not_interrupted),
        cmocka_unit_test(a_sleeping_lane_wakes_for_its_end),
    };
    return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
