// kafka_harm: what an administrator of Kafka may do to us, by mistake or not.
#ifndef REDRIVE_TESTS_BROKER_KAFKA_HARM_H
#define REDRIVE_TESTS_BROKER_KAFKA_HARM_H

#include "tests/broker/kafka_world.h"

void delete_group(const char *name);
void delete_topic(const char *name);
// All its records; offsets continue.
void delete_records(const char *name, int partitions);
// Somebody else's offset where the marker of a group should be.
void write_marker(const char *group, int64_t offset, const char *text);

#endif
