// A worker's publishers: what it gives them, and what becomes of an operation whose step failed. PostgreSQL
// and Kafka are those of tests/sim.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "publish/worker_private.h"
#include "store/operations/operations.h"
#include "tests/unit/publisher_fixture.h"

// A service whose publishers are the processes of the fixture.
struct service {
    struct publisher_fixture fixture;
    struct worker_settings settings;
    struct worker_run run;
};

static struct service *
make_service(void)
{
    struct service *service = alloc_bytes(sizeof *service);
    fixture_begin(&service->fixture, 42);
    service->settings = (struct worker_settings){.mode = WORKER_SERVICE};
    service->run = (struct worker_run){.settings = &service->settings, .limit = 10};
    for (int i = 0; i < WORKER_SLOTS; i++) {
        sim_process_start(&service->fixture.sim, i);
        service->run.publishers[i].machine = service->fixture.sim.processes[i].publisher;
    }
    return service;
}

static void
end_service(struct service *service)
{
    fixture_end(&service->fixture);
    free(service);
}

// As the worker's loop does, for an operation with that rate, for at most a second or until nothing is
// queued.
static void
run_service(struct service *service, int64_t operation, int32_t rate)
{
    int64_t end = clock_mono() + US_PER_SECOND;
    const struct work work = {.no = operation, .rate = rate, .queued = SIM_EVENTS};
    while (clock_mono() < end && fixture_count(&service->fixture, SIM_RESOLVED) < SIM_EVENTS) {
        struct err err = {0};
        int64_t wait = 0;
        service->run.due.kafka = service->run.due.look = 0;
        bool is_good =
            (!worker_is_publishing(&service->run) || worker_publish_step(&service->run, &err)) &&
            (!worker_has_free_publisher(&service->run) || worker_publish(&service->run, &work, &wait, &err));
        if (!is_good)
            fail_msg("the worker ended: %s", err.text);
        fixture_check(&service->fixture);
    }
}

static void
goes_on_after_a_claim_that_failed(void **state)
{
    (void)state;
    const int32_t rates[] = {1000000, RATE_UNLIMITED};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct service *service = make_service();
        service->fixture.sim.wishes.failing_claims = 1;
        run_service(service, 7, rates[i]);
        assert_int_equal(service->fixture.sim.wishes.failing_claims, 0);
        assert_int_equal(fixture_count(&service->fixture, SIM_RESOLVED), SIM_EVENTS);
        end_service(service);
    }
}

static void
a_claim_kept_waiting_is_no_lost_slot(void **state)
{
    (void)state;
    struct service *service = make_service();
    service->fixture.sim.wishes.failing_claims = INT32_MAX;
    run_service(service, 7, 1000000);
    const struct setback *told = setback_tell(&service->run.setbacks, clock_mono());
    assert_non_null(told);
    assert_int_equal(told->operation, 7);
    assert_string_equal(told->why, "another session keeps the rows locked");
    int64_t fenced = 0;
    for (int i = 0; i < WORKER_SLOTS; i++)
        fenced += publisher_tally(service->run.publishers[i].machine)->fenced;
    assert_int_equal(fenced, 0);
    end_service(service);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_after_a_claim_that_failed),
        cmocka_unit_test(a_claim_kept_waiting_is_no_lost_slot),
    };
    return cmocka_run_group_tests_name("publishers", tests, NULL, NULL);
}
