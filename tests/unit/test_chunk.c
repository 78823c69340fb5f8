// The life of a chunk in flight: which memory each state keeps, and that no state is skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "publish/chunk.h"

enum { ITEMS = 3 };

// Claimed, planned and sent.
static void
send_items(struct flight *flight)
{
    flight->claim = (struct claim){.chunk = {.exists = true, .seq = 7}, .count = ITEMS};
    flight_claim(flight, 1000);
    flight->plans = arena_array(&flight->arena, ITEMS, sizeof *flight->plans);
    for (size_t i = 0; i < ITEMS; i++)
        flight->plans[i].value = BYTES("{}");
    flight_send(flight);
    flight->deliveries.sent = flight->deliveries.delivered = ITEMS;
}

static void
keeps_no_events_once_they_are_delivered(void **state)
{
    (void)state;
    struct flight flight = {0};
    send_items(&flight);
    assert_true(flight_has_events(&flight));
    assert_non_null(flight.deliveries.of_item);
    flight_deliver(&flight);
    assert_false(flight_has_events(&flight));
    assert_null(flight.plans);
    assert_int_equal(flight.arena.used, 0);
    assert_int_equal(flight.claim.chunk.seq, 7);
    assert_int_equal(flight.claim.count, ITEMS);
    assert_int_equal(flight.bytes, ITEMS * 2);
    assert_int_equal(flight.claimed_at, 1000);
    flight_release(&flight);
}

static void
stays_given_up_until_its_end(void **state)
{
    (void)state;
    struct flight flight = {0};
    flight_give_up(&flight);
    assert_int_equal(flight.state, FLIGHT_NONE);
    send_items(&flight);
    flight_give_up(&flight);
    assert_int_equal(flight.state, FLIGHT_GIVEN_UP);
    assert_int_equal(flight.claim.count, 0);
    flight_give_up(&flight);
    assert_int_equal(flight.state, FLIGHT_GIVEN_UP);
    flight_end(&flight);
    assert_int_equal(flight.state, FLIGHT_NONE);
    flight_release(&flight);
}

// True: the process that tries it ends at once.
static bool
is_fatal(void (*change)(struct flight *flight))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        struct flight flight = {0};
        send_items(&flight);
        change(&flight);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status != 0;
}

static void
skips_no_state(void **state)
{
    (void)state;
    assert_false(is_fatal(flight_deliver));
    assert_true(is_fatal(flight_send));
    assert_true(is_fatal(flight_commit));
    assert_true(is_fatal(flight_verify));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_no_events_once_they_are_delivered),
        cmocka_unit_test(stays_given_up_until_its_end),
        cmocka_unit_test(skips_no_state),
    };
    return cmocka_run_group_tests_name("chunk", tests, NULL, NULL);
}
