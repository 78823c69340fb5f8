// The publisher between two ends in memory, in many schedules; and with each rule of its protocol left out,
// in as many as it takes to see what the rule is for. REDRIVE_SEEDS=first,count runs others.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "publish/broken.h"
#include "tests/lib/seeds.h"
#include "tests/sim/sim.h"

#define SCHEDULES 15000
#define AT_MOST 40000 // schedules in which a broken rule must show; the rarest needs some hundreds

static void
holds_in_every_schedule(void **state)
{
    (void)state;
    struct schedule found;
    struct sim_sights sights = {0};
    uint64_t first, count;
    seeds_wanted(SCHEDULES, &first, &count);
    broken_choose(BROKEN_NOTHING);
    if (sim_search(first, 1, count, &found, &sights)) {
        sim_tell(&found, stdout);
        fail_msg("seed %llu", (unsigned long long)found.seed);
    }
    // A simulator that meets nothing shows nothing.
    if (count >= 1000) {
        assert_true(sights.crashes && sights.takeovers && sights.fencings && sights.old_answers);
        assert_true(sights.late_hits && sights.repeated_requests && sights.unstable_reads);
        assert_true(sights.recovered_published && sights.recovered_unpublished);
        assert_true(sights.clocks_set && sights.clocks_refused && sights.expired && sights.searched);
        assert_true(sights.turns && sights.copies && sights.put_backs && sights.stops);
    }
}

static void
a_seed_repeats_its_schedule(void **state)
{
    (void)state;
    struct schedule schedule;
    struct sim_sights once = {0}, again = {0};
    struct sim_result result;
    broken_choose(BROKEN_NOTHING);
    schedule_make(&schedule, 7);
    schedule_run(&schedule, NULL, &once, &result);
    schedule_run(&schedule, NULL, &again, &result);
    assert_memory_equal(&once, &again, sizeof once);
}

static void
needs_every_rule(void **state)
{
    (void)state;
    for (enum broken rule = BROKEN_FINISH_FIRST; rule < BROKEN_COUNT; rule++) {
        struct schedule found;
        struct sim_sights sights = {0};
        struct sim_result result;
        broken_choose(rule);
        if (!sim_search(1, 1, AT_MOST, &found, &sights))
            fail_msg("%s: nothing fails in %d schedules", broken_name(rule), AT_MOST);
        printf("# left out: %s (%s)\n", broken_name(rule), broken_words(rule));
        sim_tell(&found, stdout);
        // It is the rule's fault: with it, the same schedule holds.
        broken_choose(BROKEN_NOTHING);
        schedule_run(&found, NULL, NULL, &result);
        assert_false(result.is_failed);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_in_every_schedule),
        cmocka_unit_test(a_seed_repeats_its_schedule),
        cmocka_unit_test(needs_every_rule),
    };
    return cmocka_run_group_tests_name("simulator", tests, NULL, NULL);
}
