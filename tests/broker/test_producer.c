// Handles come to their end when they should, and not before: on a broker that a test makes as slow as it
// needs, librdkafka's own, in memory, and on a real Kafka.
#include "broker/marker.h"
#include "broker/producer.h"
#include "tests/broker/kafka_world.h"

#include <librdkafka/rdkafka_mock.h>

enum { ROUND_TRIP_MS = 20000, PATIENCE_MS = 3000, HANDLES = 12, SLOW_MS = 1300 };

struct mock {
    rd_kafka_t *client;
    rd_kafka_mock_cluster_t *cluster;
    struct broker_settings settings;
};

static void
mock_begin(struct mock *mock)
{
    char text[200];
    mock->client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    assert_non_null(mock->client);
    mock->cluster = rd_kafka_mock_cluster_new(mock->client, 1);
    mock->settings = (struct broker_settings){.brokers = rd_kafka_mock_cluster_bootstraps(mock->cluster)};
}

static void
mock_end(struct mock *mock)
{
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->client);
}

// Whoever was superseded, or shall stop, does not wait for brokers that do not answer.
static void
destroying_it_waits_for_no_answer(void **state)
{
    (void)state;
    struct mock mock;
    struct producer *producer;
    const char *const topics[] = {"orders"};
    const struct producer_record record = {.topic = "orders", .partition = 0, .value = BYTES("{}")};
    mock_begin(&mock);
    assert_works(producer_open(&producer, &mock.settings, &(struct producer_settings){.records = 1}, &err));
    assert_works(producer_warm(producer, topics, 1, 10000, &err));
    assert_int_equal(rd_kafka_mock_broker_set_rtt(mock.cluster, 1, ROUND_TRIP_MS), 0);

    bool is_full;
    size_t count;
    struct report report;
    assert_works(producer_send(producer, &record, 0, &is_full, &err));
    assert_works(producer_serve(producer, 500, &report, 1, &count, &err)); // meanwhile it leaves
    assert_int_equal(count, 0);
    int64_t began = clock_mono();
    producer_destroy(producer);
    assert_in_range(clock_mono() - began, 0, PATIENCE_MS * 1000);
    mock_end(&mock);
}

// Some versions of librdkafka wait a second for the metrics of a handle.
static void
destroying_it_waits_for_no_metrics(void **state)
{
    (void)state;
    int64_t took = 0;
    const struct broker_settings settings = {.brokers = test_kafka()};
    const struct producer_settings how = {.txn_id = "redrive.metrics", .records = 1};
    for (int i = 0; i < HANDLES; i++) {
        struct producer *producer;
        bool is_done = false;
        assert_works(producer_open(&producer, &settings, &how, &err));
        while (!is_done)
            assert_works(producer_init(producer, 100, &is_done, &err));
        int64_t began = clock_mono();
        producer_destroy(producer);
        took += clock_mono() - began;
    }
    assert_in_range(took, 0, HANDLES * US_PER_SECOND / 4);
}

// librdkafka must not be the one who gives up a question to a coordinator: it would abort this process when
// Kafka is back.
static void
an_unanswered_question_outlasts_an_outage(void **state)
{
    (void)state;
    struct mock mock;
    struct broker *broker;
    struct marker_reading reading;
    struct err away = {0};
    mock_begin(&mock);
    assert_int_equal(rd_kafka_mock_topic_create(mock.cluster, MARKER_TOPIC, 2, 1), 0);
    assert_works(broker_open(&broker, &mock.settings, &err));
    assert_works(marker_read(broker, "redrive.away", 10000, &reading, &err));
    assert_int_equal(rd_kafka_mock_broker_set_down(mock.cluster, 1), 0);
    assert_false(marker_read(broker, "redrive.away", 300, &reading, &away));
    assert_int_equal(away.kind, ERR_UNREACHABLE);
    assert_false(marker_write_nonce(broker, "redrive.away", 7, 300, &away));
    assert_int_equal(rd_kafka_mock_broker_set_up(mock.cluster, 1), 0);
    assert_works(marker_write_nonce(broker, "redrive.away", 8, 10000, &err));
    assert_works(marker_read(broker, "redrive.away", 10000, &reading, &err));
    assert_int_equal(reading.nonce, 8);
    broker_close(broker);
    mock_end(&mock);
}

// An answer takes longer than a second, and longer than the first try gives it.
static void
a_slow_network_is_reached(void **state)
{
    (void)state;
    struct mock mock;
    struct broker *broker;
    char id[64];
    struct err late = {0};
    mock_begin(&mock);
    assert_int_equal(rd_kafka_mock_broker_set_rtt(mock.cluster, 1, SLOW_MS), 0);
    assert_works(broker_open(&broker, &mock.settings, &err));
    assert_false(broker_cluster_id(broker, SLOW_MS, id, &late));
    assert_int_equal(late.kind, ERR_UNREACHABLE);
    assert_works(broker_cluster_id(broker, 10000, id, &err));
    broker_close(broker);
    mock_end(&mock);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroying_it_waits_for_no_answer),
        cmocka_unit_test(destroying_it_waits_for_no_metrics),
        cmocka_unit_test(an_unanswered_question_outlasts_an_outage),
        cmocka_unit_test(a_slow_network_is_reached),
    };
    return cmocka_run_group_tests_name("producer", tests, NULL, NULL);
}
