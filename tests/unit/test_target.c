// Which topic an event is sent to, and why to some nothing is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/target.h"

static void
what_is_named_wins(void **state)
{
    (void)state;
    struct bytes own = BYTES("orders"), corrected = BYTES("orders.v2");
    assert_true(bytes_equal_text(target_of(own, BYTES_ABSENT, NULL), "orders"));
    assert_true(bytes_equal_text(target_of(own, corrected, NULL), "orders.v2"));
    assert_true(bytes_equal_text(target_of(own, corrected, "audit"), "audit"));
    assert_true(bytes_equal_text(target_of(BYTES_ABSENT, BYTES_ABSENT, "audit"), "audit"));
    assert_false(bytes_present(target_of(BYTES_ABSENT, BYTES_ABSENT, NULL)));
    assert_false(bytes_present(target_of(BYTES(""), BYTES_ABSENT, NULL)));
}

static void
nothing_is_sent_to_some(void **state)
{
    (void)state;
    static const struct {
        const char *topic, *why; // NULL: it may be
    } rows[] = {
        {"orders.events", NULL},
        {"redrive", NULL},
        {"redrive.orders", NULL},
        {"orders_dlq", "by its name it is of orders: give that as \"to\", or --to orders"},
        {"execution.tickets.dlq", "--to execution.tickets"},
        {"error.orders.billing", "--to orders"},
        {"redrive.marker", "a topic of the publish protocol"},
        {"redrive.probe", "a topic of the publish protocol"},
        {"__consumer_offsets", "or of Kafka's own"},
        {"", "names no topic"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        const char *why = target_refusal(bytes_of(rows[i].topic), &arena);
        bool is_right = why ? rows[i].why && strstr(why, rows[i].why) : !rows[i].why;
        if (!is_right)
            fail_msg("%s: %s", rows[i].topic, why ? why : "may be");
        assert_int_equal(target_check(bytes_of(rows[i].topic), &err), rows[i].why == NULL);
        assert_int_equal(err.kind, rows[i].why ? ERR_USAGE : ERR_NONE);
    }
    assert_non_null(target_refusal(BYTES_ABSENT, &arena));
    arena_release(&arena);
}

static void
names_are_those_that_kafka_allows(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ".", "..", "a b", "orders\x1b[2J", "caf\xc3\xa9", "a/b"};
    char longest[TARGET_MOST + 2];
    struct err err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(target_check(bytes_of(wrong[i]), &err));
    memset(longest, 'x', sizeof longest);
    assert_true(target_check((struct bytes){longest, TARGET_MOST}, &err));
    assert_false(target_check((struct bytes){longest, TARGET_MOST + 1}, &err));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_named_wins),
        cmocka_unit_test(nothing_is_sent_to_some),
        cmocka_unit_test(names_are_those_that_kafka_allows),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
