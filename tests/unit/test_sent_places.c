// Where Kafka keeps the records of a chunk, sorted by topic, partition and consumer group.
#include "publish/sent_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ITEMS = 7 };

static void
rows_are_in_the_order_of_offsets(void **state)
{
    (void)state;
    static const struct {
        const char *topic, *consumer;
        int32_t partition;
        int64_t offset;
    } stored[ITEMS] = {{"payments", "", 0, 5},       {"orders", "", 1, 12}, {"orders", "", 1, 10},
                       {"orders", "billing", 1, 11}, {"orders", "", 0, -1}, {"orders", "", 1, INT64_MAX},
                       {"orders", "", 0, 40}};
    struct plan plans[ITEMS] = {0};
    struct claimed_item items[ITEMS] = {0};
    unsigned char reports[ITEMS];
    struct delivery_place places[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        plans[i] = (struct plan){.topic = stored[i].topic, .consumer = stored[i].consumer};
        items[i].event_id = 100 + i;
        reports[i] = 1 + REPORT_DELIVERED;
        places[i] = (struct delivery_place){stored[i].partition, stored[i].offset};
    }
    struct flight flight = {.claim = {.items = items, .count = ITEMS},
                            .plans = plans,
                            .deliveries = {.of_item = reports, .places = places}};
    struct sent_places sent;
    sent_places_make(&sent, &flight);
    assert_int_equal(sent.row_count, 4);
    assert_int_equal(sent.count, 5); // one offset is not known, one is too far away
    assert_string_equal(sent.rows[0].topic, "orders");
    assert_int_equal(sent.rows[0].partition, 0);
    assert_int_equal(sent.rows[0].low, 40);
    assert_int_equal(sent.rows[1].count, 2);
    assert_int_equal(sent.rows[1].low, 10);
    assert_int_equal(sent.ids[1], 102);
    assert_int_equal(sent.ids[2], 101);
    assert_int_equal(sent.offsets[2], 2);
    assert_string_equal(sent.rows[2].consumer, "billing");
    assert_string_equal(sent.rows[3].topic, "payments");
    arena_release(&sent.arena);

    reports[0] = 1 + REPORT_LATE;
    sent_places_make(&sent, &flight);
    assert_int_equal(sent.row_count, 3);
    arena_release(&sent.arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_in_the_order_of_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
