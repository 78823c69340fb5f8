// How long a failure is remembered.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "rollup/retries.h"

static void
grow_while_it_fails_and_end_after_a_minute_of_calm(void **state)
{
    (void)state;
    struct retries retries = {0};
    int64_t now = 1000 * US_PER_SECOND;
    for (int i = 0; i < 20; i++, now += 5 * US_PER_SECOND) // steps in between may succeed
        assert_int_equal(retries_note(&retries, now), i);

    now += 55 * US_PER_SECOND; // a minute since the last one, and no more
    assert_int_equal(retries_note(&retries, now), 20);
    now += RETRIES_CALM + 1;
    assert_int_equal(retries_note(&retries, now), 0);
    assert_int_equal(retries_note(&retries, now), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grow_while_it_fails_and_end_after_a_minute_of_calm),
    };
    return cmocka_run_group_tests_name("retries", tests, NULL, NULL);
}
