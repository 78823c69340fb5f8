// Original records of failed events, as the shop's producers wrote them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/demo/lib/failures.h"

static void
on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    struct failed_event *event = message->_private;
    if (event && !message->err) { // a dead letter has none
        event->offset = message->offset;
        event->partition = message->partition;
    }
}

rd_kafka_t *
demo_producer(const char *brokers, int patience)
{
    char reason[512], timeout[16];
    snprintf(timeout, sizeof timeout, "%d", patience);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", brokers, reason, sizeof reason) != RD_KAFKA_CONF_OK ||
        rd_kafka_conf_set(conf, "linger.ms", "1", reason, sizeof reason) != RD_KAFKA_CONF_OK ||
        rd_kafka_conf_set(conf, "message.timeout.ms", timeout, reason, sizeof reason) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "demo: %s\n", reason);
        exit(1);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    if (!producer) {
        fprintf(stderr, "demo: %s\n", reason);
        exit(1);
    }
    return producer;
}

void
demo_produce(rd_kafka_t *producer, struct failed_event *event)
{
    const rd_kafka_vu_t fields[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = event->topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = event->partition},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {event->source_id, strlen(event->source_id)}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {event->payload.data, event->payload.len}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = event},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(producer, fields, sizeof fields / sizeof fields[0]);
    if (error) {
        fprintf(stderr, "demo: %s\n", rd_kafka_error_string(error));
        rd_kafka_error_destroy(error);
    }
}
