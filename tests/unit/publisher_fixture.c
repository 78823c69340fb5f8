#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "tests/unit/publisher_fixture.h"

void
fixture_begin(struct publisher_fixture *fixture, uint64_t seed)
{
    *fixture = (struct publisher_fixture){
        .seed = seed,
        .sim = {.slot_count = SIM_SLOTS,
                .process_count = SIM_PROCESSES,
                .event_count = SIM_EVENTS,
                .chunk_limit = 10,
                .tick = 1000,
                .endless = seed,
                .wishes = {.dallies = true}},
        .process = &fixture->sim.processes[0],
    };
    fixture->sim.result = &fixture->result;
    for (int32_t i = 0; i < SIM_SLOTS; i++) {
        fixture->sim.slots[i].row.no = i;
        sim_name_slot(&fixture->sim.slots[i], 1);
    }
}

void
fixture_end(struct publisher_fixture *fixture)
{
    sim_end(&fixture->sim);
}

int
fixture_set_up(void **state)
{
    struct publisher_fixture *fixture = alloc_bytes(sizeof *fixture);
    fixture_begin(fixture, 42);
    *state = fixture;
    return 0;
}

int
fixture_tear_down(void **state)
{
    fixture_end(*state);
    free(*state);
    return 0;
}

void
fixture_check(struct publisher_fixture *fixture)
{
    sim_check(&fixture->sim);
    if (fixture->result.is_failed)
        fail_msg("seed %llu: %s", (unsigned long long)fixture->seed, fixture->result.why);
}

void
fixture_start(struct publisher_fixture *fixture)
{
    sim_process_start(&fixture->sim, 0);
}

void
fixture_start_again(struct publisher_fixture *fixture)
{
    sim_process_end(&fixture->sim, 0);
    fixture->sim.slots[0].holder[0] = '\0';
    fixture_start(fixture);
}

enum publisher_status
fixture_step(struct publisher_fixture *fixture)
{
    struct err err = {0};
    return sim_process_step(fixture->process, &err);
}

void
fixture_run_out(struct publisher_fixture *fixture)
{
    sim_process_end(&fixture->sim, 0);
    sim_run_out(&fixture->sim);
    fixture_check(fixture);
}

size_t
fixture_count(const struct publisher_fixture *fixture, enum sim_fate fate)
{
    size_t count = 0;
    for (int64_t id = 1; id <= SIM_EVENTS; id++)
        count += fixture->sim.events[id].fate == fate;
    return count;
}

void
fixture_assert_ends(const struct publisher_fixture *fixture, int64_t refused, int64_t last_done)
{
    for (int64_t id = 1; id <= SIM_EVENTS; id++)
        if (fixture->sim.events[id].fate != (id == refused || id > last_done ? SIM_REFUSED : SIM_RESOLVED))
            fail_msg("seed %llu: event %lld ended as %d", (unsigned long long)fixture->seed, (long long)id,
                     (int)fixture->sim.events[id].fate);
}
