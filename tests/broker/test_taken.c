// Sent is not taken: consumers that take all, fail, are slow, or have stopped, on a real Kafka; two groups on
// one topic. Workers ask Kafka in worker_consumers.c.
#include "tests/broker/consumer_world.h"
#include "tests/broker/fixture.h"
#include "tests/broker/told.h"

#include "store/operations/consumers.h"

#define PARTITIONS 2
#define EVENTS 60

static struct broker_fixture fixture = {.stem = "taken", .partitions = PARTITIONS};

static int64_t
ask(const struct send_plan *plan)
{
    int64_t ids[EVENTS];
    for (int64_t id = 1; id <= EVENTS; id++)
        ids[id - 1] = id;
    struct operation_request request = {.action = ACTION_REPROCESS,
                                        .ids = ids,
                                        .count = EVENTS,
                                        .scope = "a test",
                                        .rate = RATE_UNLIMITED,
                                        .plan = *plan};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(fixture.world.admin));
    int64_t no = 0;
    assert_works(operation_create(fixture.world.store, &request, NULL, NULL, &no, &err));
    return no;
}

static int64_t
canary(int64_t settle_for)
{
    return ask(&(struct send_plan){.steps = {10}, .step_count = 1, .settle_for = settle_for});
}

// Groups have read the topic before: two records that nobody failed on, one in each partition.
static void
begin(void)
{
    broker_fixture_fail(&fixture, EVENTS);
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int32_t i = 0; i < PARTITIONS; i++)
        put_record(producer, fixture.topic, i, "k", "{}", "");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
}

// A name that no other test and no other run has.
static const char *
group_of(const char *stem)
{
    return arena_printf(&fixture.world.arena, "%s.%s", stem, fixture.topic);
}

static struct operation
wait_until(int64_t no, bool (*is_so)(const struct operation *operation), const char *what)
{
    int64_t deadline = clock_mono() + 40 * US_PER_SECOND;
    struct operation operation = get_operation(&fixture.world, no);
    while (!is_so(&operation) && clock_mono() < deadline) {
        clock_sleep(50000);
        operation = get_operation(&fixture.world, no);
    }
    if (!is_so(&operation))
        fail_msg("not %s: operation %lld is %s, done %lld, taken %lld of %lld by %s, returned %lld; %s; %s",
                 what, (long long)no, operation_state_name(operation.state), (long long)operation.done,
                 (long long)operation.sent.taken.count, (long long)operation.sent.taken.of,
                 operation.sent.taken.by ? operation.sent.taken.by : "nobody", (long long)operation.returned,
                 operation.sent.taken.note ? operation.sent.taken.note : "",
                 operation.state_note ? operation.state_note : "");
    return operation;
}

static bool
is_all_taken(const struct operation *operation)
{
    return operation->state == OPERATION_DONE && operation->sent.taken.count == EVENTS;
}

static bool
is_settled(const struct operation *operation)
{
    return operation->state == OPERATION_DONE && operation->sent.watched == 0;
}

static bool
is_halted(const struct operation *operation)
{
    return operation->state == OPERATION_HALTED;
}

static bool
is_canary_sent(const struct operation *operation)
{
    return operation->done == 10;
}

static bool
is_without_group(const struct operation *operation)
{
    return operation->state == OPERATION_DONE && operation->sent.taken.note;
}

static pid_t
work(const char *consumers)
{
    return work_start(&fixture.world,
                      &(struct work_how){.lives = 60 * US_PER_SECOND, .consumers = consumers});
}

static void
work_end(pid_t pid)
{
    kill(pid, SIGTERM);
    assert_int_equal(work_wait(pid), 0);
}

static void
a_group_that_takes_all(void **state)
{
    (void)state;
    begin();
    const char *group = group_of("billing");
    struct test_consumer consumer;
    consumer_start(&consumer, &fixture.world, group, fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&consumer, PARTITIONS);
    pid_t pid = work(NULL);
    int64_t no = canary(2 * US_PER_SECOND);
    struct told_screen screen = {0};
    told_watch(&screen, &fixture.world, no, "done");
    struct operation operation = wait_until(no, is_all_taken, "taken");
    assert_string_equal(operation.sent.taken.by, group);
    assert_null(operation.sent.taken.note);
    assert_int_equal(operation.returned, 0);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(DISTINCT t) FROM redrive.taken_of(1) t"),
                     EVENTS);
    wait_until(no, is_settled, "settled");
    told_everywhere(&screen, &fixture.world, no,
                    &(struct told){.sentence = "done, all 60 stayed away", .done = EVENTS, .taken = EVENTS});
    work_end(pid);
    consumer_stop(&consumer);
}

// Whoever waits in the foreground learns it too: no other worker is there to ask later.
static void
the_foreground_asks_before_it_ends(void **state)
{
    (void)state;
    begin();
    const char *group = group_of("billing");
    consumer_was_here(&fixture.world, group, fixture.topic, PARTITIONS);
    int64_t no = ask(&(struct send_plan){0});
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = no}), 0);
    struct operation operation = get_operation(&fixture.world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.sent.taken.count, 0);
    assert_int_equal(operation.sent.taken.of, EVENTS);
    assert_string_equal(operation.sent.taken.by, group);
}

static void
a_group_that_stopped(void **state)
{
    (void)state;
    begin();
    const char *group = group_of("billing");
    consumer_was_here(&fixture.world, group, fixture.topic, PARTITIONS);
    pid_t pid = work(NULL);
    int64_t no = canary(2 * US_PER_SECOND);
    struct told_screen screen = {0};
    told_watch(&screen, &fixture.world, no, "HALTED after 10 of 60");
    struct operation operation = wait_until(no, is_halted, "halted");
    assert_int_equal(operation.done, 10);
    assert_int_equal(operation.sent.taken.count, 0);
    assert_string_equal(operation.state_note,
                        arena_printf(&fixture.world.arena, "%s has read 0 of 10: is it running?", group));
    told_everywhere(&screen, &fixture.world, no,
                    &(struct told){.sentence = "HALTED after 10 of 60", .status = 1, .done = 10});

    // It is started again: what it takes is counted, and a person lets the rest go.
    struct test_consumer consumer;
    consumer_start(&consumer, &fixture.world, group, fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&consumer, 10);
    assert_works(operation_steer(fixture.world.store, no, STEER_RESUME, 0, NULL, &err));
    wait_until(no, is_all_taken, "taken");
    work_end(pid);
    consumer_stop(&consumer);
}

static void
a_group_that_is_slow(void **state)
{
    (void)state;
    begin();
    const char *group = group_of("billing");
    struct test_consumer consumer, beside; // another group of the topic
    consumer_start(&consumer, &fixture.world, group, fixture.topic, CONSUMER_IS_SLOW);
    consumer_wait(&consumer, PARTITIONS);
    consumer_start(&beside, &fixture.world, group_of("audit"), fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&beside, PARTITIONS);
    pid_t pid = work(NULL);
    int64_t no = canary(4 * US_PER_SECOND); // it needs five seconds for ten
    struct told_screen screen = {0};
    told_watch(&screen, &fixture.world, no, "done");
    wait_until(no, is_canary_sent, "sent");
    int64_t sent_at = clock_mono();
    consumer_wait(&consumer, 3);
    assert_int_equal(get_operation(&fixture.world, no).state, OPERATION_WAITING);
    consumer_wait(&consumer, 8); // the eleventh is of the next step
    assert_true(clock_mono() - sent_at >= 5 * US_PER_SECOND);
    struct operation operation = wait_until(no, is_all_taken, "taken");
    assert_int_equal(operation.sent.taken.count, EVENTS);
    wait_until(no, is_settled, "settled");
    told_everywhere(&screen, &fixture.world, no,
                    &(struct told){.sentence = "done, all 60 stayed away", .done = EVENTS, .taken = EVENTS});
    work_end(pid);
    consumer_stop(&consumer);
    consumer_stop(&beside);
}

static void
a_group_that_fails_some(void **state)
{
    (void)state;
    begin();
    const char *group = group_of("billing");
    struct test_consumer consumer, beside; // another group of the topic
    consumer_start(&consumer, &fixture.world, group, fixture.topic, CONSUMER_FAILS_SOME);
    consumer_wait(&consumer, PARTITIONS);
    consumer_start(&beside, &fixture.world, group_of("audit"), fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&beside, PARTITIONS);
    pid_t pid = work(NULL);
    int64_t no = canary(3 * US_PER_SECOND);
    struct told_screen screen = {0};
    told_watch(&screen, &fixture.world, no, "DONE, BUT 20 OF 60 RETURNED");
    wait_until(no, is_all_taken, "taken");
    work_end(pid);
    consumer_stop(&consumer);
    consumer_stop(&beside);
    assert_works(
        worker_beat(fixture.world.store, "w", true, "idle", 0, &err)); // looks for those that returned
    struct operation operation = get_operation(&fixture.world, no);
    assert_int_equal(operation.returned, EVENTS / 3);
    assert_int_equal(operation.sent.taken.count, EVENTS);
    told_everywhere(&screen, &fixture.world, no,
                    &(struct told){.sentence = "DONE, BUT 20 OF 60 RETURNED",
                                   .status = 1,
                                   .done = EVENTS,
                                   .taken = EVENTS,
                                   .returned = EVENTS / 3});
}

static void
two_groups_of_which_one_stopped(void **state)
{
    (void)state;
    begin();
    const char *billing = group_of("billing"), *audit = group_of("audit");
    consumer_was_here(&fixture.world, audit, fixture.topic, PARTITIONS);
    struct test_consumer consumer;
    consumer_start(&consumer, &fixture.world, billing, fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&consumer, PARTITIONS);
    pid_t pid = work(NULL);
    int64_t no = canary(2 * US_PER_SECOND);
    struct told_screen screen = {0};
    told_watch(&screen, &fixture.world, no, "HALTED after 10 of 60");
    struct operation operation = wait_until(no, is_halted, "halted");
    assert_string_equal(operation.state_note,
                        arena_printf(&fixture.world.arena, "%s has read 0 of 10: is it running?", audit));
    told_everywhere(&screen, &fixture.world, no,
                    &(struct told){.sentence = "HALTED after 10 of 60", .status = 1, .done = 10});
    work_end(pid);
    assert_works(operation_steer(fixture.world.store, no, STEER_CANCEL, 0, NULL, &err));
    consumer_stop(&consumer);
}

static void
two_groups_and_a_setting(void **state)
{
    (void)state;
    begin();
    const char *billing = group_of("billing"), *audit = group_of("audit");
    consumer_was_here(&fixture.world, audit, fixture.topic, PARTITIONS);
    struct test_consumer consumer;
    consumer_start(&consumer, &fixture.world, billing, fixture.topic, CONSUMER_TAKES_ALL);
    consumer_wait(&consumer, PARTITIONS);
    pid_t pid = work(arena_printf(&fixture.world.arena, "%s: %s", fixture.topic, billing));
    int64_t no = canary(2 * US_PER_SECOND);
    assert_string_equal(wait_until(no, is_all_taken, "taken").sent.taken.by, billing);
    struct topic_consumers *found;
    const char *topics[] = {fixture.topic};
    assert_works(consumers_read(fixture.world.store, topics, 1, &fixture.world.arena, &found, &err));
    assert_int_equal(found->count, 2);
    assert_string_equal(found->rows[0].name, audit);
    assert_string_equal(found->rows[0].state, "Empty");
    assert_true(found->rows[0].lag >= EVENTS); // and the ends of transactions, which are records of their own
    assert_string_equal(found->rows[1].state, "Stable");
    work_end(pid);
    consumer_stop(&consumer);
}

static void
without_a_group_time_alone_decides(void **state)
{
    (void)state;
    begin();
    pid_t pid = work(NULL);
    int64_t no = canary(US_PER_SECOND);
    struct operation operation = wait_until(no, is_without_group, "done");
    assert_int_equal(operation.sent.taken.count, -1);
    assert_non_null(strstr(operation.sent.taken.note, "no consumer group has committed on"));
    assert_non_null(strstr(operation.sent.taken.note, "time alone decides"));
    work_end(pid);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(a_group_that_takes_all),   on_fixture(the_foreground_asks_before_it_ends),
        on_fixture(a_group_that_stopped),     on_fixture(a_group_that_is_slow),
        on_fixture(a_group_that_fails_some),  on_fixture(two_groups_of_which_one_stopped),
        on_fixture(two_groups_and_a_setting), on_fixture(without_a_group_time_alone_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
