// Moments as lists and sentences tell them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/clock.h"
#include "ui/widgets/moment.h"

static int64_t
instant(const char *wall)
{
    int64_t us;
    bool is_date;
    struct err err = {0};
    if (!time_parse_wall(bytes_of(wall), &us, &is_date, &err))
        fail_msg("%s", err.text);
    return us;
}

static void
a_moment_is_an_age_or_a_time_of_the_operators_zone(void **state)
{
    static const struct {
        const char *at;
        const char *age, *ago;
        const char *clock, *phrase;
    } cases[] = {
        {"2026-11-20T14:02:11", "3m", "3m ago", "11:02:11", "at 11:02:11"},
        {"2026-11-20T03:00:00", "11h", "11h ago", "00:00:00", "at 00:00:00"},
        {"2026-11-20T02:59:59", "11h", "11h ago", "11-19 23:59", "at 11-19 23:59"},
        {"2025-11-20T14:02:11", "52w", "52w ago", "2025-11-20", "on 2025-11-20"},
    };
    (void)state;
    setenv("TZ", "<-03>3", 1);
    tzset();
    int64_t now = instant("2026-11-20T14:05:00");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TEXT_SHORT];
        int64_t at = instant(cases[i].at);
        struct moments age = {.now = now};
        struct moments clock = {.now = now, .by_clock = true};
        assert_string_equal(moment_text(age, at, text), cases[i].age);
        assert_string_equal(moment_phrase(age, at, text), cases[i].ago);
        assert_string_equal(moment_text(clock, at, text), cases[i].clock);
        assert_string_equal(moment_phrase(clock, at, text), cases[i].phrase);
        assert_true((int)strlen(cases[i].clock) <= moment_cells(true, 4));
    }
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(moment_cells(false, 4), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_an_age_or_a_time_of_the_operators_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
