// The records that events came from, read again: which one is the event's own, and what is said where that
// cannot be known now.
#include "tests/broker/fixture.h"

#include "broker/broker.h"
#include "publish/originals.h"
#include "publish/worker_private.h"
#include "tests/broker/demo_broker.h"

static struct broker_fixture fixture = {.stem = "originals", .partitions = 2};

// What is found for an event with this payload, said to come from offset `offset` of partition 0.
static enum original_state
look_for_within(int timeout_ms, const char *brokers, const char *payload, int64_t offset, struct err *err)
{
    const struct broker_settings settings = {.brokers = brokers};
    struct broker *broker = NULL;
    test_sql(fixture.world.admin,
             "TRUNCATE dlq_events; INSERT INTO dlq_events (id, event_id, event_type, event_payload, "
             "error_message) VALUES (1, 'e', 't', '%s', 'x')",
             payload);
    const struct event event = {.id = 1,
                                .topic = bytes_of(fixture.topic),
                                .origin.partition = 0,
                                .origin.offset = offset,
                                .origin.has_partition = true,
                                .origin.has_offset = true};
    const struct event *const events[] = {&event};
    struct original original = {0};
    assert_true(broker_open(&broker, &settings, err));
    bool ok = originals_find(fixture.world.store, broker, events, 1, timeout_ms, NULL, NULL,
                             &fixture.world.arena, &original, err);
    broker_close(broker);
    assert_int_equal(ok, !err_is_set(err));
    if (ok && original.state != ORIGINAL_FOUND && original.state != ORIGINAL_OTHER)
        assert_non_null(original.why);
    return original.state;
}

static enum original_state
look_for(const char *brokers, const char *payload, int64_t offset, struct err *err)
{
    return look_for_within(2000, brokers, payload, offset, err);
}

static void
are_believed_only_as_the_same_value(void **state)
{
    (void)state;
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    static const char *const values[] = {"{ \"a\" : 1.0 }", "{\"a\":2}", "not json", NULL, "\xff{}"};
    static const enum original_state wanted[] = {ORIGINAL_FOUND, ORIGINAL_OTHER, ORIGINAL_OTHER,
                                                 ORIGINAL_OTHER, ORIGINAL_OTHER, ORIGINAL_GONE};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put_record(producer, fixture.topic, 0, "k", values[i], "t");
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct err err = {0};
        enum original_state found = look_for(test_kafka(), "{\"a\": 1}", (int64_t)i, &err);
        if (err_is_set(&err) || found != wanted[i])
            fail_msg("offset %zu: %d instead of %d; %s", i, (int)found, (int)wanted[i], err.text);
    }
}

// Kafka that does not answer now is no reason to send something else than the original.
static void
are_not_gone_because_kafka_is_slow(void **state)
{
    (void)state;
    struct err err = {0};
    enum original_state found = look_for("127.0.0.1:1", "{}", 0, &err);
    if (!err_is_set(&err))
        assert_int_equal(found, ORIGINAL_FAILED);
    else
        assert_int_equal(err.kind, ERR_UNREACHABLE);
}

// A broker that does not tell the settings of topics takes the whole time for them, once.
static void
are_found_where_topics_tell_no_settings(void **state)
{
    (void)state;
    struct err err = {0};
    char real[200];
    snprintf(real, sizeof real, "%s", test_kafka());
    demo_broker_start((const char *const[]){fixture.topic, NULL});
    setenv("REDRIVE_TEST_KAFKA", demo_broker(), 1);
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    put_record(producer, fixture.topic, 0, "k", "{ \"a\" : 1.0 }", "t");
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
    enum original_state found = look_for_within(10000, demo_broker(), "{\"a\": 1}", 0, &err);
    setenv("REDRIVE_TEST_KAFKA", real, 1);
    demo_broker_stop();
    if (found != ORIGINAL_FOUND)
        fail_msg("%d: %s", (int)found, err.text);
}

struct ticking {
    int64_t last, longest; // clock_mono, µs between two ticks
    int count;
};

static bool
note_tick(void *context)
{
    struct ticking *ticking = context;
    int64_t gap = clock_mono() - ticking->last;
    ticking->longest = gap > ticking->longest ? gap : ticking->longest;
    ticking->last = clock_mono();
    ticking->count++;
    return true;
}

// A worker that gives no sign for fifteen seconds counts as gone, and one chunk may read for twenty.
static void
are_read_with_a_sign_of_life_meanwhile(void **state)
{
    (void)state;
    enum { EVENTS = 3 };
    const struct broker_settings settings = {.brokers = "127.0.0.1:1"};
    struct ticking ticking = {.last = clock_mono()};
    struct endpoints endpoints = {.store = fixture.world.store, .tick = note_tick, .tick_context = &ticking};
    struct err err = {0};
    assert_true(broker_open(&endpoints.broker, &settings, &err));
    struct event found[EVENTS];
    const struct event *events[EVENTS];
    struct original originals[EVENTS];
    for (int i = 0; i < EVENTS; i++) {
        found[i] = (struct event){.id = i + 1,
                                  .topic = bytes_of(fixture.topic),
                                  .origin.partition = i,
                                  .origin.has_partition = true,
                                  .origin.has_offset = true};
        events[i] = &found[i];
    }
    bool ok = endpoints_ledger.originals(&endpoints, events, EVENTS, &fixture.world.arena, originals, &err);
    int64_t gap = clock_mono() - ticking.last;
    broker_close(endpoints.broker);
    if (!ok)
        fail_msg("%s", err.text);
    for (int i = 0; i < EVENTS; i++)
        assert_int_equal(originals[i].state, ORIGINAL_FAILED);
    if (ticking.count < EVENTS || ticking.longest > 8 * US_PER_SECOND || gap > 8 * US_PER_SECOND)
        fail_msg("%d signs, %lld ms apart at most, %lld ms after the last", ticking.count,
                 (long long)ticking.longest / 1000, (long long)gap / 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(are_believed_only_as_the_same_value),
        on_fixture(are_not_gone_because_kafka_is_slow),
        on_fixture(are_found_where_topics_tell_no_settings),
        on_fixture(are_read_with_a_sign_of_life_meanwhile),
    };
    return cmocka_run_group_tests_name("originals", tests, NULL, NULL);
}
