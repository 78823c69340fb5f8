// core/trend: points in their places, folded into columns, and marks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/trend.h"

enum { POINTS = 15 };
static const int64_t MINUTE = 60 * US_PER_SECOND;
static const int64_t AS_OF = 1000 * 60 * US_PER_SECOND + 31 * US_PER_SECOND; // within minute 1000

static struct trend
lay(struct trend_point points[POINTS], const struct trend_point *read, size_t count)
{
    struct trend trend = {.span = TREND_15_MINUTES, .points = points, .count = POINTS, .as_of = AS_OF};
    trend_lay(&trend, read, count);
    return trend;
}

static void
what_was_not_written_is_a_gap(void **state)
{
    (void)state;
    struct trend_point points[POINTS];
    const struct trend_point read[] = {{.at = 980 * MINUTE, .arrived = 99, .pending = 1}, // too old
                                       {.at = 986 * MINUTE, .arrived = 3, .pending = 10},
                                       {.at = 1000 * MINUTE, .arrived = 4, .pending = 0},
                                       {.at = 1001 * MINUTE, .arrived = 98, .pending = 1}}; // of the future
    struct trend trend = lay(points, read, sizeof read / sizeof *read);
    assert_int_equal(points[0].at, 986 * MINUTE);
    assert_int_equal(points[0].arrived, 3);
    assert_int_equal(points[14].arrived, 4);
    assert_int_equal(points[14].pending, 0);
    for (size_t i = 1; i < 14; i++) {
        assert_true(points[i].pending < 0);
        assert_int_equal(points[i].at, trend_first(&trend) + (int64_t)i * MINUTE);
    }
}

static void
columns_add_up_and_keep_the_newest_whole(void **state)
{
    (void)state;
    struct trend_point points[POINTS], folded[POINTS], read[POINTS];
    for (int i = 0; i < POINTS; i++)
        read[i] = (struct trend_point){
            .at = (986 + i) * MINUTE, .arrived = 1, .resolved = 2, .pending = i < 12 ? 100 + i : -1};
    struct trend trend = lay(points, read, POINTS);
    int64_t length;
    assert_int_equal(trend_fold(&trend, 100, folded, &length), POINTS);
    assert_int_equal(length, MINUTE);
    assert_int_equal(trend_fold(&trend, 7, folded, &length), 5);
    assert_int_equal(length, 3 * MINUTE);
    assert_int_equal(folded[0].arrived, 3);
    assert_int_equal(folded[3].pending, 111);
    assert_true(folded[4].pending < 0);
    assert_int_equal(trend_fold(&trend, 8, folded, &length), 8); // the oldest column has one point
    assert_int_equal(folded[0].arrived, 1);
    assert_int_equal(folded[0].at + length, folded[1].at);
    assert_int_equal(folded[7].at, 999 * MINUTE);
    assert_int_equal(trend_left(&folded[7]), 4);
}

static void
a_mark_of_a_person_comes_first(void **state)
{
    (void)state;
    struct trend_point points[POINTS];
    struct trend trend = lay(points, NULL, 0);
    struct trend_mark marks[] = {{.at = 990 * MINUTE, .text = "deploy"},
                                 {.at = 990 * MINUTE + 1, .operation = 7, .text = "discard 4"},
                                 {.at = 991 * MINUTE, .operation = 8, .text = "resolve 1"}};
    trend.marks = marks;
    trend.mark_count = 3;
    assert_ptr_equal(trend_mark_in(&trend, 990 * MINUTE, 991 * MINUTE), &marks[0]);
    assert_ptr_equal(trend_mark_in(&trend, 991 * MINUTE, 992 * MINUTE), &marks[2]);
    assert_null(trend_mark_in(&trend, 992 * MINUTE, 993 * MINUTE));
}

static void
what_came_and_what_left_add_up(void **state)
{
    (void)state;
    const struct trend_point point = {
        .arrived = 1, .restored = 2, .resolved = 10, .discarded = 20, .reprocessed = 30, .gone = 40};
    assert_int_equal(trend_came(&point), 3);
    assert_int_equal(trend_left(&point), 100); // a row that retention deleted has left, too
    assert_string_equal(trend_span_name(TREND_7_DAYS), "7 d");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_written_is_a_gap),
        cmocka_unit_test(columns_add_up_and_keep_the_newest_whole),
        cmocka_unit_test(a_mark_of_a_person_comes_first),
        cmocka_unit_test(what_came_and_what_left_add_up),
    };
    return cmocka_run_group_tests_name("trend points", tests, NULL, NULL);
}
