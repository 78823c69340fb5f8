// A part of the daemon: it says when it is ready, and how it ended; a stop lets it end by itself.
#include "commands/daemon_part.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "commands/cli/ready.h"

enum { ENDED_WELL = 7 };
static const int64_t PATIENCE = 60 * US_PER_SECOND;

static void
end_well(int signal_number)
{
    (void)signal_number;
    _exit(ENDED_WELL);
}

static void
wait_for_signals(void)
{
    for (;;)
        pause();
}

static void
is_ready_and_ends_when_asked(void)
{
    (void)signal(SIGTERM, end_well);
    ready_tell();
    wait_for_signals();
}

static void
ends_at_once(void)
{
    _exit(3);
}

static void
start(struct daemon_part *part, void (*run)(void))
{
    struct err err = {0};
    bool is_part;
    if (!daemon_part_start(part, &is_part, &err))
        fail_msg("%s", err.text);
    if (is_part) {
        run();
        _exit(EXIT_FAILURE);
    }
    assert_true(part->pid > 0);
}

static void
await_end(struct daemon_part *part)
{
    for (int64_t until = clock_mono() + PATIENCE; daemon_part_look(part); clock_sleep(1000))
        assert_true(clock_mono() < until);
    assert_int_equal(part->pid, 0);
}

static void
a_part_says_when_it_is_ready_and_is_let_end(void **state)
{
    (void)state;
    struct daemon_part part = {.name = "work"};
    start(&part, is_ready_and_ends_when_asked);
    for (int64_t until = clock_mono() + PATIENCE; daemon_part_look(&part) && !part.is_ready;
         clock_sleep(1000))
        assert_true(clock_mono() < until);
    assert_true(part.is_ready);
    daemon_part_stop(&part);
    assert_int_equal(part.pid, 0);
    assert_int_equal(part.status, ENDED_WELL);
}

static void
a_part_that_ends_has_its_status(void **state)
{
    (void)state;
    struct daemon_part part = {.name = "watch"};
    start(&part, ends_at_once);
    await_end(&part);
    assert_false(part.is_ready);
    assert_int_equal(part.status, 3);
    daemon_part_stop(&part); // of one that does not run: nothing

    // The same part again, killed by somebody else: as a shell says it.
    start(&part, wait_for_signals);
    assert_int_equal(part.status, 0);
    assert_int_equal(kill(part.pid, SIGKILL), 0);
    await_end(&part);
    assert_int_equal(part.status, 128 + SIGKILL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_says_when_it_is_ready_and_is_let_end),
        cmocka_unit_test(a_part_that_ends_has_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
