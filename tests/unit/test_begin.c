// When an operation begins, as people write it and as it is said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "core/begin.h"

// Mon 2026-11-23 22:10:00 UTC, 23:10 in Berlin.
static const int64_t now = 1795471800 * US_PER_SECOND;

static void
in_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static const char *
read_at(const char *text, char out[BEGIN_TEXT])
{
    struct begin begin = {0};
    struct err err = {0};
    if (!begin_parse_at(bytes_of(text), now, &begin, &err))
        fail_msg("%s: %s", text, err.text);
    return begin_words(begin.at, out);
}

static void
a_time_of_day_is_the_next_such_time(void **state)
{
    (void)state;
    char text[BEGIN_TEXT];
    in_zone("UTC");
    assert_string_equal(read_at("02:00", text), "at 02:00 on Tue 2026-11-24 UTC");
    assert_string_equal(read_at("2:05", text), "at 02:05 on Tue 2026-11-24 UTC");
    assert_string_equal(read_at(" 23:30 ", text), "at 23:30 on Mon 2026-11-23 UTC");
    assert_string_equal(read_at("22:10", text), "at 22:10 on Tue 2026-11-24 UTC"); // now is no later time
    assert_string_equal(read_at("22:10:01", text), "at 22:10:01 on Mon 2026-11-23 UTC");
    assert_string_equal(read_at("2026-12-31T23:59", text), "at 23:59 on Thu 2026-12-31 UTC");
    assert_string_equal(read_at("2026-12-31 23:59", text), "at 23:59 on Thu 2026-12-31 UTC");
    in_zone("Europe/Berlin");
    assert_string_equal(read_at("23:30", text), "at 23:30 on Mon 2026-11-23 CET");
    assert_string_equal(read_at("23:05", text), "at 23:05 on Tue 2026-11-24 CET");
    assert_string_equal(read_at("2027-07-01T02:00", text), "at 02:00 on Thu 2027-07-01 CEST");
    in_zone("UTC");
}

static void
it_is_said_briefly(void **state)
{
    (void)state;
    char text[BEGIN_TEXT];
    assert_string_equal(begin_brief(now + 230 * 60 * US_PER_SECOND, now, text), "at 02:00");
    assert_string_equal(begin_brief(now + 24 * 3600 * US_PER_SECOND, now, text), "2026-11-24 22:10");
}

// What is wrong, and in which column.
static void
a_mistake_has_its_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *says;
    } mistakes[] = {
        {"25:00", 1, "hours are 00 to 23"},
        {"24:00", 1, "did you mean 00:00?"},
        {"02:61", 4, "minutes are 00 to 59"},
        {"02:00:99", 7, "seconds are 00 to 59"},
        {"02:0", 5, "expected a digit"},
        {"02:", 4, "expected a digit"},
        {"02;00", 3, "expected : and the minutes"},
        {"02:00x", 6, "nothing follows"},
        {"002:00", 3, "two digits"},
        {"2am", 2, "did you mean 02:00?"},
        {"2:30pm", 2, "did you mean 14:30?"},
        {"12 am", 3, "did you mean 00:00?"},
        {"0200", 3, "did you mean 02:00?"},
        {"30m", 1, "did you mean --after 30m?"},
        {"2026-11-24", 11, "expected T and a time of day"},
        {"2026-11-24x02:00", 11, "expected T"},
        {"2026-11-24T", 11, "expected T and a time"},
        {"2026-11-24T02:77", 15, "minutes"},
        {"2026-02-30T02:00", 1, "no such date"},
        {"2026-11", 1, "no such date"},
        {"2026-11-20T02:00", 0, "is past"},
        {"2028-11-20T02:00", 0, "more than a year"},
        {"", 1, "expected a digit"},
        {"tomorrow", 1, "expected a digit"},
    };
    in_zone("UTC");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct begin begin = {0};
        struct err err = {0};
        if (begin_parse_at(bytes_of(mistakes[i].text), now, &begin, &err))
            fail_msg("%s is read", mistakes[i].text);
        if (!strstr(err.text, mistakes[i].says) || err.column != mistakes[i].column)
            fail_msg("%s: column %d: %s", mistakes[i].text, err.column, err.text);
        assert_int_equal(begin.at, 0);
    }
}

// In spring a time of day is missing on one day; a date with it is an error.
static void
a_time_that_the_clocks_skip(void **state)
{
    (void)state;
    char text[BEGIN_TEXT];
    struct begin begin = {0};
    struct err err = {0};
    const int64_t evening = 1806184800 * US_PER_SECOND; // Sat 2027-03-27 22:00 UTC
    in_zone("Europe/Berlin");
    assert_false(begin_parse_at(BYTES("2027-03-28T02:30"), evening, &begin, &err));
    assert_non_null(strstr(err.text, "does not exist"));
    assert_true(begin_parse_at(BYTES("02:30"), evening, &begin, NULL));
    assert_string_equal(begin_words(begin.at, text), "at 02:30 on Mon 2027-03-29 CEST");
    in_zone("UTC");
}

static void
a_delay(void **state)
{
    (void)state;
    struct begin begin = {0};
    struct err err = {0};
    assert_true(begin_parse_after(BYTES("30m"), &begin, &err));
    assert_int_equal(begin.after, 1800 * US_PER_SECOND);
    assert_int_equal(begin.at, 0);
    static const char *const wrong[] = {"", "-5m", "0s", "900d", "soon", "99999999999999999999d"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(begin_parse_after(bytes_of(wrong[i]), &begin, &err));
    err = (struct err){0};
    assert_false(begin_parse_after(BYTES("02:00"), &begin, &err));
    assert_non_null(strstr(err.text, "did you mean --at 02:00?"));
}

static void
the_field_of_a_dialog_takes_all(void **state)
{
    (void)state;
    struct begin begin = {.at = 7};
    assert_true(begin_parse(BYTES("now"), now, &begin, NULL));
    assert_true(!begin.at && !begin.after);
    assert_true(begin_parse(BYTES("30m"), now, &begin, NULL));
    assert_int_equal(begin.after, 1800 * US_PER_SECOND);
    assert_true(begin_parse(BYTES("02:00"), now, &begin, NULL));
    assert_true(begin.at > now && !begin.after);
    assert_false(begin_parse(BYTES("30"), now, &begin, NULL)); // of what?
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_day_is_the_next_such_time),
        cmocka_unit_test(it_is_said_briefly),
        cmocka_unit_test(a_mistake_has_its_column),
        cmocka_unit_test(a_time_that_the_clocks_skip),
        cmocka_unit_test(a_delay),
        cmocka_unit_test(the_field_of_a_dialog_takes_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
