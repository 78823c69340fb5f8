// A canary on a real Kafka, watched while a consumer fails on purpose; and how soon a change of rate is felt.
#include "tests/broker/fixture.h"

#define PARTITIONS 4

static struct broker_fixture fixture = {.stem = "canary", .partitions = PARTITIONS};

static int64_t
ask(int64_t last, int32_t rate, const struct send_plan *plan)
{
    int64_t ids[5000];
    for (int64_t id = 1; id <= last; id++)
        ids[id - 1] = id;
    struct operation_request request = {.action = ACTION_REPROCESS,
                                        .ids = ids,
                                        .count = (size_t)last,
                                        .scope = "a test",
                                        .rate = rate,
                                        .plan = *plan};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(fixture.world.admin));
    int64_t no = 0;
    assert_works(operation_create(fixture.world.store, &request, NULL, NULL, &no, &err));
    return no;
}

static struct operation
wait_for(int64_t no, enum operation_state state)
{
    int64_t deadline = clock_mono() + 30 * US_PER_SECOND;
    struct operation operation = get_operation(&fixture.world, no);
    while (operation.state != state && clock_mono() < deadline) {
        clock_sleep(20000);
        operation = get_operation(&fixture.world, no);
    }
    if (operation.state != state)
        fail_msg("operation %lld is %s and not %s: sent %lld, back %lld, %s", (long long)no,
                 operation_state_name(operation.state), operation_state_name(state),
                 (long long)operation.done, (long long)operation.returned,
                 operation.state_note ? operation.state_note : "");
    return operation;
}

// What a consumer does with a record that it cannot process: a new row under the event's own id.
static void
fail_record(void *context, const rd_kafka_message_t *message)
{
    int *left = context;
    if (!*header_text(message, "redrive-event-id") || *left == 0)
        return;
    --*left;
    test_sql(
        fixture.world.admin,
        "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, stack_trace) SELECT "
        "event_id, event_type, event_payload, 'boom again', 'at consumer' FROM dlq_events WHERE id = %s",
        header_text(message, "redrive-event-id"));
}

static void
halts_by_itself_when_the_consumer_still_fails(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 200);
    const struct send_plan plan = {
        .steps = {10}, .step_count = 1, .settle_for = 20 * US_PER_SECOND, .halts = true, .halt_above = 20};
    int64_t no = ask(200, RATE_UNLIMITED, &plan);
    pid_t pid = work_start(&fixture.world, &(struct work_how){.operation = no});

    assert_int_equal(wait_for(no, OPERATION_WAITING).done, 10);
    int left = 3;
    assert_int_equal(read_topic(fixture.topic, PARTITIONS, "read_committed", fail_record, &left), 10);
    int64_t failed_at = clock_mono();
    struct operation operation = wait_for(no, OPERATION_HALTED);
    print_message("halted %.1f s after the consumer had failed\n", (double)(clock_mono() - failed_at) / 1e6);
    assert_int_equal(operation.done, 10);
    assert_int_equal(operation.returned, 3);
    assert_string_equal(operation.state_note, "3 of 10 returned, more than 20%");
    assert_int_equal(work_wait(pid), 0); // who waits for it in the foreground is told

    // The consumer is mended: a person lets it go on.
    assert_works(operation_steer(fixture.world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = no}), 0);
    assert_all_done(&fixture.world, no, 200);
    assert_each_once(fixture.topic, PARTITIONS, 1, 200);
}

static void
goes_on_by_itself_when_nothing_comes_back(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 200);
    const struct send_plan plan = {
        .steps = {10, 50}, .step_count = 2, .settle_for = US_PER_SECOND, .halts = true, .halt_above = 20};
    int64_t no = ask(200, RATE_UNLIMITED, &plan);
    int64_t start = clock_mono();
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = no}), 0);
    assert_true(clock_mono() - start > 2 * US_PER_SECOND);
    assert_all_done(&fixture.world, no, 200);
    assert_each_once(fixture.topic, PARTITIONS, 1, 200);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'step'"), 4);
}

static void
nothing_is_sent_while_it_can_be_called_back(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 20);
    int64_t no = ask(20, RATE_UNLIMITED, &(struct send_plan){.send_after = 2 * US_PER_SECOND});
    pid_t pid = work_start(&fixture.world, &(struct work_how){.operation = no});
    clock_sleep(US_PER_SECOND);
    assert_int_equal(get_operation(&fixture.world, no).done, 0);
    assert_works(operation_steer(fixture.world.store, no, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(work_wait(pid), 0);
    assert_int_equal(read_topic(fixture.topic, PARTITIONS, "read_uncommitted", tally_record,
                                &(struct tally){.times = (unsigned char[32]){0}, .most = 31}),
                     0);

    int64_t later = ask(20, RATE_UNLIMITED, &(struct send_plan){.send_after = US_PER_SECOND});
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = later}), 0);
    assert_all_done(&fixture.world, later, 20);
}

// By a worker that was there before, and by PostgreSQL's clock.
static void
what_begins_later_begins_by_itself(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 20);
    pid_t pid = work_start(&fixture.world, &(struct work_how){.lives = 60 * US_PER_SECOND});
    int64_t no = ask(20, RATE_UNLIMITED, &(struct send_plan){.begin.after = 3 * US_PER_SECOND});
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    while (get_operation(&fixture.world, no).state != OPERATION_DONE && clock_mono() < until)
        clock_sleep(US_PER_SECOND / 10);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(work_wait(pid), 0);
    assert_all_done(&fixture.world, no, 20);
    assert_each_once(fixture.topic, PARTITIONS, 1, 20);
    assert_int_equal(
        test_number(fixture.world.admin,
                    "SELECT count(*) FROM redrive.chunk c JOIN redrive.operation o ON o.no = "
                    "c.operation_no WHERE c.created_at >= o.begins_at AND o.begins_at >= o.created_at + "
                    "interval '2.9 s'"),
        1);
}

// How long it is until the number sent changes for the last time (or for the first time) after this moment.
static double
seconds_to_change(int64_t no, bool is_last)
{
    const int64_t most = (is_last ? 2500000 : 20 * US_PER_SECOND);
    int64_t start = clock_mono(), changed = start;
    int64_t done = get_operation(&fixture.world, no).done;
    while (clock_mono() - start < most) {
        int64_t now = get_operation(&fixture.world, no).done;
        if (now != done)
            changed = clock_mono();
        if (now != done && !is_last)
            return (double)(changed - start) / 1e6;
        done = now;
        clock_sleep(10000);
    }
    return is_last ? (double)(changed - start) / 1e6 : 1e9;
}

// A chunk that began before it is finished first, and the next one takes its time as well: a busy machine
// shows in how long a chunk takes, a worker that notices late does not.
static double
seconds_allowed(int64_t no)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT coalesce(max(extract(epoch FROM decided_at - created_at)) * 1e6, 0)::bigint "
             "FROM redrive.chunk WHERE operation_no = %lld AND decided_at > now() - interval '5 s'",
             (long long)no);
    return 1 + 2 * (double)test_number(fixture.world.admin, sql) / 1e6;
}

static void
a_change_of_rate_is_felt_within_a_second(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 5000);
    int64_t no = ask(5000, 500, &(struct send_plan){0});
    pid_t pid = work_start(&fixture.world, &(struct work_how){.operation = no});
    while (get_operation(&fixture.world, no).done == 0)
        clock_sleep(20000);
    const struct {
        const char *what;
        enum steer steer;
        int32_t rate;
        bool stops;
    } changes[] = {
        {"to 0/s", STEER_RATE, 0, true},    {"to 1,000/s", STEER_RATE, 1000, false},
        {"pause", STEER_PAUSE, 0, true},    {"resume", STEER_RESUME, 0, false},
        {"to 10/s", STEER_RATE, 10, false},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_works(operation_steer(fixture.world.store, no, changes[i].steer, changes[i].rate, NULL, &err));
        double took = seconds_to_change(no, changes[i].stops);
        double allowed = seconds_allowed(no);
        print_message("%s: felt after %.2f s of %.2f s\n", changes[i].what, took, allowed);
        if (took > allowed)
            fail_msg("%s: felt after %.2f s, and a second and two chunks are %.2f s", changes[i].what, took,
                     allowed);
    }
    // A worker that keeps a rate works: it does not say that it waits.
    for (int64_t until = clock_mono() + 5 * US_PER_SECOND; clock_mono() < until; clock_sleep(50000))
        assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.worker"
                                                          " WHERE note ~ 'waiting'"),
                         0);
    // What is in flight is finished first, then the rest is cancelled.
    assert_works(operation_steer(fixture.world.store, no, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(work_wait(pid), 0);
    struct operation operation = get_operation(&fixture.world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.done + operation.cancelled, 5000);
    unsigned char *times = calloc(5001, 1);
    struct tally tally = {.times = times, .most = 5000};
    assert_int_equal(read_topic(fixture.topic, PARTITIONS, "read_committed", tally_record, &tally),
                     operation.done);
    free(times);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(halts_by_itself_when_the_consumer_still_fails),
        on_fixture(goes_on_by_itself_when_nothing_comes_back),
        on_fixture(nothing_is_sent_while_it_can_be_called_back),
        on_fixture(what_begins_later_begins_by_itself),
        on_fixture(a_change_of_rate_is_felt_within_a_second),
    };
    return cmocka_run_group_tests_name("canary", tests, NULL, NULL);
}
