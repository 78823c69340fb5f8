// publisher_fixture: the fake PostgreSQL and Kafka of tests/sim for single situations and for schedules with
// refusals. Nothing is lost and no process dies unless a test asks for it; calls only take their time.
//
// Include it after cmocka.h.
#ifndef REDRIVE_TESTS_UNIT_PUBLISHER_FIXTURE_H
#define REDRIVE_TESTS_UNIT_PUBLISHER_FIXTURE_H

#include "tests/sim/sim_world.h"

struct publisher_fixture {
    uint64_t seed;
    struct sim sim;
    struct sim_result result;
    struct sim_process *process; // the first one
};

// Three slots, forty queued events, no process.
void fixture_begin(struct publisher_fixture *fixture, uint64_t seed);
void fixture_end(struct publisher_fixture *fixture);
// For cmocka: *state is a fixture that has begun.
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

// Fails the test where an invariant broke (sim_check).
void fixture_check(struct publisher_fixture *fixture);
// Starts the first process, which must not run.
void fixture_start(struct publisher_fixture *fixture);
// The first process ends as by a crash, and its slot is free for the next one.
void fixture_start_again(struct publisher_fixture *fixture);
enum publisher_status fixture_step(struct publisher_fixture *fixture); // without looking at its error
// One process alone, without harm, until every event has its end.
void fixture_run_out(struct publisher_fixture *fixture);
size_t fixture_count(const struct publisher_fixture *fixture, enum sim_fate fate);
// Every event must be done but those above `last_done` and `refused` (0: none), which must be refused.
void fixture_assert_ends(const struct publisher_fixture *fixture, int64_t refused, int64_t last_done);

#endif
