// fixture: what a test on a real Kafka begins with: a world, a topic that no other test has, and failures
// that came from it.
#ifndef REDRIVE_TESTS_BROKER_FIXTURE_H
#define REDRIVE_TESTS_BROKER_FIXTURE_H

#include "tests/broker/work_world.h"

struct broker_fixture {
    const char *stem; // of the topic's name
    int partitions;
    struct world world;
    char topic[64];
};

// A test on the file's own `fixture`, which says stem and partitions and is set up for each.
#define on_fixture(test)                                                                                     \
    cmocka_unit_test_prestate_setup_teardown(test, broker_fixture_set_up, broker_fixture_tear_down, &fixture)
int broker_fixture_set_up(void **fixture);
int broker_fixture_tear_down(void **fixture);

// Events i of 1 … count, payload {"i": i}, of partition i % partitions; without an offset, so that no
// original is looked for.
void broker_fixture_fail(struct broker_fixture *fixture, int count);

#endif
