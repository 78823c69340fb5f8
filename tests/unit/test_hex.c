#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/hex.h"
#include "tests/unit/cpu_time.h"

static void
expect_line(struct bytes b, size_t line, const char *expected)
{
    struct strbuf out = {0};
    hex_line(b, line, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_release(&out);
}

static void
lines_show_offset_bytes_and_characters(void **state)
{
    (void)state;
    struct bytes b = BYTES("{\"id\": 7, \"name\":\"Zo\xeb\x00\x7f\x1b~ \n");
    expect_line(b, 0, "00000000  7b 22 69 64 22 3a 20 37  2c 20 22 6e 61 6d 65 22  {\"id\": 7, \"name\"");
    expect_line(b, 1, "00000010  3a 22 5a 6f eb 00 7f 1b  7e 20 0a                 :\"Zo....~ .");
    expect_line(b, 2, "");
    expect_line(BYTES(""), 0, "");
    expect_line(BYTES("a"), 0, "00000000  61                                                a");
    expect_line(BYTES_ABSENT, 0, "");
}

static void
lines_are_counted(void **state)
{
    (void)state;
    static const size_t rows[][2] = {{0, 0}, {1, 1}, {15, 1}, {16, 1}, {17, 2}, {32, 2}, {33, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(hex_lines(rows[i][0]), rows[i][1]);
    assert_int_equal(hex_lines(SIZE_MAX), SIZE_MAX / 16 + 1);
}

static void
columns_are_where_lines_have_them(void **state)
{
    (void)state;
    struct bytes b = BYTES("ABCDEFGHIJKLMNOP");
    struct strbuf line = {0};
    hex_line(b, 0, &line);
    for (size_t i = 0; i < HEX_ROW; i++) {
        char digits[3] = {line.data[hex_digits_column(i)], line.data[hex_digits_column(i) + 1], '\0'};
        assert_int_equal(strtoul(digits, NULL, 16), b.data[i]);
        assert_int_equal(line.data[hex_text_column(i)], b.data[i]);
    }
    assert_int_equal(line.len, hex_text_column(HEX_ROW));
    strbuf_release(&line);
}

// The last line of 20 MB costs what the first one does.
static void
any_line_is_made_at_once(void **state)
{
    (void)state;
    size_t len = 20 << 20;
    char *large = calloc(1, len);
    struct bytes b = {large, len};
    struct strbuf out = {0};
    int64_t began = cpu_time();
    for (size_t i = 0; i < 1000; i++) {
        strbuf_reset(&out);
        hex_line(b, hex_lines(len) - 1 - i, &out);
    }
    assert_true(cpu_time() - began < SECOND_SPENT / 2);
    assert_memory_equal(out.data, "013fc180  00", 12);
    strbuf_release(&out);
    free(large);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_show_offset_bytes_and_characters),
        cmocka_unit_test(lines_are_counted),
        cmocka_unit_test(columns_are_where_lines_have_them),
        cmocka_unit_test(any_line_is_made_at_once),
    };
    return cmocka_run_group_tests_name("hex", tests, NULL, NULL);
}
