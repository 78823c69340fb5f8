// Batches: a batch is finished whole, and becomes rows of operation_item when something happens to one of its
// events alone. 12 sources, and 1,000 events a batch.
#include "tests/store/world.h"

static int64_t
rows(struct world *world)
{
    return test_number(world->admin, "SELECT count(*) FROM redrive.operation_item");
}

static int64_t
batches(struct world *world)
{
    return test_number(world->admin, "SELECT count(*) FROM redrive.operation_batch");
}

static void
settle(struct world *world, struct slot *slot, const struct claim *claim, enum chunk_state outcome)
{
    assert_works(chunk_finish(world->store, slot, &claim->chunk, outcome, "x", &err));
}

// Topic, partition, offset never go back within what was claimed; returns the number of its sources.
static int
sources_in_order(const struct claim *claim)
{
    int sources = claim->count > 0;
    for (size_t i = 1; i < claim->count; i++) {
        const struct event *a = &claim->items[i - 1].event, *b = &claim->items[i].event;
        assert_true(b->origin.partition > a->origin.partition ||
                    (b->origin.partition == a->origin.partition && b->origin.offset > a->origin.offset));
        sources += b->origin.partition != a->origin.partition;
    }
    return sources;
}

static int64_t
highest(const struct claim *claim, int partition)
{
    int64_t offset = -1;
    for (size_t i = 0; i < claim->count; i++)
        if (claim->items[i].event.origin.partition == partition &&
            claim->items[i].event.origin.offset > offset)
            offset = claim->items[i].event.origin.offset;
    return offset;
}

static void
what_goes_well_is_never_written_out(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30000);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 30000);
    assert_int_equal(rows(&world), 0);
    assert_int_equal(batches(&world), 36); // 2,500 of each source
    struct slot slot = acquire(&world, "w");
    int64_t offsets[12], sent = 0;
    memset(offsets, -1, sizeof offsets);
    for (;;) {
        struct claim claimed = next_claim(&world, &slot, no, 5000);
        if (claimed.count == 0)
            break;
        sources_in_order(&claimed);
        for (int p = 0; p < 12; p++) {
            int64_t offset = highest(&claimed, p);
            assert_true(offset < 0 || offset > offsets[p]); // no source goes back from chunk to chunk
            offsets[p] = offset < 0 ? offsets[p] : offset;
        }
        assert_int_equal(items_in(&world, no, "claimed"), (int64_t)claimed.count);
        settle(&world, &slot, &claimed, CHUNK_COMMITTED);
        sent += (int64_t)claimed.count;
    }
    assert_int_equal(sent, 30000);
    assert_int_equal(rows(&world), 0);
    assert_int_equal(get_operation(&world, no).done, 30000);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(items_in(&world, no, "done"), 30000);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events WHERE status = 'RESOLVED'"),
                     30000);
    assert_int_equal(test_number(world.admin, "SELECT count(DISTINCT dlq_id) FROM redrive.item"), 30000);

    struct decision *decisions;
    size_t count;
    assert_works(event_decisions(world.store, 777, &world.arena, &decisions, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(decisions[0].operation, no);
    assert_int_equal(decisions[0].state, ITEM_DONE);
    world_end(&world);
}

// A freeze of several slices: a source whose offsets go with its ids, one where they go against them, one
// with records that were written twice, a slice apart, and events that came from nowhere. Each is in one
// batch, with what belongs to it, and the batches have each source in the order of its offsets.
static void
batches_are_in_the_order_of_offsets(void **state)
{
    (void)state;
    enum { EVENTS = 25000 };
    struct world world;
    world_make(&world, EVENTS);
    test_sql(world.admin,
             "UPDATE dlq_events SET kafka_topic = 't', kafka_partition = id %% 3, correlation_id ="
             " CASE WHEN id %% 7 = 0 THEN md5(id::text)::uuid END,"
             " kafka_offset = CASE WHEN id %% 3 = 1 THEN 30000 - id ELSE id END");
    test_sql(world.admin,
             "UPDATE dlq_events e SET kafka_offset = e.id - 12000, event_id = f.event_id FROM dlq_events f"
             " WHERE f.id = e.id - 12000 AND e.id > 24000 AND e.id %% 3 = 2");
    test_sql(world.admin, "UPDATE dlq_events SET kafka_offset = NULL WHERE id %% 50 = 7 AND id < 12000");
    int64_t doubled =
        test_number(world.admin, "SELECT count(*) FROM dlq_events WHERE id > 24000 AND id % 3 = 2");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, EVENTS);
    assert_int_equal(get_operation(&world, no).skipped, doubled);
    assert_int_equal(get_operation(&world, no).queued, EVENTS - doubled);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive.operation_item WHERE state = 'skipped' AND"
                                 " detail = format('the same record as event %s, which is sent',"
                                 " dlq_id - 12000)"),
                     doubled);

    test_sql(world.admin,
             "CREATE TABLE placed AS SELECT b.no, b.events, b.busy, w.* FROM redrive.operation_batch b CROSS "
             "JOIN LATERAL"
             " unnest(b.dlq_ids, b.sources, b.source_offsets, b.event_ids, b.correlations) WITH ORDINALITY"
             " AS w (id, source, at_offset, key, correlation, place)");
    assert_int_equal(test_number(world.admin, "SELECT count(DISTINCT id) FROM placed"), EVENTS - doubled);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM placed"), EVENTS - doubled);
    assert_int_equal(test_number(world.admin, "SELECT max(events) FROM placed"), 1000);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM placed p JOIN dlq_events e USING (id) WHERE p.key <> e.event_id OR"
                    " p.at_offset <> coalesce(e.kafka_offset, 0) OR"
                    " p.correlation IS DISTINCT FROM e.correlation_id OR"
                    " p.busy <> CASE WHEN e.kafka_offset IS NULL THEN '{}' ELSE ARRAY[p.source] END"),
        0);
    assert_int_equal(
        test_number(
            world.admin,
            "SELECT count(*) FROM (SELECT source, at_offset, lag(at_offset) OVER (PARTITION BY source"
            " ORDER BY no, place) AS before FROM placed) q WHERE source <> 0 AND before >= at_offset"),
        0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.freeze_batch"), 0);
    world_end(&world);
}

static void
two_slots_are_never_busy_with_one_source(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000); // twelve small sources share batches
    test_sql(
        world.admin,
        "UPDATE dlq_events SET kafka_partition = 0, kafka_offset = id WHERE id > 600"); // and a large one has
                                                                                        // its own
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 3000);
    assert_int_equal(batches(&world), 4); // three and one
    struct slot a = acquire(&world, "a"), b = acquire(&world, "b");
    int64_t sent = 0, last = -1;
    for (int i = 0; i < 20 && sent < 3000; i++) {
        struct claim first = next_claim(&world, &a, no, 1000), second = next_claim(&world, &b, no, 1000);
        for (size_t n = 0; n < first.count; n++)
            assert_int_equal(highest(&second, first.items[n].event.origin.partition), -1);
        int64_t top = highest(first.count && highest(&first, 0) >= 0 ? &first : &second, 0);
        assert_true(top < 0 || top > last);
        last = top < 0 ? last : top;
        sent += (int64_t)(first.count + second.count);
        if (second.count)
            settle(&world, &b, &second, CHUNK_COMMITTED);
        if (first.count)
            settle(&world, &a, &first, CHUNK_COMMITTED);
    }
    assert_int_equal(sent, 3000);
    assert_int_equal(get_operation(&world, no).done, 3000);
    world_end(&world);
}

static void
one_that_somebody_closed_is_written_down_alone(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 2000);
    test_sql(world.admin, "UPDATE dlq_events SET kafka_partition = 0, kafka_offset = id");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 2000);
    struct slot slot = acquire(&world, "w");

    // Before the claim: a conflict, and the others go on.
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 500");
    struct claim claimed = next_claim(&world, &slot, no, 1000);
    assert_int_equal(claimed.count, 999);
    assert_int_equal(claimed.skipped, 1);
    assert_int_equal(rows(&world), 1000);
    settle(&world, &slot, &claimed, CHUNK_COMMITTED);

    // After it: sent, with a note.
    claimed = next_claim(&world, &slot, no, 1000);
    assert_int_equal(claimed.count, 1000);
    assert_int_equal(rows(&world), 1000);
    test_sql(world.admin, "UPDATE dlq_events SET status = 'DISCARDED', resolved_by = 'api' WHERE id = 1500");
    settle(&world, &slot, &claimed, CHUNK_COMMITTED);
    assert_int_equal(get_operation(&world, no).done, 1999);
    assert_int_equal(get_operation(&world, no).skipped, 1);
    assert_non_null(
        strstr(test_text(world.admin, "SELECT detail FROM redrive.operation_item WHERE dlq_id = 1500"),
               "published, and meanwhile discarded by api"));
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.item WHERE state = 'done' AND attempt = 1"),
        1999);
    world_end(&world);
}

static void
what_was_not_published_comes_first_again(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 2000);
    test_sql(world.admin, "UPDATE dlq_events SET kafka_partition = 0, kafka_offset = id");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 2000);
    struct slot slot = acquire(&world, "w");
    struct claim claimed = next_claim(&world, &slot, no, 1000);
    assert_int_equal(claimed.items[0].attempt, 1);
    settle(&world, &slot, &claimed, CHUNK_ABORTED);
    assert_int_equal(get_operation(&world, no).queued, 2000);
    claimed = next_claim(&world, &slot, no, 1000);
    assert_int_equal(claimed.items[0].event_id, 1);
    assert_int_equal(claimed.items[0].attempt, 2);
    settle(&world, &slot, &claimed, CHUNK_ABORTED);

    // One of them cannot be published at all.
    const struct refusal refusal = {.event_id = 3, .reason = "too large"};
    assert_works(items_refuse(world.store, &slot, no, &refusal, 1, &err));
    claimed = next_claim(&world, &slot, no, 5000);
    assert_int_equal(claimed.count, 999);
    assert_int_equal(claimed.items[2].event_id, 4);
    assert_int_equal(claimed.items[2].attempt, 3);
    settle(&world, &slot, &claimed, CHUNK_COMMITTED);
    claimed = next_claim(&world, &slot, no, 5000);
    assert_int_equal(claimed.count, 1000);
    assert_int_equal(claimed.items[0].attempt, 1);
    settle(&world, &slot, &claimed, CHUNK_COMMITTED);
    assert_int_equal(get_operation(&world, no).done, 1999);
    assert_int_equal(get_operation(&world, no).refused, 1);
    world_end(&world);
}

// In doubt, found by a scan in part; and cancelled with a chunk in flight.
static void
doubt_and_cancel_reach_each_event(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 4000);
    test_sql(world.admin, "UPDATE dlq_events SET kafka_partition = 0, kafka_offset = id");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 4000);
    struct slot slot = acquire(&world, "w");
    struct claim claimed = next_claim(&world, &slot, no, 1000);
    settle(&world, &slot, &claimed, CHUNK_IN_DOUBT);
    assert_int_equal(items_in(&world, no, "in doubt"), 1000);
    const int64_t found[] = {1, 2, 3};
    assert_works(slot_acquire_in_doubt(world.store, "kafka-1", "w", NULL, 0, &slot, &err));
    assert_works(chunk_finish_scanned(world.store, &slot, &claimed.chunk, found, 3, "found", &err));
    assert_int_equal(get_operation(&world, no).done, 3);
    assert_int_equal(get_operation(&world, no).queued, 3997);

    struct slot other = acquire(&world, "v");
    claimed = next_claim(&world, &other, no, 5000); // the rest of the first batch
    assert_int_equal(claimed.count, 997);
    settle(&world, &other, &claimed, CHUNK_COMMITTED);
    claimed = next_claim(&world, &other, no, 1000);
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(get_operation(&world, no).cancelled, 2000);
    settle(&world, &other, &claimed, CHUNK_ABORTED);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.cancelled, 3000);
    assert_int_equal(operation.done, 1000);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(items_in(&world, no, "cancelled"), 3000);

    // They are free again, and remember that they were tried.
    int64_t again = make_operation(&world, world.store, ACTION_REPROCESS, 1, 4000);
    assert_int_equal(get_operation(&world, again).queued, 3000);
    claimed = next_claim(&world, &other, again, 5000);
    for (size_t i = 0; i < claimed.count; i++)
        assert_int_equal(claimed.items[i].attempt, claimed.items[i].event_id <= 2000 ? 2 : 1);
    assert_int_equal(claimed.count, 3000);
    world_end(&world);
}

// A returned event is joined to the batch it was sent with, by each of its keys.
static void
returned_events_are_found_in_their_batch(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    test_sql(world.admin, "UPDATE dlq_events SET correlation_id = ('00000000-0000-4000-8000-' || "
                          "lpad(id::text, 12, '0'))::uuid");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 3000);
    struct slot slot = acquire(&world, "w");
    struct claim claimed;
    while ((claimed = next_claim(&world, &slot, no, 5000)).count > 0)
        settle(&world, &slot, &claimed, CHUNK_COMMITTED);
    assert_int_equal(rows(&world), 0);
    static const char again[] =
        "INSERT INTO dlq_events (event_id, event_type, source_id, event_payload, error_message, "
        "kafka_topic, kafka_partition, kafka_offset, correlation_id, created_at) SELECT %s, "
        "event_type, source_id, event_payload, error_message, kafka_topic, %s, %s, %s, "
        "localtimestamp + interval '1 minute' FROM dlq_events WHERE id = %d";
    test_sql(world.admin, again, "event_id", "99", "1", "NULL", 1001);
    test_sql(world.admin, again, "'other'", "99", "2", "correlation_id", 1002);
    test_sql(world.admin, again, "'another'", "kafka_partition", "kafka_offset", "NULL", 1003);
    test_sql(world.admin, again, "'new'", "99", "3", "NULL", 1004);
    test_sql(world.admin, "SELECT redrive.returned_find(100000)");
    assert_string_equal(
        test_text(world.admin, "SELECT string_agg(sent_id || ' by ' || known_by, ', ' ORDER BY sent_id) FROM "
                               "redrive.returned"),
        "1001 by event id, 1002 by correlation id, 1003 by coordinates");
    assert_int_equal(get_operation(&world, no).returned, 3);
    // And once more: the count of its attempts goes on.
    int64_t next = make_operation(&world, world.store, ACTION_REPROCESS, 3001, 3001);
    claimed = next_claim(&world, &slot, next, 10);
    assert_int_equal(claimed.count, 1);
    assert_int_equal(claimed.items[0].reprocess_count, 2);
    world_end(&world);
}

#define WHEREVER(function, key)                                                                              \
    "SELECT count(*) FROM generate_series(1, 300) AS place CROSS JOIN LATERAL redrive." function             \
    "(ARRAY(SELECT CASE i WHEN place THEN " key                                                              \
    " ELSE -i END FROM generate_series(1, 300) AS i ORDER BY i)) b"

// An index is asked for many keys in parts: whichever place the only known one has among the others, it is
// found.
static void
one_key_among_many_is_found(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1500);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 1500);
    struct slot slot = acquire(&world, "w");
    struct claim claimed;
    while ((claimed = next_claim(&world, &slot, no, 5000)).count > 0)
        settle(&world, &slot, &claimed, CHUNK_COMMITTED);
    static const char marked_sql[] =
        WHEREVER("_batches_with_keys", "(SELECT hashtext(event_id) FROM dlq_events WHERE id = 7)");
    assert_int_equal(test_number(world.admin, WHEREVER("_batches_with_events", "7::bigint")), 300);
    assert_int_equal(test_number(world.admin, marked_sql), 300); // not in the index yet
    test_sql(world.admin, "SELECT redrive.work_index_keys(100)");
    assert_int_equal(test_number(world.admin, marked_sql), 300);
    world_end(&world);
}

static void
an_event_is_frozen_once(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    int64_t first = make_operation(&world, world.store, ACTION_REPROCESS, 1, 2000);
    int64_t second = make_operation(&world, world.store, ACTION_DISCARD, 1001, 3000);
    assert_int_equal(get_operation(&world, second).queued, 1000);
    assert_int_equal(get_operation(&world, second).skipped, 1000);
    assert_non_null(
        strstr(test_text(world.admin, "SELECT detail FROM redrive.operation_item WHERE dlq_id = 1500"),
               "s operation 1"));
    static const char twice[] =
        "SELECT redrive.operation_begin(gen_random_uuid(), 'discard', 'x', NULL, NULL, NULL, NULL, -1);"
        "SELECT redrive.operation_freeze(3, '{2500,2600}'); SELECT redrive.operation_freeze(3, '{2550}')";
    assert_string_equal(test_state(world.admin, twice), "RD004");
    int64_t applied, left = 1;
    while (left > 0)
        assert_works(work_apply(world.store, second, 700, &applied, &left, &err)); // less than a batch
    assert_int_equal(get_operation(&world, second).done, 1000);
    assert_int_equal(get_operation(&world, first).queued, 2000);
    world_end(&world);
}

// A session that sees the past would not see what was frozen while it waited.
static void
a_freeze_sees_what_others_froze(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 100);
    static const char past[] =
        "BEGIN ISOLATION LEVEL REPEATABLE READ;"
        "SELECT redrive.operation_begin(gen_random_uuid(), 'discard', 'x', NULL, NULL, NULL, NULL, -1);"
        "SELECT redrive.operation_freeze(max(no), '{5}') FROM redrive.operation";
    assert_string_equal(test_state(world.admin, past), "RD004");
    test_sql(world.admin, "ROLLBACK");

    // Whatever a session is set to, the program's own freeze is of the right kind.
    test_sql(world.admin,
             "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET default_transaction_isolation = "
             "serializable', current_database()); END $$");
    struct store *store = open_store(world.conninfo);
    int64_t no = make_operation(&world, store, ACTION_DISCARD, 1, 100);
    assert_int_equal(get_operation(&world, no).queued, 100);
    store_close(store);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_well_is_never_written_out),
        cmocka_unit_test(batches_are_in_the_order_of_offsets),
        cmocka_unit_test(two_slots_are_never_busy_with_one_source),
        cmocka_unit_test(one_that_somebody_closed_is_written_down_alone),
        cmocka_unit_test(what_was_not_published_comes_first_again),
        cmocka_unit_test(doubt_and_cancel_reach_each_event),
        cmocka_unit_test(returned_events_are_found_in_their_batch),
        cmocka_unit_test(one_key_among_many_is_found),
        cmocka_unit_test(an_event_is_frozen_once),
        cmocka_unit_test(a_freeze_sees_what_others_froze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
