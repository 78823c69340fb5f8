// The publisher's state machine between two fake ends: random schedules of several publishers with crashes;
// the invariants are checked after every step, and a failure names its seed. REDRIVE_SEEDS=first,count runs
// others.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/lib/seeds.h"
#include "tests/unit/fake.h"

enum { WORKERS = 3, SCHEDULES = 400 };

static void
run_schedule(uint64_t seed, int64_t poison, int64_t forbidden)
{
    struct fake fake;
    struct process processes[WORKERS];
    fake_begin_run(&fake, seed);
    fake.fault_percent = (int)fake_chance(&fake, 25);
    fake.expiry_percent = (int)fake_chance(&fake, 20);
    fake.poison = poison;
    fake.forbidden = forbidden;
    for (int i = 0; i < WORKERS; i++)
        process_start(&processes[i], &fake);
    uint64_t crash_odds = 20 + fake_chance(&fake, 200);
    for (int i = 0; i < 1500 && !fake_is_finished(&fake); i++) {
        struct process *process = &processes[fake_chance(&fake, WORKERS)];
        struct err err = {0};
        process_step(process, &err);
        fake_deliver_late(&fake);
        fake_check_invariants(&fake);
        if (fake_chance(&fake, crash_odds) == 0) {
            publisher_destroy(process->publisher);
            process_start(process, &fake);
        }
    }
    for (int i = 0; i < WORKERS; i++)
        publisher_destroy(processes[i].publisher);
    fake_run_out(&fake);
    for (int i = 0; i < FAKE_SLOTS; i++)
        if (fake.slots[i].is_quarantined)
            fail_msg("seed %llu: slot %d is quarantined", (unsigned long long)seed, i);
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        if (fake.items[id].fate != (id == poison || (forbidden && id > forbidden) ? REFUSED : DONE))
            fail_msg("seed %llu: event %lld ended as %d", (unsigned long long)seed, (long long)id,
                     (int)fake.items[id].fate);
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
refuses_the_one_poisonous_record(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 1 + (int64_t)(seed % FAKE_ITEMS), 0);
}

static void
refuses_what_goes_to_a_forbidden_topic(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 0, 1 + (int64_t)(seed % FAKE_ITEMS));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(publishes_exactly_once_in_every_schedule),
        cmocka_unit_test(refuses_the_one_poisonous_record),
        cmocka_unit_test(refuses_what_goes_to_a_forbidden_topic),
    };
    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
