// The records that events came from, read again: which one is the event's own, and what is said where that
// cannot be known now.
#include "tests/broker/fixture.h"

#include <librdkafka/rdkafka_mock.h>
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

// A dead letter without a copy has no value to compare: what it points at is believed, unless it is younger.
static void
are_read_where_a_dead_letter_points(void **state)
{
    (void)state;
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    put_record_at(producer, fixture.topic, 0, "k", "\xff raw", "t", 1700000000000000);
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
    const struct broker_settings settings = {.brokers = test_kafka()};
    struct broker *broker = NULL;
    assert_works(broker_open(&broker, &settings, &err));
    struct event_header headers[] = {{BYTES("__dlq.errors.topic"), bytes_of(fixture.topic)},
                                     {BYTES("__dlq.errors.partition"), BYTES("0")},
                                     {BYTES("__dlq.errors.offset"), BYTES("0")}};
    struct event event = {.id = 1,
                          .topic = bytes_of(fixture.topic),
                          .origin = {.has_partition = true, .has_offset = true},
                          .record = {.is_kept = true,
                                     .topic = BYTES("dlq.orders"),
                                     .timestamp = 1800000000000000,
                                     .headers = headers,
                                     .header_count = 3}};
    const struct event *const events[] = {&event};
    struct original original = {0};
    for (int i = 0; i < 2; i++) {
        assert_works(originals_find(fixture.world.store, broker, events, 1, 5000, NULL, NULL,
                                    &fixture.world.arena, &original, &err));
        assert_int_equal(original.state, i ? ORIGINAL_OTHER : ORIGINAL_FOUND);
        event.record.timestamp = 1600000000000000;
    }
    broker_close(broker);
    assert_string_equal(original.why, "the record in its place is younger than the dead letter");
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

// --- a cluster whose brokers are far away, or gone ---

enum { BROKERS = 3, PARTITIONS = 2 * BROKERS, ROUND_TRIP_MS = 1000 };

struct cluster_far_away {
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *cluster;
};

static void
cluster_start(struct cluster_far_away *far)
{
    char why[200];
    far->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why);
    assert_non_null(far->host);
    far->cluster = rd_kafka_mock_cluster_new(far->host, BROKERS);
    assert_non_null(far->cluster);
    assert_int_equal(rd_kafka_mock_topic_create(far->cluster, fixture.topic, PARTITIONS, 1), 0);
    char real[200];
    snprintf(real, sizeof real, "%s", test_kafka());
    setenv("REDRIVE_TEST_KAFKA", rd_kafka_mock_cluster_bootstraps(far->cluster), 1);
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int p = 0; p < PARTITIONS; p++) {
        rd_kafka_mock_partition_set_leader(far->cluster, fixture.topic, p, 1 + p % BROKERS);
        put_record(producer, fixture.topic, p, "k", "{ \"a\" : 1.0 }", "t");
    }
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
    setenv("REDRIVE_TEST_KAFKA", real, 1);
}

static void
cluster_stop(struct cluster_far_away *far)
{
    rd_kafka_mock_cluster_destroy(far->cluster);
    rd_kafka_destroy(far->host);
}

// One event of each partition, as a chunk reads them. Returns how many µs it took.
static int64_t
look_for_all(struct endpoints *endpoints, struct original originals[PARTITIONS])
{
    struct event found[PARTITIONS];
    const struct event *events[PARTITIONS];
    struct err err = {0};
    test_sql(fixture.world.admin,
             "TRUNCATE dlq_events; INSERT INTO dlq_events (id, event_id, event_type, event_payload, "
             "error_message) SELECT i, 'e', 't', '{\"a\": 1}', 'x' FROM generate_series(1, %d) i",
             PARTITIONS);
    for (int i = 0; i < PARTITIONS; i++) {
        found[i] = (struct event){.id = i + 1,
                                  .topic = bytes_of(fixture.topic),
                                  .origin.partition = i,
                                  .origin.has_partition = true,
                                  .origin.has_offset = true};
        events[i] = &found[i];
    }
    int64_t began = clock_mono();
    if (!endpoints_ledger.originals(endpoints, events, PARTITIONS, &fixture.world.arena, originals, &err))
        fail_msg("%s", err.text);
    return clock_mono() - began;
}

static void
are_found_where_a_round_trip_takes_a_second(void **state)
{
    (void)state;
    struct cluster_far_away far;
    cluster_start(&far);
    for (int i = 1; i <= BROKERS; i++)
        rd_kafka_mock_broker_set_rtt(far.cluster, i, ROUND_TRIP_MS);
    const struct broker_settings settings = {.brokers = rd_kafka_mock_cluster_bootstraps(far.cluster)};
    struct endpoints endpoints = {.store = fixture.world.store};
    struct original originals[PARTITIONS];
    struct err err = {0};
    assert_true(broker_open(&endpoints.broker, &settings, &err));
    int64_t took = look_for_all(&endpoints, originals);
    broker_close(endpoints.broker);
    cluster_stop(&far);
    for (int i = 0; i < PARTITIONS; i++)
        if (originals[i].state != ORIGINAL_FOUND)
            fail_msg("partition %d: %d after %lld ms: %s", i, (int)originals[i].state, (long long)took / 1000,
                     originals[i].why);
}

// Its partitions are waited for together, and the others lose nothing by it.
static void
are_not_waited_for_twice_where_a_broker_is_gone(void **state)
{
    (void)state;
    struct cluster_far_away far;
    cluster_start(&far);
    rd_kafka_mock_broker_set_down(far.cluster, 2);
    const struct broker_settings settings = {.brokers = rd_kafka_mock_cluster_bootstraps(far.cluster)};
    struct endpoints endpoints = {.store = fixture.world.store};
    struct original first[PARTITIONS], again[PARTITIONS];
    struct err err = {0};
    assert_true(broker_open(&endpoints.broker, &settings, &err));
    int64_t took = look_for_all(&endpoints, first);
    int64_t took_again = look_for_all(&endpoints, again);
    broker_close(endpoints.broker);
    cluster_stop(&far);
    for (int i = 0; i < PARTITIONS; i++) {
        enum original_state wanted = 1 + i % BROKERS == 2 ? ORIGINAL_FAILED : ORIGINAL_FOUND;
        if (first[i].state != wanted || again[i].state != wanted)
            fail_msg("partition %d: %d, then %d", i, (int)first[i].state, (int)again[i].state);
    }
    if (took > 14 * US_PER_SECOND || took_again > 2 * US_PER_SECOND)
        fail_msg("it took %lld ms, then %lld", (long long)took / 1000, (long long)took_again / 1000);
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
        on_fixture(are_read_where_a_dead_letter_points),
        on_fixture(are_not_gone_because_kafka_is_slow),
        on_fixture(are_found_where_topics_tell_no_settings),
        on_fixture(are_found_where_a_round_trip_takes_a_second),
        on_fixture(are_not_waited_for_twice_where_a_broker_is_gone),
        on_fixture(are_read_with_a_sign_of_life_meanwhile),
    };
    return cmocka_run_group_tests_name("originals", tests, NULL, NULL);
}
