#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/fingerprint/index.h"

static const struct index_row rows[] = {
    {"timeout", 1},           {"time", 2}, {"out", 3}, {"read timed out", 4}, {"timeout", 5}, {"t", 6},
    {"\xc3\xa9t\xc3\xa9", 7},
};
static struct text_index words;

static void
each_text_has_the_value_of_its_first_row(void **state)
{
    (void)state;
    index_build(&words, rows, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(index_find(&words, bytes_of(rows[i].text)), i == 4 ? 1 : i + 1);
    assert_int_equal(index_find(&words, BYTES("TimeOut")), 1);
    assert_int_equal(index_find(&words, BYTES("READ timed out")), 4);
}

// Equal in what is looked at first: the length and both ends.
static void
what_is_nearly_a_row_is_none(void **state)
{
    (void)state;
    static const char *const others[] = {"timeouts",       "tameout",           "tim", "tome", "u",
                                         "read-timed out", "\xc3\x89t\xc3\xa9", "o"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(index_find(&words, bytes_of(others[i])), 0);
}

static void
a_full_table_loses_nothing(void **state)
{
    (void)state;
    enum { ROWS = INDEX_BUCKETS / 2 };
    static char texts[ROWS][16];
    static struct index_row many[ROWS];
    static struct text_index index;
    for (int i = 0; i < ROWS; i++) {
        snprintf(texts[i], sizeof texts[i], "w%d", i);
        many[i] = (struct index_row){texts[i], (uint32_t)i + 1};
    }
    index_build(&index, many, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(index_find(&index, bytes_of(texts[i])), i + 1);
    assert_int_equal(index_find(&index, BYTES("w9999")), 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_has_the_value_of_its_first_row),
        cmocka_unit_test(what_is_nearly_a_row_is_none),
        cmocka_unit_test(a_full_table_loses_nothing),
    };
    return cmocka_run_group_tests_name("fingerprint_index", tests, NULL, NULL);
}
