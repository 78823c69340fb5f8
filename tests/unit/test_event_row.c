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
        {"Microsoft.Data.SqlClient.SqlException (0x80131904): deadlock",
         "SqlException (0x80131904): deadlock"},
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
    event_cell(&event, COLUMN_ERROR, &(struct event_look){.filter = filter}, &canvas, canvas_area(&canvas));
    assert_int_equal(canvas_cell(&canvas, 0, 0)->base, 'S');
    assert_int_equal(canvas_cell(&canvas, 0, 5)->role, ROLE_MATCH);
    assert_int_not_equal(canvas_cell(&canvas, 0, 6)->role, ROLE_MATCH);
    filter_destroy(filter);

    canvas_clear(&canvas);
    filter = NULL;
    assert_true(filter_parse(&filter, BYTES("net.Sock"), &(struct filter_context){0}, NULL));
    event_cell(&event, COLUMN_ERROR, &(struct event_look){.filter = filter}, &canvas, canvas_area(&canvas));
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
    event_cell(&event, COLUMN_ERROR, &(struct event_look){.filter = filter}, &canvas, canvas_area(&canvas));
    canvas_to_text(&canvas, &text);
    assert_true(bytes_starts(strbuf_bytes(&text), "…"));
    assert_non_null(strstr(strbuf_text(&text), "orders_pkey"));
    filter_destroy(filter);
    canvas_release(&canvas);
    strbuf_release(&text);
}

// Rows of these messages, as a reply brings them.
static void
take_messages(struct row_cache *cache, const char *const *messages, size_t count)
{
    struct reply *reply = reply_create(REPLY_ROWS, 1);
    reply->rows.events = arena_array(&reply->arena, count, sizeof *reply->rows.events);
    reply->rows.count = count;
    for (size_t i = 0; i < count; i++)
        reply->rows.events[i] = (struct event){.id = (int64_t)i + 1, .error_message = bytes_of(messages[i])};
    row_cache_take(cache, reply);
    reply_destroy(reply);
}

static void
expect_error(const struct row_cache *cache, int64_t id, const char *pattern, const char *shown)
{
    struct canvas canvas = {0};
    struct strbuf text = {0};
    struct filter *filter = NULL;
    canvas_init(&canvas, 1, 30, false);
    if (pattern)
        assert_true(filter_parse(&filter, bytes_of(pattern), &(struct filter_context){0}, NULL));
    const struct event_look look = {.filter = filter, .shared = row_cache_shared(cache)};
    event_cell(row_cache_find(cache, id), COLUMN_ERROR, &look, &canvas, canvas_area(&canvas));
    canvas_to_text(&canvas, &text);
    assert_true(bytes_starts(strbuf_bytes(&text), shown));
    filter_destroy(filter);
    strbuf_release(&text);
    canvas_release(&canvas);
}

static void
a_class_of_all_rows_is_said_once_above_them(void **state)
{
    static const char *const same[] = {"java.net.SocketTimeoutException: connect to pay-3 timed out",
                                       "SocketTimeoutException: Read timed out"};
    static const char *const several[] = {"TypeError: x is undefined", "KeyError: 'segment'"};
    struct row_cache cache = {0};
    (void)state;
    take_messages(&cache, same, 2);
    assert_string_equal(cache.heading, "error: SocketTimeoutException");
    expect_error(&cache, 1, NULL, "connect to pay-3 timed out");
    expect_error(&cache, 2, "timed", "Read timed out");
    expect_error(&cache, 2, "SocketTime", "SocketTimeoutException: "); // a match stays in sight
    take_messages(&cache, several, 2);
    assert_string_equal(cache.heading, "error");
    expect_error(&cache, 1, NULL, "TypeError: x");
    take_messages(&cache, same, 1);
    assert_string_equal(cache.heading, "error");
    row_cache_release(&cache);
}

static void
words_of_all_rows_are_said_once_above_them(void **state)
{
    static const char *const same[] = {"x.BadAmount: Cannot read the amount from \"350,21\": bad",
                                       "x.BadAmount: Cannot read the amount from \"35\": bad"};
    static const char *const without_class[] = {"could not connect to the database pay-3",
                                                "could not connect to the database pay-17"};
    static const char *const short_words[] = {"x.Bad: connect to pay-3", "x.Bad: connect to pay-4"};
    static const char *const equal[] = {"the order is closed already", "the order is closed already"};
    static const char *const ends[] = {"could not connect to the database",
                                       "could not connect to the database pay-3"};
    struct row_cache cache = {0};
    (void)state;
    take_messages(&cache, same, 2);
    assert_string_equal(cache.heading, "error: BadAmount: Cannot read the amount");
    expect_error(&cache, 1, NULL, "…from \"350,21\": bad");
    expect_error(&cache, 2, NULL, "…from \"35\": bad");
    expect_error(&cache, 2, "BadAm", "BadAmount: Cannot read the"); // a match stays in sight
    take_messages(&cache, without_class, 2);
    assert_string_equal(cache.heading, "error: could not connect to the");
    expect_error(&cache, 2, NULL, "…database pay-17");
    take_messages(&cache, short_words, 2);
    assert_string_equal(cache.heading, "error: Bad");
    expect_error(&cache, 2, NULL, "connect to pay-4");
    take_messages(&cache, equal, 2);
    assert_string_equal(cache.heading, "error");
    expect_error(&cache, 1, NULL, "the order is closed already");
    take_messages(&cache, ends, 2); // something is left of every row
    expect_error(&cache, 1, NULL, "…database");
    row_cache_release(&cache);
}

static void
columns_are_measured_by_what_was_fetched(void **state)
{
    struct row_cache cache = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct reply *reply = reply_create(REPLY_ROWS, 1);
        reply->rows.events = arena_array(&reply->arena, 1, sizeof *reply->rows.events);
        reply->rows.count = 1;
        reply->rows.events[0] = (struct event){.id = i ? 7 : 12345, .event_type = BYTES("order.created")};
        row_cache_take(&cache, reply);
        reply_destroy(reply);
    }
    assert_int_equal(cache.widest[COLUMN_ID], 6); // 12,345: what is gone counts too, so nothing jumps
    assert_int_equal(cache.widest[COLUMN_TYPE], 13);
    assert_int_equal(cache.widest[COLUMN_KEY], 0);
    row_cache_release(&cache);
}

static void
a_class_is_a_name_before_a_colon(void **state)
{
    static const struct {
        const char *headline, *shown;
    } rows[] = {{"TypeError: x", "TypeError"},
                {"ERROR: duplicate key", ""},
                {"rpc error: code", ""},
                {"Outer$Inner: y", "Outer$Inner"},
                {"TypeError", ""},
                {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(bytes_equal_text(event_class_of(bytes_of(rows[i].headline)), rows[i].shown));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_of_all_rows_is_said_once_above_them),
        cmocka_unit_test(words_of_all_rows_are_said_once_above_them),
        cmocka_unit_test(columns_are_measured_by_what_was_fetched),
        cmocka_unit_test(a_class_is_a_name_before_a_colon),
        cmocka_unit_test(a_row_leaves_the_package_of_a_class_out),
        cmocka_unit_test(a_match_right_of_the_cut_is_brought_in_sight),
        cmocka_unit_test(a_match_is_seen_where_it_stands_and_the_package_still_counts),
    };
    return cmocka_run_group_tests_name("event_row", tests, NULL, NULL);
}
