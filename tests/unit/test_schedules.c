// The publisher between the fake ends of tests/sim: random schedules of several publishers with crashes, in
// which some events are refused. The invariants are checked after every step, and a failure names its seed.
// REDRIVE_SEEDS=first,count runs others.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/lib/seeds.h"
#include "tests/unit/publisher_fixture.h"

enum { SCHEDULES = 400 };

// Rates that the seed chooses. Single records are always reported, so that only those that a test asks for
// are refused.
static void
begin_schedule(struct publisher_fixture *fixture, uint64_t seed, int64_t rejected, int64_t forbidden)
{
    fixture_begin(fixture, seed);
    struct sim *sim = &fixture->sim;
    sim->wishes.takes_records = true;
    sim->wishes.rejected = rejected;
    sim->wishes.forbidden = forbidden;
    sim->chunk_limit = 1 + (int)sim_choose(sim, 7);
    sim->fault_rate = (int)sim_choose(sim, 64);
    sim->expiry_rate = (int)sim_choose(sim, 52);
    sim->crash_rate = (int)sim_choose(sim, 13);
    sim->lag_rate = (int)sim_choose(sim, 160);
    sim->cut_rate = sim->fault_rate ? 26 : 0;
    for (int i = 0; i < SIM_PROCESSES; i++)
        sim_process_start(sim, i);
}

static void
run_schedule(uint64_t seed, int64_t rejected, int64_t forbidden)
{
    struct publisher_fixture fixture;
    struct sim *sim = &fixture.sim;
    begin_schedule(&fixture, seed, rejected, forbidden);
    for (int i = 0; i < 1500 && !sim_is_finished(sim); i++) {
        int which = (int)sim_choose(sim, SIM_PROCESSES);
        struct err err = {0};
        sim_process_step(&sim->processes[which], &err);
        sim_kafka_moves(sim);
        fixture_check(&fixture);
        if (sim_happens(sim, sim->crash_rate)) {
            sim_process_end(sim, which);
            sim_process_start(sim, which);
        }
    }
    fixture_run_out(&fixture);
    for (int i = 0; i < SIM_SLOTS; i++)
        if (sim->slots[i].is_suspended)
            fail_msg("seed %llu: slot %d is suspended", (unsigned long long)seed, i);
    fixture_assert_ends(&fixture, rejected, forbidden ? forbidden : SIM_EVENTS);
    fixture_end(&fixture);
}

static void
publishes_exactly_once_in_every_schedule(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 0, 0);
}

static void
refuses_the_one_rejected_record(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 1 + (int64_t)(seed % SIM_EVENTS), 0);
}

static void
refuses_what_goes_to_a_forbidden_topic(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 0, 1 + (int64_t)(seed % SIM_EVENTS));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(publishes_exactly_once_in_every_schedule),
        cmocka_unit_test(refuses_the_one_rejected_record),
        cmocka_unit_test(refuses_what_goes_to_a_forbidden_topic),
    };
    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
