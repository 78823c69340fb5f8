// kafka_world: what a test does to a real Kafka beside the program: make topics, put records, read them back
// as a consumer would. The cluster is REDRIVE_TEST_KAFKA, HOST:PORT.
#ifndef REDRIVE_TESTS_BROKER_KAFKA_WORLD_H
#define REDRIVE_TESTS_BROKER_KAFKA_WORLD_H

#include <librdkafka/rdkafka.h>
#include "tests/store/world.h"

const char *test_kafka(void);

void kafka_property(rd_kafka_conf_t *conf, const char *name, const char *value);

rd_kafka_t *kafka_client(rd_kafka_type_t type, const char *isolation);

// A topic of a name that no other run uses; config may be NULL ("max.message.bytes=2000").
void make_topic(char name[64], const char *stem, int partitions, const char *setting, const char *value);

// A record with one header; value NULL is a tombstone.
void put_record(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key,
                const char *value, const char *header);
// The same with a time of its own, µs; 0: now.
void put_record_at(rd_kafka_t *producer, const char *topic, int32_t partition, const char *key,
                   const char *value, const char *header, int64_t at);

// Calls `take` with every record of a topic, as a consumer of that isolation level sees them; returns how
// many there were.
typedef void take_record_fn(void *context, const rd_kafka_message_t *message);

size_t read_topic(const char *name, int partitions, const char *isolation, take_record_fn *take,
                  void *context);

// A header's last value as text; "" where there is none.
const char *header_text(const rd_kafka_message_t *message, const char *name);

// How often each event (by redrive-event-id) is in a topic.
struct tally {
    unsigned char *times; // by id, 0 … most
    int64_t most;
    size_t records;
};

void tally_record(void *context, const rd_kafka_message_t *message);

// Every id from first to last is in the topic exactly once for a read_committed consumer.
void assert_each_once(const char *topic, int partitions, int64_t first, int64_t last);

#endif
