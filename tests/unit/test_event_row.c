// An event as a row of a list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "ui/views/events/row.h"

static void
a_row_leaves_the_package_of_a_class_out(void **state)
{
    static const struct {
        const char *message, *shown;
    } rows[] = {
        {"java.net.SocketTimeoutException: connect timed out", "SocketTimeoutException: connect timed out"},
        {"System.Data.SqlClient.SqlException: deadlock", "SqlException: deadlock"},
        {"psycopg2.errors.UniqueViolation: duplicate", "UniqueViolation: duplicate"},
        {"com.acme.Outer$Inner", "Outer$Inner"},
        {"TypeError: x is undefined", "TypeError: x is undefined"},
        {"node.js: out of memory", "node.js: out of memory"},
        {"pay-3.example.Com refused", "pay-3.example.Com refused"},
        {"a.B and more", "a.B and more"},
        {"java.net.", "java.net."},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(rows[i].message + event_package_len(bytes_of(rows[i].message)), rows[i].shown);
}

static void
a_match_is_seen_where_it_stands_and_the_package_still_counts(void **state)
{
    (void)state;
    struct canvas canvas = {0};
    canvas_init(&canvas, 1, 30, false);
    struct filter *filter = NULL;
    assert_true(filter_parse(&filter, BYTES("Socket"), &(struct filter_context){0}, NULL));
    const struct event event = {.error_message = BYTES("java.net.SocketException: reset")};
    event_cell(&event, COLUMN_ERROR, (struct moments){0}, filter, &canvas, canvas_area(&canvas));
    assert_int_equal(canvas_cell(&canvas, 0, 0)->base, 'S');
    assert_int_equal(canvas_cell(&canvas, 0, 5)->role, ROLE_MATCH);
    assert_int_not_equal(canvas_cell(&canvas, 0, 6)->role, ROLE_MATCH);
    filter_destroy(filter);

    canvas_clear(&canvas);
    filter = NULL;
    assert_true(filter_parse(&filter, BYTES("net.Sock"), &(struct filter_context){0}, NULL));
    event_cell(&event, COLUMN_ERROR, (struct moments){0}, filter, &canvas, canvas_area(&canvas));
    assert_int_equal(canvas_cell(&canvas, 0, 3)->role, ROLE_MATCH);
    assert_int_not_equal(canvas_cell(&canvas, 0, 4)->role, ROLE_MATCH);
    filter_destroy(filter);
    canvas_release(&canvas);
}

static void
a_match_right_of_the_cut_is_brought_in_sight(void **state)
{
    static const char message[] =
        "could not execute statement; SQL [n/a]; constraint [orders_pkey] of a table";
    struct canvas canvas = {0};
    struct filter *filter = NULL;
    struct strbuf text = {0};
    (void)state;
    canvas_init(&canvas, 1, 30, false);
    assert_true(filter_parse(&filter, BYTES("orders_pkey"), &(struct filter_context){0}, NULL));
    const struct event event = {.error_message = bytes_of(message)};
    event_cell(&event, COLUMN_ERROR, (struct moments){0}, filter, &canvas, canvas_area(&canvas));
    canvas_to_text(&canvas, &text);
    assert_true(bytes_starts(strbuf_bytes(&text), "…"));
    assert_non_null(strstr(strbuf_text(&text), "orders_pkey"));
    filter_destroy(filter);
    canvas_release(&canvas);
    strbuf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_leaves_the_package_of_a_class_out),
        cmocka_unit_test(a_match_right_of_the_cut_is_brought_in_sight),
        cmocka_unit_test(a_match_is_seen_where_it_stands_and_the_package_still_counts),
    };
    return cmocka_run_group_tests_name("event_row", tests, NULL, NULL);
}
