// ingest_world: dead letters in a real Kafka, an ingester, and the comparison of what is in both.
#ifndef REDRIVE_TESTS_BROKER_INGEST_WORLD_H
#define REDRIVE_TESTS_BROKER_INGEST_WORLD_H

#include "core/envelope/envelope.h"
#include "ingest/ingester.h"
#include "tests/broker/fixture.h"

// A record with these bytes.
void put_letter(rd_kafka_t *producer, const char *topic, const struct envelope_record *record);
// A producer with one property more; NULL: none.
rd_kafka_t *letter_producer(const char *name, const char *value);
void letters_sent(rd_kafka_t *producer); // flushed and destroyed

// Takes in to the end of that topic; what it says.
struct ingest_report ingest_once(const struct world *world, const char *topic);
// The same, but only counts; without the counts by format.
struct ingest_report ingest_dry(const struct world *world, const char *topic);

// Every record of the topic that a read_committed consumer sees is in redrive.record or redrive.attempt of
// this generation once, with the same key, value and headers, and nothing else is. How many they are.
size_t assert_taken_in(const struct world *world, const char *topic, int partitions, int generation);

#endif
