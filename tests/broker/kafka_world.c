#include "tests/broker/kafka_world.h"

#include <unistd.h>

const char *
test_kafka(void)
{
    const char *brokers = getenv("REDRIVE_TEST_KAFKA");
    if (!brokers || !*brokers) {
        fprintf(stderr, "REDRIVE_TEST_KAFKA is not set: no Kafka to test with\n");
        exit(1);
    }
    return brokers;
}

void
kafka_property(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[200];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK)
        fail_msg("%s", text);
}

rd_kafka_t *
kafka_client(rd_kafka_type_t type, const char *isolation)
{
    char text[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_property(conf, "bootstrap.servers", test_kafka());
    if (rd_kafka_version() >= 0x020500ff) // as src/broker/kafka.c says
        kafka_property(conf, "enable.metrics.push", "false");
    if (type ==
        RD_KAFKA_PRODUCER) // a retry must not change the order, which the offsets in the tables rely on
        kafka_property(conf, "enable.idempotence", "true");
    if (isolation) {
        kafka_property(conf, "isolation.level", isolation);
        kafka_property(conf, "enable.partition.eof", "true");
        kafka_property(conf, "fetch.wait.max.ms", "10");
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
    if (!client)
        fail_msg("%s", text);
    return client;
}

void
make_topic(char name[64], const char *stem, int partitions, const char *setting, const char *value)
{
    static int count;
    char text[200];
    snprintf(name, 64, "%s.%ld.%d.%lld", stem, (long)getpid(), ++count, (long long)(clock_now() % 1000000));
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, text, sizeof text);
    if (setting)
        assert_int_equal(rd_kafka_NewTopic_set_config(topic, setting, value), 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 20000);
    assert_non_null(event);
    size_t results = 0;
    const rd_kafka_topic_result_t **result =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &results);
    assert_int_equal(results, 1);
    assert_int_equal(rd_kafka_topic_result_error(result[0]), 0);
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

void
put_record(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key, const char *value,
           const char *header)
{
    put_record_at(producer, topic, partition, key, value, header, 0);
}

void
put_record_at(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key, const char *value,
              const char *header, int64_t at)
{
    union {
        const char *in;
        void *out;
    } k = {.in = key}, v = {.in = value}, h = {.in = header};
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = k.out, .size = key ? strlen(key) : 0}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = v.out, .size = value ? strlen(value) : 0}},
        {.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {.name = "trace", .val = h.out, .size = -1}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = at / 1000},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(producer, arguments, sizeof arguments / sizeof *arguments);
    if (error)
        fail_msg("%s", rd_kafka_error_string(error));
}

size_t
read_topic(const char *name, int partitions, const char *isolation, take_record_fn *take, void *context)
{
    size_t count = 0;
    rd_kafka_t *client = kafka_client(RD_KAFKA_CONSUMER, isolation);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    for (int32_t partition = 0; partition < partitions; partition++) {
        assert_int_equal(rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING), 0);
        for (;;) {
            rd_kafka_message_t *message = rd_kafka_consume(topic, partition, 20000);
            if (!message) {
                fail_msg("%s/%d could not be read", name, (int)partition);
                break; // never reached, which only cmocka knows
            }
            rd_kafka_resp_err_t code = message->err;
            if (!code) {
                count++;
                take(context, message);
            }
            rd_kafka_message_destroy(message);
            if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF)
                break;
            assert_int_equal(code, 0);
        }
        rd_kafka_consume_stop(topic, partition);
    }
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(client);
    return count;
}

const char *
header_text(const rd_kafka_message_t *message, const char *name)
{
    static char text[200];
    rd_kafka_headers_t *headers;
    const void *value;
    size_t size;
    text[0] = '\0';
    if (!rd_kafka_message_headers(message, &headers) &&
        !rd_kafka_header_get_last(headers, name, &value, &size))
        snprintf(text, sizeof text, "%.*s", (int)size, (const char *)value);
    return text;
}

void
tally_record(void *context, const rd_kafka_message_t *message)
{
    struct tally *tally = context;
    long long id = strtoll(header_text(message, "redrive-event-id"), NULL, 10);
    if (id <= 0)
        return; // put there by the test itself
    if (id > tally->most)
        fail_msg("event %lld was never asked for", id);
    tally->times[id]++;
    tally->records++;
}

void
assert_each_once(const char *topic, int partitions, int64_t first, int64_t last)
{
    struct tally tally = {.times = calloc((size_t)last + 1, 1), .most = last};
    assert_non_null(tally.times);
    read_topic(topic, partitions, "read_committed", tally_record, &tally);
    for (int64_t id = 1; id <= last; id++)
        if (tally.times[id] != (id >= first))
            fail_msg("event %lld is there %d times", (long long)id, tally.times[id]);
    free(tally.times);
}
