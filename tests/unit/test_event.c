#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/event.h"
#include "core/operation.h"
#include "core/json/value.h"

static void
group_keys_and_their_prefixes_are_read(void **state)
{
    (void)state;
    uint64_t low;
    uint64_t high;
    char text[GROUP_TEXT];
    assert_true(group_parse(BYTES("8f3a"), &low, &high));
    assert_string_equal(group_text(low, text), "8f3a000000000000");
    assert_string_equal(group_text(high, text), "8f3affffffffffff");
    assert_true(group_parse(BYTES("00000000000000AA"), &low, &high));
    assert_true(low == 0xAA && high == 0xAA);
    assert_false(group_parse(BYTES(""), &low, &high));
    assert_false(group_parse(BYTES("xyz"), &low, &high));
    assert_false(group_parse(BYTES("00000000000000000"), &low, &high));
}

static void
queues_are_known_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *topic;
        const char *original;
    } rows[] = {{"orders_dlq", "orders"},           {"orders.DLQ", "orders"},
                {"orders-dlt", "orders"},           {"dlq.orders", "orders"},
                {"error.orders.billing", "orders"}, {"orders-dead-letter", "orders"},
                {"error.a.b.group", "a.b"},         {"execution.tickets.dlq", "execution.tickets"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(topic_is_queue(bytes_of(rows[i].topic)));
        assert_true(bytes_equal_text(topic_original(bytes_of(rows[i].topic)), rows[i].original));
    }
    assert_false(topic_is_queue(BYTES("orders.events")));
    assert_false(topic_is_queue(BYTES("_dlq")));
    assert_false(topic_is_queue(BYTES_ABSENT));
    assert_true(bytes_equal_text(topic_original(BYTES("orders.events")), "orders.events"));
    assert_int_equal(event_status_of(BYTES("Resolved")), EVENT_RESOLVED);
    assert_int_equal(event_status_of(BYTES("LOST")), EVENT_OTHER);
}

static void
states_are_written_as_they_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < ACTION_COUNT; i++) {
        enum operation_action action;
        assert_true(action_parse(bytes_of(action_name((enum operation_action)i)), &action));
        assert_int_equal(action, i);
    }
    for (int i = 0; i < OPERATION_STATE_COUNT; i++) {
        enum operation_state read;
        assert_true(operation_state_parse(bytes_of(operation_state_name((enum operation_state)i)), &read));
        assert_int_equal(read, i);
    }
    for (int i = 0; i < ITEM_STATE_COUNT; i++) {
        enum item_state read;
        assert_true(item_state_parse(bytes_of(item_state_name((enum item_state)i)), &read));
        assert_int_equal(read, i);
    }
    enum operation_action action = ACTION_DISCARD;
    assert_false(action_parse(BYTES("Discard"), &action));
    assert_false(action_parse(BYTES_ABSENT, &action));
    assert_int_equal(action, ACTION_DISCARD); // untouched
    assert_string_equal(operation_state_name(OPERATION_AWAITING), "awaiting approval");
    assert_true(operation_state_is_final(OPERATION_HALTED));
    assert_false(operation_state_is_final(OPERATION_PAUSED));
    for (int i = EVENT_PENDING; i < EVENT_OTHER; i++)
        assert_int_equal(event_status_of(bytes_of(event_status_name((enum event_status)i))), i);
    assert_int_equal(event_status_of(BYTES_ABSENT), EVENT_OTHER);
    assert_int_equal(event_status_of(BYTES("PENDING ")), EVENT_OTHER);
}

static void
documents_keep_order_and_are_safe_to_print(void **state)
{
    (void)state;
    struct value *object = value_object();
    struct value *list = value_array();
    value_add_int(list, NULL, INT64_MIN);
    value_add_bool(list, NULL, true);
    value_add_text(object, "z", "first");
    value_add_text(object, "absent", NULL);
    value_add_bytes(object, "hostile", BYTES("\x1b[31m\xe2\x80\xae\n\"\xff"));
    value_add_bytes(object, "nul", BYTES("a\0b"));
    value_add_text(object, "beyond", "\xf3\xa0\x80\x81"); // a tag, invisible
    value_add(object, "list", list);
    value_add_time(object, "at", 0, 3600 * US_PER_SECOND);
    value_add_time(object, "never", TIME_ABSENT, 0);
    value_add_payload(object, "payload", BYTES("{\"a\":1}"));
    value_add_payload(object, "raw", BYTES("\xff\x00\x01"));
    struct strbuf out = {0};
    value_dump(object, &out);
    assert_string_equal(strbuf_text(&out),
                        "{\"z\":\"first\",\"absent\":null,\"hostile\":\"\\u001B["
                        "31m\\u202E\\n\\\"\xef\xbf\xbd\",\"nul\":\"a\\u0000b\","
                        "\"beyond\":\"\\uDB40\\uDC01\",\"list\":[-9223372036854775808,true],\"at\":\"1970-01-"
                        "01T01:00:00+01:00\","
                        "\"never\":null,\"payload\":\"{\\\"a\\\":1}\",\"raw_base64\":\"/wAB\"}");
    value_destroy(object);
    strbuf_release(&out);
}

static void
reals_are_short_and_true(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } rows[] = {{0.1 + 0.2, "[0.3]"},      {1.0 / 3, "[0.333333]"},
                {12.3, "[12.3]"},          {1234567.25, "[1234567.25]"},
                {86400.0004, "[86400.0]"}, {2.0, "[2.0]"},
                {-0.5, "[-0.5]"},          {0.0, "[0.0]"},
                {1e18, "[1e18]"},          {0.0 / 1e300 + 1e-9, "[0.0]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct value *list = value_array();
        struct strbuf out = {0};
        value_add_real(list, NULL, rows[i].number);
        value_dump(list, &out);
        assert_string_equal(strbuf_text(&out), rows[i].text);
        strbuf_release(&out);
        value_destroy(list);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_keys_and_their_prefixes_are_read),
        cmocka_unit_test(queues_are_known_by_their_names),
        cmocka_unit_test(states_are_written_as_they_are_read),
        cmocka_unit_test(documents_keep_order_and_are_safe_to_print),
        cmocka_unit_test(reals_are_short_and_true),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
