#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/intern.h"

static void
equal_texts_share_a_number(void **state)
{
    (void)state;
    struct intern intern = {0};
    uint16_t first = intern_number(&intern, BYTES("order.created"));
    uint16_t second = intern_number(&intern, BYTES("order.updated"));
    assert_int_not_equal(first, second);
    assert_int_equal(intern_number(&intern, BYTES("order.created")), first);
    assert_string_equal(intern_text(&intern, second), "order.updated");
    assert_int_equal(intern_find(&intern, BYTES("order.updated")), second);
    assert_int_equal(intern_find(&intern, BYTES("order.deleted")), -1);
    intern_release(&intern);
}

static void
an_absent_text_is_not_an_empty_one(void **state)
{
    (void)state;
    struct intern intern = {0};
    assert_int_equal(intern_number(&intern, BYTES_ABSENT), 0);
    assert_null(intern_text(&intern, 0));
    uint16_t empty = intern_number(&intern, BYTES(""));
    assert_int_not_equal(empty, 0);
    assert_string_equal(intern_text(&intern, empty), "");
    intern_release(&intern);
}

static void
texts_past_the_limit_are_others(void **state)
{
    (void)state;
    struct intern intern = {0};
    char text[16];
    for (int i = 0; i < WORDS_LIMIT; i++) {
        snprintf(text, sizeof text, "t%d", i);
        assert_int_not_equal(intern_number(&intern, bytes_of(text)), WORDS_OTHER);
    }
    assert_int_equal(intern_number(&intern, BYTES("one more")), WORDS_OTHER);
    assert_string_equal(intern_text(&intern, WORDS_OTHER), "(others)");
    assert_int_equal(intern_number(&intern, BYTES("t0")), 1);
    intern_release(&intern);
}

static void
keys_are_numbered_in_order_of_arrival(void **state)
{
    (void)state;
    struct keys keys = {0};
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(keys_index(&keys, i * i + 1), i);
    assert_int_equal(keys_index(&keys, 1), 0);
    assert_int_equal(keys_find(&keys, 999 * 999 + 1), 999);
    assert_int_equal(keys_find(&keys, 3), -1);
    keys_release(&keys);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_share_a_number),
        cmocka_unit_test(an_absent_text_is_not_an_empty_one),
        cmocka_unit_test(texts_past_the_limit_are_others),
        cmocka_unit_test(keys_are_numbered_in_order_of_arrival),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
