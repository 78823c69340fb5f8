// broker: the long-lived connection to a Kafka cluster, for everything but publishing: its id, facts about
// its topics, markers, and records to read again. Publishing uses separate short-lived handles
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
// `tick` is called every second while an answer to an admin request is waited for; what it returns is of no
// interest.
typedef bool broker_tick_fn(void *context);
void broker_set_tick(struct broker *broker, broker_tick_fn *tick, void *context);
// Ends questions that Kafka left unanswered for long: to be called every few minutes at least, also where
// nothing else is asked (kafka_ask_all in broker/kafka.h tells why). It asks nothing.
void broker_tend(struct broker *broker);

// The cluster's own id, reduced to characters of Kafka names (letters, digits, '-', '_'; at most 63). Asked
// once, then remembered.
bool broker_cluster_id(struct broker *broker, int timeout_ms, char id[64], struct err *err) MUST_CHECK;
// Does this id belong to librdkafka's embedded mock cluster, which has no real transactions?
bool broker_is_mock(const char *cluster_id);

// The state of a topic, at most half a minute old.
enum topic_state {
    TOPIC_KNOWN,
    TOPIC_MISSING, // does not exist, or is hidden from us
    TOPIC_DENIED,  // not even Describe
};
struct topic {
    enum topic_state state;
    int32_t partitions;
    int64_t max_bytes; // the topic's max.message.bytes; -1: unknown (no right to DescribeConfigs)
};
bool broker_topic(struct broker *broker, const char *name, int timeout_ms, struct topic *topic,
                  struct err *err) MUST_CHECK;
// The smallest max.message.bytes among the topics read so far, or `otherwise`.
int64_t broker_smallest_limit(const struct broker *broker, int64_t otherwise);
// Marks a topic as TOPIC_DENIED for half a minute, after a write to it was denied.
void broker_deny_topic(struct broker *broker, const char *name);
// Forgets the states of topics, after an error that contradicts them.
void broker_forget_topics(struct broker *broker);

#endif
