#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "core/event.h"
#include "core/selection.h"

static void
a_selection_is_a_set_with_undo(void **state)
{
    (void)state;
    struct selection selection = {0};
    selection_toggle(&selection, 5);
    selection_toggle(&selection, 3);
    selection_add(&selection, (const int64_t[]){9, 5, 1, 9}, 4);
    assert_int_equal(selection.count, 4);
    assert_true(selection_has(&selection, 1) && selection_has(&selection, 9));
    selection_toggle(&selection, 5);
    assert_false(selection_has(&selection, 5));
    selection_invert(&selection, (const int64_t[]){1, 2}, 2);
    assert_false(selection_has(&selection, 1));
    assert_true(selection_has(&selection, 2));
    selection_clear(&selection);
    assert_int_equal(selection.count, 0);

    assert_true(selection_undo(&selection)); // the clear
    assert_int_equal(selection.count, 3);
    assert_true(selection_undo(&selection)); // the invert
    assert_true(selection_has(&selection, 1));
    assert_true(selection_undo(&selection)); // the toggle
    assert_true(selection_has(&selection, 5));
    assert_true(selection_undo(&selection)); // the add
    assert_int_equal(selection.count, 2);
    assert_true(selection_undo(&selection));
    assert_true(selection_undo(&selection));
    assert_false(selection_undo(&selection));
    assert_int_equal(selection.count, 0);
    selection_release(&selection);
}

static void
what_the_list_does_not_show_is_counted(void **state)
{
    (void)state;
    struct selection selection = {0};
    selection_add(&selection, (const int64_t[]){1, 2, 3, 4}, 4);
    assert_int_equal(selection_hidden(&selection, (const int64_t[]){9, 3, 1, 3}, 4), 2);
    assert_int_equal(selection_hidden(&selection, NULL, 0), 4);
    selection_release(&selection);
}

static void
a_million_is_no_trouble(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    int64_t *ids = alloc_array(MILLION, sizeof *ids);
    for (int64_t i = 0; i < MILLION; i++)
        ids[i] = MILLION - i;
    struct selection selection = {0};
    selection_add(&selection, ids, MILLION);
    for (int64_t i = 1; i <= 1000; i++)
        selection_toggle(&selection, i * 7);
    assert_int_equal(selection.count, MILLION - 1000);
    for (int i = 0; i < 20; i++)
        assert_true(selection_undo(&selection));
    assert_false(selection_undo(&selection)); // twenty steps and no more
    selection_release(&selection);
    free(ids);
}

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selection_is_a_set_with_undo),
        cmocka_unit_test(what_the_list_does_not_show_is_counted),
        cmocka_unit_test(a_million_is_no_trouble),
        cmocka_unit_test(group_keys_and_their_prefixes_are_read),
        cmocka_unit_test(queues_are_known_by_their_names),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
