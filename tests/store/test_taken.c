// Which sent events were taken: by what a worker tells of the consumer groups, without a Kafka.
#include "sender.h"

#include "store/operations/consumers.h"

static struct sender sender;
static int64_t told_lag = 7;

// Where Kafka would keep the records of a claim: all in partition 0 of `topic`, from offset `low` on, with a
// gap of one before the last.
static struct sent_places
places_of(const struct claim *claim, const char *topic, const char *consumer, int64_t low)
{
    struct sent_places places = {.row_count = 1, .count = claim->count};
    struct arena *arena = &sender.world.arena;
    places.rows = arena_array(arena, 1, sizeof *places.rows);
    places.rows[0] =
        (struct sent_row){.topic = topic, .consumer = consumer, .low = low, .count = (int32_t)claim->count};
    places.ids = arena_array(arena, claim->count, sizeof *places.ids);
    places.offsets = arena_array(arena, claim->count, sizeof *places.offsets);
    for (size_t i = 0; i < claim->count; i++) {
        places.ids[i] = claim->items[i].event_id;
        places.offsets[i] = (int32_t)(i + (i + 1 == claim->count));
    }
    return places;
}

static void
send_to(int64_t no, const char *topic, const char *consumer, int64_t low)
{
    struct claim some = sender_claim(&sender, no);
    assert_true(some.count > 0);
    struct sent_places places = places_of(&some, topic, consumer, low);
    assert_works(chunk_published(sender.world.store, &sender.slot, &some.chunk, &places, "x", &err));
}

static struct operation
taken_look(int64_t no)
{
    struct operation operation;
    assert_works(operation_get(sender.world.store, no, &sender.world.arena, &operation, &err));
    return operation;
}

// A worker tells what this group has committed on partition 0 of the topic; -1: nothing.
static void
tell(const char *topic, const char *const *names, const int64_t *committed, size_t count, const char *note)
{
    struct consumer rows[4];
    struct consumer_offset offsets[4];
    for (size_t i = 0; i < count; i++) {
        offsets[i] = (struct consumer_offset){.committed = committed[i]};
        rows[i] = (struct consumer){.name = names[i],
                                    .state = "Stable",
                                    .lag = told_lag,
                                    .is_awaited = true,
                                    .offsets = &offsets[i],
                                    .offset_count = committed[i] >= 0};
    }
    struct topic_consumers topics = {.topic = topic, .rows = rows, .count = count, .note = note};
    assert_works(consumers_keep(sender.world.store, "kafka-1", &topics, 1, &err));
}

static void
tell_one(const char *topic, const char *name, int64_t committed)
{
    tell(topic, &name, &committed, 1, NULL);
}

static const struct send_plan canary = {.steps = {10}, .step_count = 1, .settle_for = 400000};

// How many of these events were taken, as the outcome of each says.
static int64_t
outcomes_with_taken(const char *ids)
{
    return test_number(
        sender.world.admin,
        arena_printf(&sender.world.arena,
                     "SELECT count(*) FROM redrive.items_outcomes((%s)) WHERE outcomes & 2 = 2", ids));
}

// Only rows that may have some of the events are unpacked.
static void
outcomes_of_a_page_unpack_little(void **state)
{
    (void)state;
    const struct send_plan plan = {.settle_for = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 10);
    send_to(no, "orders", "", 0);
    tell_one("orders", "billing", 11);
    assert_int_equal(outcomes_with_taken("ARRAY[3, 7]::bigint[]"), 2);
    // A row that says that it has none of them is passed over, whatever is in it.
    test_sql(sender.world.admin, "UPDATE redrive.sent SET first_id = 4, last_id = 6");
    assert_int_equal(outcomes_with_taken("ARRAY[3]::bigint[]"), 0);
    assert_int_equal(outcomes_with_taken("ARRAY[5]::bigint[]"), 1);
    assert_int_equal(outcomes_with_taken("ARRAY[7]::bigint[]"), 0);
}

static void
an_event_is_taken_when_its_group_has_passed_it(void **state)
{
    (void)state;
    const struct send_plan plan = {.settle_for = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 10);
    send_to(no, "orders", "", 100);
    assert_int_equal(taken_look(no).sent.taken.count, -1);
    assert_int_equal(taken_look(no).sent.watched, 10);

    tell_one("orders", "billing", 100);
    struct operation operation = taken_look(no);
    assert_int_equal(operation.sent.taken.count, 0);
    assert_int_equal(operation.sent.taken.of, 10);
    assert_string_equal(operation.sent.taken.by, "billing");
    assert_string_equal(operation.sent.taken.note, "billing has read 0 of 10");

    tell_one("orders", "billing", 109); // the gap: nine records end at 108, the tenth is 110
    assert_int_equal(taken_look(no).sent.taken.count, 9);
    tell_one("orders", "billing", 110);
    assert_int_equal(taken_look(no).sent.taken.count, 9);
    assert_int_equal(
        test_number(sender.world.admin, "SELECT count(*) FROM redrive.operation o, redrive.taken_of(o.no)"),
        9);
    assert_int_equal(outcomes_with_taken("SELECT array_agg(i) FROM generate_series(1::bigint, 60) i"), 9);
    for (int id = 1; id <= 10; id++) {
        const char *one = arena_printf(&sender.world.arena, "ARRAY[%d::bigint]", id);
        assert_int_equal(outcomes_with_taken(one), id < 10);
    }
    tell_one("orders", "billing", 111);
    operation = taken_look(no);
    assert_int_equal(operation.sent.taken.count, 10);
    assert_null(operation.sent.taken.note);
    assert_int_equal(operation.sent.watched, 10); // its settle time begins now
    test_sql(sender.world.admin, "UPDATE redrive.operation SET settle_for = '0 s'");
    assert_int_equal(taken_look(no).sent.quiet, 10);
}

static void
the_note_groups_its_numbers(void **state)
{
    (void)state;
    const struct send_plan plan = {.settle_for = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 10);
    send_to(no, "orders", "", 0);
    test_sql(sender.world.admin,
             "UPDATE redrive.sent SET events = 1566, low = 0, high = 1566, offsets = NULL");
    tell_one("orders", "billing", 1200);
    assert_string_equal(taken_look(no).sent.taken.note, "billing has read 1,200 of 1,566");
}

static void
the_group_that_the_dead_letter_names_is_enough(void **state)
{
    (void)state;
    const struct send_plan plan = {.settle_for = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 10);
    send_to(no, "orders", "billing", 0);
    tell("orders", (const char *const[]){"audit", "billing"}, (const int64_t[]){0, 11}, 2, NULL);
    assert_int_equal(taken_look(no).sent.taken.count, 10);
    assert_string_equal(taken_look(no).sent.taken.by, "billing");

    // Without a name, all of them.
    no = sender_ask(&sender, &plan, 11, 20);
    send_to(no, "orders", "", 20);
    tell("orders", (const char *const[]){"audit", "billing"}, (const int64_t[]){24, 31}, 2, NULL);
    assert_int_equal(taken_look(no).sent.taken.count, 4);
    assert_string_equal(taken_look(no).sent.taken.by, "audit, billing");
    assert_string_equal(taken_look(no).sent.taken.note, "audit has read 4 of 10");

    // A name that nobody has ever committed under says nothing.
    no = sender_ask(&sender, &plan, 21, 30);
    send_to(no, "orders", "gone", 40);
    tell("orders", (const char *const[]){"audit", "billing"}, (const int64_t[]){51, 51}, 2, NULL);
    assert_int_equal(taken_look(no).sent.taken.count, 10);
}

// Looks until the operation is in this state, two seconds at most.
static struct operation
taken_wait(int64_t no, enum operation_state state)
{
    struct operation operation;
    for (int i = 0; i < 100; i++) {
        sender_look(&sender, no);
        operation = taken_look(no);
        if (operation.state == state)
            break;
        clock_sleep(20000);
    }
    assert_string_equal(operation_state_name(operation.state), operation_state_name(state));
    return operation;
}

static void
a_step_that_nobody_takes_halts(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &canary, 1, 100);
    sender_look(&sender, no);
    send_to(no, "orders", "", 0);
    assert_int_equal(taken_look(no).state, OPERATION_WAITING);
    tell_one("orders", "billing", 0);
    clock_sleep(600000); // past the settle time
    sender_look(&sender, no);
    assert_int_equal(taken_look(no).state, OPERATION_WAITING);
    clock_sleep(400000); // and the same once more: it halts once Kafka was asked after that
    sender_look(&sender, no);
    assert_int_equal(taken_look(no).state, OPERATION_WAITING);
    tell_one("orders", "billing", 3);
    struct operation operation = taken_wait(no, OPERATION_HALTED);
    assert_string_equal(operation.state_note, "billing has read 3 of 10: is it running?");
    assert_int_equal(test_number(sender.world.admin,
                                 "SELECT count(*) FROM redrive.audit WHERE action = 'halt' AND "
                                 "detail = 'billing has read 3 of 10: is it running?'"),
                     1);
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    operation = taken_look(no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.step, 2);
}

static void
a_step_ends_once_its_events_are_taken(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &canary, 1, 100);
    sender_look(&sender, no);
    send_to(no, "orders", "", 0);
    tell_one("orders", "billing", 4);
    clock_sleep(500000);
    struct work work = sender_look(&sender, no);
    assert_true(work.wait >= 100000); // nobody spins meanwhile
    assert_int_equal(taken_look(no).state, OPERATION_WAITING);
    tell_one("orders", "billing", 11);
    assert_int_equal(taken_wait(no, OPERATION_RUNNING).step, 2);
}

static void
time_alone_decides_where_no_group_is_known(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &canary, 1, 100);
    sender_look(&sender, no);
    send_to(no, "orders", "", 0);
    tell("orders", NULL, NULL, 0, NULL);
    struct operation operation = taken_wait(no, OPERATION_RUNNING);
    assert_int_equal(operation.sent.taken.count, -1);
    assert_string_equal(operation.sent.taken.note,
                        "no consumer group has committed on orders: time alone decides");

    int64_t other = sender_ask(&sender, &canary, 101, 200);
    test_sql(sender.world.admin, "UPDATE redrive.operation SET rate = 0 WHERE no = %lld", (long long)no);
    sender_look(&sender, other);
    send_to(other, "audit", "", 0);
    tell("audit", NULL, NULL, 0, "redrive may not see consumer groups");
    operation = taken_wait(other, OPERATION_RUNNING);
    assert_string_equal(operation.sent.taken.note, "redrive may not see consumer groups: time alone decides");
}

static void
workers_ask_in_turns(void **state)
{
    (void)state;
    const char **topics;
    size_t count;
    bool is_urgent;
    struct arena *arena = &sender.world.arena;
    assert_works(consumers_wanted(sender.world.store, "kafka-1", arena, &topics, &count, &is_urgent, &err));
    assert_int_equal(count, 0);
    assert_false(is_urgent);

    const struct send_plan plan = {0};
    int64_t no = sender_ask(&sender, &plan, 1, 10);
    send_to(no, "orders", "", 0);
    assert_works(consumers_wanted(sender.world.store, "kafka-2", arena, &topics, &count, &is_urgent, &err));
    assert_int_equal(count, 0);
    assert_works(consumers_wanted(sender.world.store, "kafka-1", arena, &topics, &count, &is_urgent, &err));
    assert_int_equal(count, 1);
    assert_string_equal(topics[0], "orders");
    assert_true(is_urgent);
    assert_works(consumers_wanted(sender.world.store, "kafka-1", arena, &topics, &count, &is_urgent, &err));
    assert_int_equal(count, 0);
    assert_true(is_urgent);

    // What a person asks for is asked too, and what is known is kept with its age.
    assert_works(
        consumers_ask(sender.world.store, (const char *const[]){"payments", ""}, 2, &is_urgent, &err));
    assert_true(is_urgent); // the worker that the sender is
    test_sql(sender.world.admin, "UPDATE redrive.consumer_turn SET at = '-infinity'");
    assert_works(consumers_wanted(sender.world.store, "kafka-1", arena, &topics, &count, &is_urgent, &err));
    assert_int_equal(count, 2);
    tell_one("payments", "billing", 0);
    struct topic_consumers *found;
    assert_works(consumers_read(sender.world.store, (const char *const[]){"payments", "unknown"}, 2, arena,
                                &found, &err));
    assert_int_equal(found[0].count, 1);
    assert_string_equal(found[0].rows[0].name, "billing");
    assert_string_equal(found[0].rows[0].state, "Stable");
    assert_int_equal(found[0].rows[0].lag, 7);
    assert_true(found[0].read_at != TIME_ABSENT);
    assert_int_equal(found[1].count, 0);
    assert_true(found[1].read_at == TIME_ABSENT);
}

static void
nothing_is_sent_while_a_group_lags(void **state)
{
    (void)state;
    const struct send_plan plan = {.holds = true, .max_lag = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 100);
    const char *topic =
        arena_printf(&sender.world.arena, "%s",
                     test_text(sender.world.admin, "SELECT lag_topics[1] FROM redrive.operation"));
    assert_string_equal(topic,
                        test_text(sender.world.admin, "SELECT kafka_topic FROM dlq_events WHERE id = 1"));
    assert_int_equal(sender_look(&sender, no).no, 0); // nobody has asked Kafka yet
    assert_int_equal(sender_send(&sender, no), 0);
    const char **topics;
    size_t count;
    bool is_urgent;
    assert_works(consumers_wanted(sender.world.store, "kafka-1", &sender.world.arena, &topics, &count,
                                  &is_urgent, &err));
    assert_int_equal(count, 1);
    assert_string_equal(topics[0], topic);
    assert_true(is_urgent);

    told_lag = 1204;
    tell_one(topic, "billing", 0);
    assert_int_equal(sender_look(&sender, no).no, 0);
    assert_string_equal(taken_look(no).state_note, "waits: billing lags 1,204, more than 20");
    assert_int_equal(sender_send(&sender, no), 0);

    // No more than keeps the group within it, and not again before somebody has asked.
    told_lag = 8;
    tell_one(topic, "billing", 0);
    assert_int_equal(sender_look(&sender, no).no, no);
    assert_int_equal(sender_send(&sender, no), 12);
    assert_null(taken_look(no).state_note);
    assert_int_equal(sender_send(&sender, no), 0);
    told_lag = 0;
    tell_one(topic, "billing", 0);
    assert_int_equal(sender_send(&sender, no), 20);
    told_lag = 7;
    assert_true(taken_look(no).plan.holds);
    assert_int_equal(taken_look(no).plan.max_lag, 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        sent(an_event_is_taken_when_its_group_has_passed_it),
        sent(outcomes_of_a_page_unpack_little),
        sent(the_note_groups_its_numbers),
        sent(the_group_that_the_dead_letter_names_is_enough),
        sent(a_step_that_nobody_takes_halts),
        sent(a_step_ends_once_its_events_are_taken),
        sent(time_alone_decides_where_no_group_is_known),
        sent(workers_ask_in_turns),
        sent(nothing_is_sent_while_a_group_lags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
