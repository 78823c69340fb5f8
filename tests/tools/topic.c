// topic BROKERS NAME PARTITIONS [NAME=VALUE…]: makes a topic with these settings, and waits until every
// partition has a leader.
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
fail(const char *what, const char *why)
{
    fprintf(stderr, "topic: %s: %s\n", what, why);
    return 1;
}

static int
create(rd_kafka_t *rk, rd_kafka_NewTopic_t *topic)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_CreateTopics(rk, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 20000);
    if (!event)
        return fail("creating the topic", "no answer within 20 s");
    size_t count;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
        if (error && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
            status = fail(rd_kafka_topic_result_name(results[i]), rd_kafka_err2str(error));
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    return status;
}

static int
has_leaders(rd_kafka_t *rk, const char *name, int partitions)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, name, NULL);
    const struct rd_kafka_metadata *metadata;
    int led = 0;
    if (rd_kafka_metadata(rk, 0, handle, &metadata, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; i < metadata->topics[0].partition_cnt; i++)
            led += metadata->topics[0].partitions[i].leader >= 0;
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return led >= partitions;
}

int
main(int argc, char **argv)
{
    if (argc < 4)
        return fail("usage", "topic BROKERS NAME PARTITIONS [NAME=VALUE…]");
    char why[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", argv[1], why, sizeof why);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!rk)
        return fail("the client", why);

    int partitions = (int)strtol(argv[3], NULL, 10);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(argv[2], partitions, -1, why, sizeof why);
    if (!topic)
        return fail(argv[2], why);
    for (int i = 4; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals)
            return fail(argv[i], "a setting is NAME=VALUE");
        *equals = '\0';
        rd_kafka_NewTopic_set_config(topic, argv[i], equals + 1);
    }
    int status = create(rk, topic);
    rd_kafka_NewTopic_destroy(topic);
    for (int tries = 0; status == 0 && tries < 100 && !has_leaders(rk, argv[2], partitions); tries++)
        rd_kafka_poll(rk, 100);
    rd_kafka_destroy(rk);
    return status;
}
