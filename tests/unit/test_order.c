// The order of a list by a path of the payload. search/order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "search/order.h"

static struct path_values *
make_values(void)
{
    static const struct {
        int64_t id;
        const char *token; // NULL: nothing there
    } puts[] = {{1, "10"},    {2, "9.5"},     {3, "\"b\""},  {4, NULL},  {5, "-3e2"},
                {6, "\"a\""}, {7, "null"},    {8, "true"},   {9, "[]"},  {10, "9.50"},
                {11, "{}"},   {12, "\"10\""}, {13, "false"}, {14, "1e9"}};
    struct path_values *values = path_values_create();
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++)
        path_values_put(values, puts[i].id, puts[i].token ? bytes_of(puts[i].token) : BYTES_ABSENT);
    return values;
}

static void
assert_order(bool is_reversed, const int64_t *expected, size_t count)
{
    struct path_values *values = make_values();
    int64_t ids[15];
    assert_int_equal(count, 15);
    for (size_t i = 0; i < count; i++)
        ids[i] = 15 - (int64_t)i; // newest first, as a list has them; 15 was not read
    list_order_ids(&(struct list_ordering){.order = ORDER_PATH, .is_reversed = is_reversed, .values = values},
                   ids, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], expected[i]);
    path_values_destroy(values);
}

// Numbers by size and not by digits; equal ones, and those without a value, as they stood.
static void
values_of_one_kind_stand_together(void **state)
{
    (void)state;
    const int64_t rising[] = {5, 10, 2, 1, 14, 12, 6, 3, 13, 8, 9, 11, 15, 7, 4};
    assert_order(false, rising, 15);
}

static void
what_has_no_value_is_last_both_ways(void **state)
{
    (void)state;
    const int64_t falling[] = {11, 9, 8, 13, 3, 6, 12, 14, 1, 10, 2, 5, 15, 7, 4};
    assert_order(true, falling, 15);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_one_kind_stand_together),
        cmocka_unit_test(what_has_no_value_is_last_both_ways),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
