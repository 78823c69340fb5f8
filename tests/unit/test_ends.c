// Where topics end, as it is kept with a chunk; and the text of a marker.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "broker/ends.h"
#include "broker/marker.h"

static void
finds_the_end_of_a_partition(void **state)
{
    (void)state;
    assert_int_equal(ends_of("orders 12,0,9000000000", "orders", 0), 12);
    assert_int_equal(ends_of("orders 12,0,9000000000", "orders", 1), 0);
    assert_int_equal(ends_of("orders 12,0,9000000000", "orders", 2), 9000000000);
    assert_int_equal(ends_of("orders 12", "orders", 1), -1); // partitions that came later
    assert_int_equal(ends_of("orders.eu 12", "orders", 0), -1);
    assert_int_equal(ends_of("orders 12", "orders.eu", 0), -1);
    assert_int_equal(ends_of("orders", "orders", 0), -1);
    assert_int_equal(ends_of("", "orders", 0), -1);
}

static void
reads_a_marker(void **state)
{
    (void)state;
    static const char id[] = "0b5e55ed-0000-4000-8000-000000000000";
    struct marker marker;
    marker_parse(BYTES("0b5e55ed-0000-4000-8000-000000000000 orders,payments"), 7, &marker);
    assert_true(marker.is_present);
    assert_int_equal(marker.seq, 7);
    assert_string_equal(marker.id, id);
    assert_string_equal(marker.topics, "orders,payments");
    marker_parse(BYTES("0b5e55ed-0000-4000-8000-000000000000"), 7, &marker); // of an earlier program
    assert_string_equal(marker.id, id);
    assert_string_equal(marker.topics, "");
    marker_parse((struct bytes){0}, 0, &marker);
    assert_string_equal(marker.id, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_end_of_a_partition),
        cmocka_unit_test(reads_a_marker),
    };
    return cmocka_run_group_tests_name("ends", tests, NULL, NULL);
}
