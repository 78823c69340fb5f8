// consumer_world: a small consumer of the team, without cooperation: it knows nothing of redrive. Each runs
// in a process of its own, as a member of a consumer group.
#ifndef REDRIVE_TESTS_BROKER_CONSUMER_WORLD_H
#define REDRIVE_TESTS_BROKER_CONSUMER_WORLD_H

#include <sys/types.h>
#include "tests/broker/kafka_world.h"

enum consumer_mood {
    CONSUMER_TAKES_ALL,
    CONSUMER_FAILS_SOME, // of each three it writes one into the table of dead letters, as a new row
    CONSUMER_FAILS_ALL,  // each, as a new row
    CONSUMER_IS_SLOW,    // half a second a record
};

struct test_consumer {
    pid_t pid;
    int taken; // pipe: one byte a record, once its offset is committed
};

// It reads the topic from the beginning, or from where its group was.
void consumer_start(struct test_consumer *consumer, const struct world *world, const char *group,
                    const char *topic, enum consumer_mood mood);
// Waits until it has committed so many more records.
void consumer_wait(const struct test_consumer *consumer, int records);
// It stops, and leaves its group.
void consumer_stop(struct test_consumer *consumer);
// A group that has read what is in the topic, and stopped.
void consumer_was_here(const struct world *world, const char *group, const char *topic, int records);

#endif
