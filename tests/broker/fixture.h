// fixture: what a test on a real Kafka begins with: a world, a topic that no other test has, and failures
// that came from it.
#ifndef REDRIVE_TESTS_BROKER_FIXTURE_H
#define REDRIVE_TESTS_BROKER_FIXTURE_H

#include "tests/broker/work_world.h"

struct fixture {
    const char *stem; // of the topic's name
    int partitions;
    struct world world;
    char topic[64];
};

// A test on the file's own `stage`, which says stem and partitions and is set up anew for each.
#define staged(test) cmocka_unit_test_prestate_setup_teardown(test, stage_set, stage_clear, &stage)
int stage_set(void **stage);
int stage_clear(void **stage);

// Events i of 1 … count, payload {"i": i}, of partition i % partitions; without an offset, so that no
// original is looked for.
void stage_fail(struct fixture *stage, int count);

#endif
