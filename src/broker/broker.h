// broker: the long-lived connection to a Kafka cluster, for everything but publishing: which cluster it is,
// what is known of its topics, markers, records read again. Publishing has short-lived handles of its own
// (broker/producer.h).
//
// One thread at a time. Every wait is bounded by a timeout in milliseconds. ERR_UNREACHABLE: no broker
// answered in time; ERR_DENIED: an ACL is missing, the sentence names it.
#ifndef REDRIVE_BROKER_BROKER_H
#define REDRIVE_BROKER_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "broker/settings.h"

struct broker;

// Makes no connection yet. settings are borrowed until broker_close.
bool broker_open(struct broker **broker, const struct broker_settings *settings, struct err *err) MUST_CHECK;
void broker_close(struct broker *broker);

// The cluster's own id, made fit for Kafka names (letters, digits, '-', '_'; at most 63). Asked once, then
// remembered.
bool broker_cluster_id(struct broker *broker, int timeout_ms, char id[64], struct err *err) MUST_CHECK;
// Is this id that of librdkafka's embedded mock cluster, which knows no real transactions?
bool broker_is_mock(const char *cluster_id);

// What a topic is, as known for the last half minute.
enum topic_state {
    TOPIC_KNOWN,
    TOPIC_MISSING, // does not exist, or is hidden from us
    TOPIC_DENIED,  // not even Describe
};
struct topic {
    enum topic_state state;
    int32_t partitions;
    int64_t max_bytes; // the topic's max.message.bytes; -1: not known (DescribeConfigs is not allowed)
};
bool broker_topic(struct broker *broker, const char *name, int timeout_ms, struct topic *topic,
                  struct err *err) MUST_CHECK;
// The smallest max.message.bytes among topics asked for so far, or `otherwise`.
int64_t broker_smallest_limit(const struct broker *broker, int64_t otherwise);
// It turned out that the topic may not be written to: for the next half minute it is TOPIC_DENIED.
void broker_deny_topic(struct broker *broker, const char *name);
// Forget what is known of topics: after an error that contradicts it.
void broker_forget_topics(struct broker *broker);

#endif
