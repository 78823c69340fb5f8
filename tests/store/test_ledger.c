// Slots, fences and chunks: PostgreSQL's half of the publish protocol, in the orders that crashes and slow
// workers make.
#include "tests/lib/forecast.h"
#include "world.h"

#include "base/clock.h"

// As if the holder had died half a minute ago.
static void
end_leases(struct world *world)
{
    test_sql(world->admin, "UPDATE redrive.slot SET lease_until = clock_timestamp() - interval '1 s'");
}

static void
slots_are_named_and_fenced(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct slot slots[16];
    int32_t mine[16];
    for (int i = 0; i < 16; i++) {
        assert_works(slot_acquire(world.store, "kafka-1", "me", mine, (size_t)i, &slots[i], &err));
        mine[i] = slots[i].no;
        char expected[200];
        snprintf(expected, sizeof expected, "redrive.%s.kafka-1.%d", store_info(world.store)->install,
                 slots[i].no);
        assert_string_equal(slots[i].txn_id, expected);
        assert_string_equal(slots[i].finished_id, store_info(world.store)->install);
        assert_int_equal(slots[i].fence, 1);
        assert_int_equal(slots[i].finished_seq, 0);
        assert_false(slots[i].is_provisioned);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(slots[i].no, slots[j].no);
    }
    struct slot slot;
    assert_refused(slot_acquire(world.store, "kafka-1", "me", mine, 16, &slot, &err), ERR_NOT_FOUND,
                   "no slot is free");
    assert_refused(slot_acquire(world.store, "kafka-1", "other", NULL, 0, &slot, &err), ERR_NOT_FOUND,
                   "no slot is free");
    assert_works(
        slot_acquire(world.store, "kafka-2", "other", NULL, 0, &slot, &err)); // another cluster has its own
    assert_works(slot_acquire(world.store, "kafka-1", "me", mine, 15, &slot,
                              &err)); // after an error of mine: my own again
    assert_int_equal(slot.no, mine[15]);
    assert_int_equal(slot.fence, 2);

    assert_works(slot_release(world.store, &slot, &err));
    assert_works(slot_acquire(world.store, "kafka-1", "other", NULL, 0, &slot, &err));
    assert_int_equal(slot.no, mine[15]);
    assert_int_equal(slot.fence, 3);

    assert_works(slot_provisioned(world.store, &slot, &err));
    assert_true(slot.is_provisioned);
    struct chunk unfinished;
    assert_works(slot_check(world.store, &slot, &unfinished, &err));
    assert_true(slot.is_provisioned);
    assert_false(unfinished.exists);
    assert_works(slot_heartbeat(world.store, &slot, &err));
    world_end(&world);
}

static void
a_committed_chunk_closes_its_events(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 30);
    struct slot slot = acquire(&world, "w");
    struct claim first = next_claim(&world, &slot, no, 20);
    assert_int_equal(first.count, 20);
    assert_int_equal(first.chunk.seq, 1);
    assert_int_equal(first.rate, RATE_UNLIMITED);
    assert_string_equal(first.requested_by, "postgres");
    assert_null(first.target_topic);
    assert_int_equal(items_in(&world, no, "claimed"), 20);
    for (size_t i = 0; i < first.count; i++) {
        const struct claimed_item *item = &first.items[i];
        assert_int_equal(item->attempt, 1);
        assert_int_equal(item->reprocess_count, 1);
        assert_true(correction_is_empty(&item->event.known.correction));
        char expected[40];
        snprintf(expected, sizeof expected, "evt-%lld", (long long)item->event_id);
        assert_true(bytes_equal_text(item->event.event_id, expected));
        snprintf(expected, sizeof expected, "\"order\": %lld", (long long)item->event_id);
        assert_int_not_equal(bytes_find(item->event.payload, bytes_of(expected), 0), SIZE_MAX);
        // Source order: topic, partition, offset.
        if (i > 0 && item->event.origin.partition == item[-1].event.origin.partition)
            assert_true(item->event.origin.offset > item[-1].event.origin.offset);
        if (i > 0)
            assert_true(item->event.origin.partition >= item[-1].event.origin.partition);
    }
    assert_works(chunk_finish(world.store, &slot, &first.chunk, CHUNK_COMMITTED, "marker read back", &err));
    assert_int_equal(slot.finished_seq, 1);
    assert_string_equal(slot.finished_id, first.chunk.id);
    assert_int_equal(
        test_number(
            world.admin,
            "SELECT count(*) FROM public.dlq_events WHERE status = 'RESOLVED' AND resolved_by = 'postgres'"
            " AND retry_count = 1 AND last_retry_at = resolved_at AND resolved_at > localtimestamp - "
            "interval '1 min'"),
        20);
    assert_int_equal(get_operation(&world, no).done, 20);
    assert_refused(chunk_finish(world.store, &slot, &first.chunk, CHUNK_COMMITTED, "again", &err),
                   ERR_CONFLICT, "waits for its outcome");

    struct claim second = next_claim(&world, &slot, no, 20);
    assert_int_equal(second.count, 10);
    assert_int_equal(second.chunk.seq, 2);
    assert_works(chunk_finish(world.store, &slot, &second.chunk, CHUNK_COMMITTED, "marker read back", &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(next_claim(&world, &slot, no, 20).count, 0);
    assert_int_equal(test_number(world.admin, "SELECT next_seq FROM redrive.slot WHERE fence > 0"),
                     2); // no number for nothing
    assert_int_equal(
        test_number(world.admin, "SELECT sum(events) FROM redrive.audit WHERE action = 'finish'"), 30);
    world_end(&world);
}

// Everything a worker may still try after its slot was taken over.
static void
a_stale_fence_changes_nothing(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 30);
    struct slot slot = acquire(&world, "old");
    struct claim held = next_claim(&world, &slot, no, 10);
    end_leases(&world);
    struct slot taken = acquire(&world, "new");
    assert_int_equal(taken.no, slot.no); // the one with an unfinished chunk, out of sixteen
    assert_int_equal(taken.fence, slot.fence + 1);

    static const char before_sql[] =
        "SELECT md5(concat((SELECT string_agg(s::text, '|' ORDER BY s.no) FROM redrive.slot s), (SELECT "
        "string_agg(c::text, '|') FROM redrive.chunk c),"
        " (SELECT string_agg(i::text, '|' ORDER BY dlq_id) FROM redrive.item i), (SELECT "
        "string_agg(o::text, '|') FROM redrive.operation o),"
        " (SELECT string_agg(e::text, '|' ORDER BY id) FROM public.dlq_events e), (SELECT count(*) FROM "
        "redrive.audit)))";
    char before[64];
    snprintf(before, sizeof before, "%s", test_text(world.admin, before_sql));
    struct chunk chunk;
    struct claim none;
    const struct refusal refusal = {.event_id = 15, .reason = "x"};
    const int64_t published[] = {1};
    assert_refused(slot_check(world.store, &slot, &chunk, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_heartbeat(world.store, &slot, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_provisioned(world.store, &slot, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_release(world.store, &slot, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_suspend(world.store, &slot, "x", &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_retire(world.store, &slot, "x", &err), ERR_CONFLICT, "taken over");
    assert_refused(
        chunk_claim(world.store, &slot, no, held.chunk.id, 5, MANY_BYTES, &world.arena, &none, &err),
        ERR_CONFLICT, "taken over");
    for (enum chunk_state outcome = CHUNK_COMMITTED; outcome <= CHUNK_IN_DOUBT; outcome++)
        assert_refused(chunk_finish(world.store, &slot, &held.chunk, outcome, "x", &err), ERR_CONFLICT,
                       "taken over");
    assert_refused(chunk_finish_scanned(world.store, &slot, &held.chunk, published, 1, "x", &err),
                   ERR_CONFLICT, "taken over");
    assert_refused(items_refuse(world.store, &slot, no, &refusal, 1, &err), ERR_CONFLICT, "taken over");
    assert_string_equal(test_text(world.admin, before_sql), before);

    // The new holder finds the chunk, proves its abort, and goes on.
    assert_works(slot_check(world.store, &taken, &chunk, &err));
    assert_true(chunk.exists);
    assert_string_equal(chunk.id, held.chunk.id);
    assert_int_equal(chunk.seq, 1);
    assert_int_equal(chunk.count, 10);
    assert_int_equal(chunk.operation, no);
    assert_int_equal(chunk.state, CHUNK_CLAIMED);
    assert_works(
        chunk_finish(world.store, &taken, &chunk, CHUNK_ABORTED, "marker is the last settled one", &err));
    assert_int_equal(taken.finished_seq, 0);
    struct claim again = next_claim(&world, &taken, no, 10);
    assert_int_equal(again.chunk.seq, 2);
    assert_int_equal(again.items[0].attempt, 2);
    world_end(&world);
}

static void
a_slot_has_one_unfinished_chunk(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 30);
    struct slot slot = acquire(&world, "w");
    struct claim held = next_claim(&world, &slot, no, 10);
    struct claim none;
    assert_refused(
        chunk_claim(world.store, &slot, no, new_uuid(world.admin), 5, MANY_BYTES, &world.arena, &none, &err),
        ERR_CONFLICT, "fate is not known");
    assert_refused(slot_release(world.store, &slot, &err), ERR_CONFLICT, "fate is not known");
    assert_refused(slot_retire(world.store, &slot, "x", &err), ERR_CONFLICT, "fate is not known");
    // Not even by hand.
    char sql[400];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO redrive.chunk (id, cluster, slot, seq, fence, operation_no, events, dlq_ids, sources)"
        " VALUES (gen_random_uuid(), 'kafka-1', %d, 99, 1, %lld, 0, '{}', '{}')",
        slot.no, (long long)no);
    assert_string_equal(test_state(world.admin, sql), "23505");
    assert_works(chunk_finish(world.store, &slot, &held.chunk, CHUNK_ABORTED, "x", &err));
    assert_int_equal(next_claim(&world, &slot, no, 5).count, 5);
    world_end(&world);
}

static void
slots_with_an_unfinished_chunk_come_first(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    bool is_left[16] = {false};
    for (int i = 0; i < 3; i++) {
        struct slot slot = acquire(&world, i == 0 ? "a" : i == 1 ? "b" : "c");
        assert_int_equal(next_claim(&world, &slot, no, 4).count, 4);
        is_left[slot.no] = true;
    }
    end_leases(&world);
    int32_t mine[3];
    for (size_t i = 0; i < 3; i++) {
        struct slot slot;
        assert_works(slot_acquire(world.store, "kafka-1", "d", mine, i, &slot, &err));
        assert_true(is_left[slot.no]);
        is_left[slot.no] = false;
        mine[i] = slot.no;
    }
    world_end(&world);
}

static void
a_lost_session_ends_the_lease(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    struct store *dying = open_store(world.conninfo);
    struct slot slot = {0}, other = {0};
    struct claim claim = {0};
    assert_works(slot_acquire(dying, "kafka-1", "dying", NULL, 0, &slot, &err));
    assert_works(
        chunk_claim(dying, &slot, no, new_uuid(world.admin), 10, MANY_BYTES, &world.arena, &claim, &err));

    // What it has in flight it need not look into; should it have lost it, that is another matter.
    struct recovery_wanted wanted;
    assert_works(recovery_wanted(dying, "kafka-1", "dying", &slot.no, 1, &wanted, &err));
    assert_int_equal(wanted.unfinished, 0);
    assert_works(recovery_wanted(dying, "kafka-1", "dying", NULL, 0, &wanted, &err));
    assert_int_equal(wanted.unfinished, 1);

    // While it is connected it is not robbed, however many look for what was left.
    assert_works(recovery_wanted(world.store, "kafka-1", "heir", NULL, 0, &wanted, &err));
    assert_int_equal(wanted.unfinished, 0);
    assert_works(slot_acquire(world.store, "kafka-1", "heir", NULL, 0, &other, &err));
    assert_int_not_equal(other.no, slot.no);

    store_close(dying); // as the kernel does for a process that was killed
    for (int64_t end = clock_mono() + 30 * US_PER_SECOND; !wanted.unfinished && clock_mono() < end;)
        assert_works(recovery_wanted(world.store, "kafka-1", "heir", NULL, 0, &wanted, &err));
    assert_int_equal(wanted.unfinished, 1);
    assert_works(recovery_wanted(world.store, "", "heir", NULL, 0, &wanted, &err));
    assert_int_equal(wanted.unfinished, 1);
    assert_works(recovery_wanted(world.store, "kafka-2", "heir", NULL, 0, &wanted, &err)); // out of its reach
    assert_int_equal(wanted.unfinished, 0);
    assert_works(slot_acquire(world.store, "kafka-1", "heir", &other.no, 1, &other, &err));
    assert_int_equal(other.no, slot.no);
    assert_int_equal(other.fence, slot.fence + 1);
    assert_refused(chunk_finish(world.store, &slot, &claim.chunk, CHUNK_COMMITTED, "x", &err), ERR_CONFLICT,
                   "taken over");
    world_end(&world);
}

static void
behind_a_pooler_only_the_lease_counts(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    if (!world.db.pooled[0]) {
        world_end(&world);
        skip();
    }
    struct store *pooled = open_store(world.db.pooled);
    struct slot slot = {0}, other = {0};
    assert_works(slot_acquire(pooled, "kafka-1", "pooled", NULL, 0, &slot, &err));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.slot WHERE holder = 'pooled' AND "
                                              "holder_pid IS NULL"),
                     1);
    store_close(pooled);
    int32_t mine[16];
    for (size_t i = 0; i < 15; i++) {
        assert_works(slot_acquire(world.store, "kafka-1", "heir", mine, i, &other, &err));
        mine[i] = other.no;
        assert_int_not_equal(other.no, slot.no);
    }
    assert_refused(slot_acquire(world.store, "kafka-1", "heir", mine, 15, &other, &err), ERR_NOT_FOUND,
                   "no slot is free");
    world_end(&world);
}

static void
refused_items_leave_the_operation(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    struct slot slot = acquire(&world, "w");
    struct claim claim = next_claim(&world, &slot, no, 10);
    const struct refusal refusals[] = {
        {.event_id = 3, .reason = "message of 2,310,448 bytes, topic allows 1,048,588"},
        {.event_id = 7, .reason = "topic does not exist"},
        {.event_id = 99, .reason = "not one of them"},
    };
    assert_works(items_refuse(world.store, &slot, no, refusals, 3, &err)); // claimed ones are not touched
    assert_int_equal(get_operation(&world, no).refused, 0);
    assert_works(chunk_finish(world.store, &slot, &claim.chunk, CHUNK_ABORTED, "rejected record", &err));
    assert_works(items_refuse(world.store, &slot, no, refusals, 3, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.refused, 2);
    assert_int_equal(operation.queued, 8);
    struct claim rest = next_claim(&world, &slot, no, 10);
    assert_int_equal(rest.count, 8);
    assert_works(chunk_finish(world.store, &slot, &rest.chunk, CHUNK_COMMITTED, "x", &err));
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, 8);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING' AND id IN (3, 7)"),
        2);
    struct outcome *outcomes;
    size_t count;
    assert_works(operation_outcomes(world.store, no, &world.arena, &outcomes, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(outcomes[1].reason, refusals[0].reason);
    assert_int_equal(outcomes[1].state, ITEM_REFUSED);
    // A refused event may be asked for again.
    assert_int_equal(
        get_operation(&world, make_operation(&world, world.store, ACTION_REPROCESS, 3, 3)).queued, 1);
    world_end(&world);
}

static void
in_doubt_is_held_until_a_scan_decides(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 20);
    struct slot slot = acquire(&world, "w");
    struct claim in_doubt = next_claim(&world, &slot, no, 20);
    assert_works(
        chunk_finish(world.store, &slot, &in_doubt.chunk, CHUNK_IN_DOUBT, "the marker is absent", &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.in_doubt, 20);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_string_equal(operation.state_note, "20 in doubt");
    assert_works(work_finish(world.store, no, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_RUNNING);
    // Nobody else may decide about these events, nor take the slot as a usual one.
    assert_int_equal(
        get_operation(&world, make_operation(&world, world.store, ACTION_DISCARD, 1, 20)).skipped, 20);
    end_leases(&world);
    for (int i = 0; i < 40; i++)
        assert_int_not_equal(acquire(&world, "w2").no, slot.no);

    struct slot found;
    assert_works(slot_acquire_in_doubt(world.store, "kafka-1", "w3", NULL, 0, &found, &err));
    assert_int_equal(found.no, slot.no);
    struct slot none;
    assert_refused(slot_acquire_in_doubt(world.store, "kafka-1", "w4", NULL, 0, &none, &err), ERR_NOT_FOUND,
                   "in doubt");
    struct chunk chunk;
    assert_works(slot_check(world.store, &found, &chunk, &err));
    assert_int_equal(chunk.state, CHUNK_IN_DOUBT);
    assert_refused(chunk_finish(world.store, &found, &chunk, CHUNK_ABORTED, "age", &err), ERR_CONFLICT,
                   "waits for its outcome");
    const int64_t published[] = {2, 4, 6, 77};
    assert_works(chunk_finish_scanned(world.store, &found, &chunk, published, 4,
                                      "a complete scan of 12 partitions", &err));
    assert_int_equal(found.generation, 2);
    assert_false(found.is_provisioned);
    assert_int_equal(found.finished_seq, 0);
    assert_non_null(strstr(found.txn_id, ".g2"));
    operation = get_operation(&world, no);
    assert_int_equal(operation.done, 3);
    assert_int_equal(operation.queued, 17);
    assert_int_equal(operation.in_doubt, 0);
    // The reason for the doubt says nothing of an event that was found.
    assert_int_equal(items_in(&world, no, "done"), 3);
    assert_int_equal(test_number(world.admin, "SELECT count(detail) FROM redrive.item WHERE state = 'done'"),
                     0);
    struct claim rest = next_claim(&world, &found, no, 20);
    assert_int_equal(rest.count, 17);
    assert_int_equal(rest.chunk.seq, 2); // numbers go on
    world_end(&world);
}

static void
a_scan_may_find_all_or_nothing(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    struct slot slot = acquire(&world, "w");
    struct claim held = next_claim(&world, &slot, no, 10);
    assert_works(
        chunk_finish_scanned(world.store, &slot, &held.chunk, NULL, 0, "nothing in a complete scan", &err));
    assert_int_equal(get_operation(&world, no).queued, 10);
    assert_string_equal(test_text(world.admin, "SELECT state FROM redrive.chunk"), "aborted");
    held = next_claim(&world, &slot, no, 10);
    int64_t ids[10];
    for (int i = 0; i < 10; i++)
        ids[i] = i + 1;
    assert_works(
        chunk_finish_scanned(world.store, &slot, &held.chunk, ids, 10, "all in a complete scan", &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(slot.generation, 3);
    world_end(&world);
}

static void
cancel_finishes_the_current_chunk_first(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    struct slot a = acquire(&world, "a"), b = acquire(&world, "b");
    struct claim first = next_claim(&world, &a, no, 8), second = next_claim(&world, &b, no, 8);
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, NULL, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.cancelled, 40 - first.chunk.count - second.chunk.count);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_string_equal(operation.state_note, "cancelled; 16 in flight finish first");
    assert_refused(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err), ERR_CONFLICT,
                   "is being cancelled");
    assert_works(chunk_finish(world.store, &a, &first.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(chunk_finish(world.store, &b, &second.chunk, CHUNK_ABORTED, "x", &err));
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.done, 8);
    assert_int_equal(operation.cancelled, 32);
    assert_int_equal(operation.queued, 0);
    assert_int_equal(items_in(&world, no, "cancelled"), 32);
    world_end(&world);
}

// Without coordinates there is no order to keep, so several slots may be busy with such events at once.
static void
slots_share_what_has_no_source(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    test_sql(world.admin, "UPDATE public.dlq_events SET kafka_partition = NULL");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    struct slot a = acquire(&world, "a"), b = acquire(&world, "b"), c = acquire(&world, "c");
    struct claim first = next_claim(&world, &a, no, 15), second = next_claim(&world, &b, no, 15);
    assert_int_equal(first.items[0].event_id, 1);
    assert_int_equal(second.count, 15);
    assert_int_equal(second.items[0].event_id, 16);
    assert_works(chunk_finish(world.store, &a, &first.chunk, CHUNK_ABORTED, "x", &err));
    struct claim again = next_claim(&world, &c, no, 20); // what came back, and then past what b has in flight
    assert_int_equal(again.count, 20);
    assert_int_equal(again.items[0].event_id, 1);
    assert_int_equal(again.items[0].attempt, 2);
    assert_int_equal(again.items[14].event_id, 15);
    assert_int_equal(again.items[15].event_id, 31);
    assert_int_equal(again.items[15].attempt, 1);
    struct claim last = next_claim(&world, &a, no, 20);
    assert_int_equal(last.count, 5);
    struct slot d = acquire(&world, "d");
    assert_int_equal(next_claim(&world, &d, no, 20).count, 0); // the rest is in flight
    assert_works(chunk_finish(world.store, &a, &last.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(chunk_finish(world.store, &b, &second.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(chunk_finish(world.store, &c, &again.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    world_end(&world);
}

// Rows of items do not store the state "claimed"; yet readers see items in flight, and no other worker takes
// them.
static void
items_in_flight_are_counted(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 24);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 24);
    struct slot slot = acquire(&world, "w");
    struct claim some = next_claim(&world, &slot, no, 6);
    assert_int_equal(items_in(&world, no, "claimed"), 6);
    assert_int_equal(items_in(&world, no, "queued"), 18);
    struct outcome *outcomes;
    size_t count;
    assert_works(operation_outcomes(world.store, no, &world.arena, &outcomes, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(outcomes[1].state, ITEM_CLAIMED);
    assert_int_equal(outcomes[1].count, 6);
    struct decision *decisions;
    assert_works(
        event_decisions(world.store, some.items[0].event_id, &world.arena, &decisions, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(decisions[0].state, ITEM_CLAIMED);
    assert_true(decisions[0].at == some.chunk.created_at);
    assert_works(chunk_finish(world.store, &slot, &some.chunk, CHUNK_IN_DOUBT, "no proof", &err));
    assert_int_equal(items_in(&world, no, "claimed"), 0);
    assert_int_equal(items_in(&world, no, "in doubt"), 6);
    assert_int_equal(test_number(world.admin, "SELECT sum(attempt) FROM redrive.item"), 6);
    world_end(&world);
}

// Before version 9 of the schema a claim wrote every item. Such a chunk may be in flight when it is migrated.
static void
what_an_earlier_version_claimed_is_settled(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    struct slot a = acquire(&world, "a"), b = acquire(&world, "b"), c = acquire(&world, "c");
    struct claim sent = next_claim(&world, &a, no, 10), back = next_claim(&world, &b, no, 10),
                 held = next_claim(&world, &c, no, 10);
    test_sql(world.admin, "UPDATE redrive.operation_item SET state = 'claimed', attempt = attempt + 1"
                          " WHERE dlq_id IN (SELECT unnest(dlq_ids) FROM redrive.chunk)");
    assert_int_equal(items_in(&world, no, "claimed"), 30);
    assert_works(chunk_finish(world.store, &a, &sent.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(chunk_finish(world.store, &b, &back.chunk, CHUNK_ABORTED, "x", &err));
    assert_works(chunk_finish(world.store, &c, &held.chunk, CHUNK_IN_DOUBT, "x", &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.done, 10);
    assert_int_equal(operation.queued, 20);
    assert_int_equal(operation.in_doubt, 10);
    assert_int_equal(items_in(&world, no, "claimed"), 0);
    assert_int_equal(test_number(world.admin, "SELECT max(attempt) FROM redrive.item"), 1);
    world_end(&world);
}

static void
pause_holds_back_the_next_chunk(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 20);
    struct slot slot = acquire(&world, "w");
    struct claim held = next_claim(&world, &slot, no, 4);
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err));
    assert_works(chunk_finish(world.store, &slot, &held.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(next_claim(&world, &slot, no, 4).count, 0);
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_works(operation_steer(world.store, no, STEER_RATE, 0, NULL, &err));
    assert_int_equal(next_claim(&world, &slot, no, 4).count, 0);
    assert_works(operation_steer(world.store, no, STEER_RATE, 77, NULL, &err));
    struct claim next = next_claim(&world, &slot, no, 4);
    assert_int_equal(next.count, 4);
    assert_int_equal(next.rate, 77);
    world_end(&world);
}

static void
closed_events_are_put_aside_at_the_claim(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'rest-api', "
                          "resolved_at = '2026-02-03 04:05:06'"
                          " WHERE id <= 30; DELETE FROM public.dlq_events WHERE id = 31");
    struct slot slot = acquire(&world, "w");
    int64_t conflicts = 0;
    size_t claimed = 0;
    for (;;) { // whatever the order of the sources is, each claim goes on until it has something
        struct claim some = next_claim(&world, &slot, no, 5);
        conflicts += some.skipped;
        if (some.count == 0)
            break;
        for (size_t i = 0; i < some.count; i++)
            assert_true(some.items[i].event_id > 31);
        claimed += some.count;
        assert_works(chunk_finish(world.store, &slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    }
    assert_int_equal(claimed, 9);
    assert_int_equal(conflicts, 31);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.skipped, 31);
    assert_string_equal(test_text(world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 4"),
                        "resolved by rest-api at 2026-02-03 04:05");
    world_end(&world);
}

static void
all_closed_leaves_nothing_to_claim(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'DISCARDED'");
    struct slot slot = acquire(&world, "w");
    struct claim none = next_claim(&world, &slot, no, 3);
    assert_int_equal(none.count, 0);
    assert_int_equal(none.skipped, 10);
    assert_false(none.chunk.exists);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.chunk"), 0);
    world_end(&world);
}

static void
closed_while_it_was_published_is_done_with_a_note(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 6);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 6);
    struct slot slot = acquire(&world, "w");
    struct claim held = next_claim(&world, &slot, no, 6);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'DISCARDED', resolved_by = 'rest-api' WHERE id = 2;"
             "DELETE FROM public.dlq_events WHERE id = 3");
    assert_works(chunk_finish(world.store, &slot, &held.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&world, no).done, 6);
    assert_string_equal(
        test_text(world.admin, "SELECT status || retry_count FROM public.dlq_events WHERE id = 2"),
        "DISCARDED0");
    assert_string_equal(test_text(world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 2"),
                        "published, and meanwhile discarded by rest-api");
    assert_string_equal(test_text(world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 3"),
                        "published, and meanwhile no longer in the table");
    world_end(&world);
}

static void
limits_are_kept(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 200);
    test_sql(world.admin, "UPDATE public.dlq_events SET event_payload = jsonb_build_object('big', (SELECT "
                          "string_agg(md5(i::text), '')"
                          " FROM generate_series(1, 3125) AS i)) WHERE id <= 10"); // 100,000 bytes each
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 200);
    struct slot slot = acquire(&world, "w");
    // Whatever the planner thinks of small tables, a claim takes as many as it says.
    for (int i = 0; i < 3; i++) {
        struct claim some = next_claim(&world, &slot, no, 7);
        assert_int_equal(some.count, 7);
        assert_works(chunk_finish(world.store, &slot, &some.chunk, CHUNK_ABORTED, "x", &err));
    }
    assert_int_equal(items_in(&world, no, "queued"), 200);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id > 10");
    size_t chunks = 0, events = 0;
    for (;;) {
        struct claim some = {0};
        assert_works(chunk_claim(world.store, &slot, no, new_uuid(world.admin), 100, 250000, &world.arena,
                                 &some, &err));
        if (some.count == 0)
            break;
        chunks++;
        events += some.count;
        assert_in_range(some.count, 1, 3);
        assert_works(chunk_finish(world.store, &slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    }
    assert_int_equal(events, 10);
    assert_in_range(chunks, 4, 10);
    world_end(&world);
}

static void
order_within_a_partition_survives_two_slots(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 240); // 12 partitions of 20
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 240);
    struct slot a = acquire(&world, "a"), b = acquire(&world, "b");
    int64_t last[12];
    bool is_busy[12];
    for (int i = 0; i < 12; i++)
        last[i] = -1;
    size_t done = 0;
    for (int round = 0; done < 240 && round < 100; round++) {
        struct claim x = next_claim(&world, &a, no, 30), y = next_claim(&world, &b, no, 30);
        memset(is_busy, 0, sizeof is_busy);
        for (size_t i = 0; i < x.count; i++)
            is_busy[x.items[i].event.origin.partition] = true;
        for (size_t i = 0; i < y.count; i++)
            assert_false(is_busy[y.items[i].event.origin.partition]);
        const struct claim *claims[] = {&y, &x}; // either may be finished first
        for (size_t c = 0; c < 2; c++) {
            for (size_t i = 0; i < claims[c]->count; i++) {
                const struct event *event = &claims[c]->items[i].event;
                assert_true(event->origin.offset > last[event->origin.partition]);
                last[event->origin.partition] = event->origin.offset;
            }
            done += claims[c]->count;
        }
        if (y.count)
            assert_works(chunk_finish(world.store, &b, &y.chunk, CHUNK_COMMITTED, "x", &err));
        if (x.count)
            assert_works(chunk_finish(world.store, &a, &x.chunk, CHUNK_COMMITTED, "x", &err));
    }
    assert_int_equal(done, 240);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);

    // With a single partition the second slot waits, and is not told that all is through.
    add_events(world.admin, 60);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET kafka_partition = 5, kafka_offset = id WHERE id > 240");
    no = make_operation(&world, world.store, ACTION_REPROCESS, 241, 300);
    struct claim x = next_claim(&world, &a, no, 30);
    assert_int_equal(x.count, 30);
    assert_int_equal(next_claim(&world, &b, no, 30).count, 0);
    assert_int_equal(get_operation(&world, no).queued, 30);
    struct work work;
    assert_refused(work_next(world.store, "b", true, NULL, 0, &world.arena, &work, &err), ERR_NOT_FOUND,
                   "can go on now");
    assert_works(chunk_finish(world.store, &a, &x.chunk, CHUNK_ABORTED, "x", &err));
    assert_works(work_next(world.store, "b", true, NULL, 0, &world.arena, &work, &err));
    assert_int_equal(work.no, no);
    x = next_claim(&world, &b, no, 30);
    assert_int_equal(x.items[0].event_id, 241); // what was aborted comes first again
    // Events that name no coordinates have no order to keep.
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'PENDING', kafka_offset = NULL WHERE id <= 60");
    no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 60);
    struct slot c = acquire(&world, "c"), d = acquire(&world, "d");
    assert_int_equal(next_claim(&world, &c, no, 30).count, 30);
    assert_int_equal(next_claim(&world, &d, no, 30).count, 30);
    world_end(&world);
}

static void
publish_all(struct world *world, int64_t no)
{
    struct slot slot = acquire(world, "w");
    for (;;) {
        struct claim some = next_claim(world, &slot, no, 100);
        if (some.count == 0)
            break;
        assert_works(chunk_finish(world->store, &slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    }
    assert_works(slot_release(world->store, &slot, &err));
}

static struct event
read_event(struct world *world, int64_t id, unsigned fields)
{
    struct event_page page;
    const struct event_query query = {.fields = fields, .ids = &id, .id_count = 1};
    assert_works(store_events(world->store, &query, &page, &err));
    assert_int_equal(page.count, 1);
    struct event event = page.events[0];
    arena_adopt(&world->arena, &page.arena);
    return event;
}

static void
events_that_come_back_are_known(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    int64_t operations[3];
    for (int round = 0; round < 3; round++) {
        int64_t id = 10 + round; // the row that stands for evt-10 now
        operations[round] = make_operation(&world, world.store, ACTION_REPROCESS, id, id);
        publish_all(&world, operations[round]);
        // The consumer fails again and inserts a new row.
        test_sql(
            world.admin,
            "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)"
            " VALUES ('evt-10', 'order.created', '{}', 'again', clock_timestamp()::timestamp)");
        struct event event = read_event(&world, id + 1, EVENT_KNOWN);
        assert_int_equal(event.known.published, round + 1);
        assert_int_equal(event.known.returned, round + 1);
        assert_int_equal(event.known.is_quarantined, round == 2);
        assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
        assert_int_equal(get_operation(&world, operations[round]).returned, 1);
    }
    for (int round = 0; round < 3; round++)
        assert_int_equal(get_operation(&world, operations[round]).returned, 1);
    assert_int_equal(read_event(&world, 9, EVENT_KNOWN).known.returned, 0);
    struct preview preview;
    const int64_t ids[] = {9, 13};
    assert_works(look_ahead(world.store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = ids, .count = 2},
                            &world.arena, &preview, &err));
    assert_int_equal(preview.open, 2);
    assert_int_equal(preview.quarantine.events, 1);
    assert_int_equal(preview.topic_count, 2);

    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 13, 13);
    struct slot slot = acquire(&world, "x");
    struct claim last = next_claim(&world, &slot, no, 1);
    assert_int_equal(last.items[0].reprocess_count, 4);
    assert_int_equal(last.items[0].attempt, 1); // of this row
    // The same row opened again counts as well.
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 10");
    assert_int_equal(read_event(&world, 10, EVENT_KNOWN).known.returned, 1);
    world_end(&world);
}

static void
the_newest_payload_is_claimed(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3);
    test_sql(world.admin,
             "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names, "
             "header_values) VALUES"
             " (1, 'orders-dlq', 0, 7, '\\x00ff', '{ \"order\" : 1 }', '{a,b,a}', '{\"\\\\x01\",NULL,\"\"}'),"
             " (2, 'orders-dlq', 0, 8, NULL, '{ \"order\" : 2 }', '{}', '{}'), (3, 'orders-dlq', 0, 9, '', "
             "NULL, '{}', '{}')");
    test_sql(world.admin, "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (2, 1, 'old', "
                          "'x'), (2, 2, 'new', 'typo')");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 3);
    struct slot slot = acquire(&world, "w");
    struct claim all = next_claim(&world, &slot, no, 3);
    assert_int_equal(all.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct event *event = &all.items[i].event;
        assert_true(event->record.is_kept);
        assert_int_equal(event->known.correction.has_payload, event->id == 2);
        if (event->id == 1) {
            assert_true(bytes_equal_text(event->payload, "{ \"order\" : 1 }"));
            assert_true(bytes_equal(event->record.key, (struct bytes){"\0\xff", 2}));
            assert_int_equal(event->record.header_count, 3);
            assert_true(bytes_equal_text(event->record.headers[2].name, "a"));
            assert_true(bytes_equal(event->record.headers[0].value, (struct bytes){"\1", 1}));
            assert_false(bytes_present(event->record.headers[1].value));
            assert_true(bytes_present(event->record.headers[2].value));
            assert_int_equal(event->record.headers[2].value.len, 0);
        } else if (event->id == 2) {
            assert_true(bytes_equal_text(event->payload, "new"));
            assert_false(bytes_present(event->record.key));
        } else {
            assert_false(bytes_present(event->payload)); // a tombstone
            assert_true(bytes_present(event->record.key));
        }
    }
    world_end(&world);
}

static void
clusters_are_remembered(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct cluster cluster = {
        .name = "k1", .promise = PROMISE_EXACTLY_ONCE, .words = "exactly once", .evidence = "probe passed"};
    assert_refused(cluster_latest(world.store, &cluster, &err), ERR_NOT_FOUND, "doctor");
    cluster = (struct cluster){
        .name = "k1", .promise = PROMISE_EXACTLY_ONCE, .words = "exactly once", .evidence = "probe passed"};
    assert_works(cluster_put(world.store, &cluster, &err));
    struct cluster other = {
        .name = "k2", .promise = PROMISE_AT_LEAST_ONCE, .words = "at least once", .evidence = "no fencing"};
    assert_works(cluster_put(world.store, &other, &err));
    struct cluster read;
    assert_works(cluster_get(world.store, "k1", &read, &err));
    assert_int_equal(read.promise, PROMISE_EXACTLY_ONCE);
    assert_string_equal(read.evidence, "probe passed");
    assert_works(cluster_latest(world.store, &read, &err));
    assert_string_equal(read.name, "k2");
    assert_refused(cluster_get(world.store, "k3", &read, &err), ERR_NOT_FOUND, "doctor");
    world_end(&world);
}

static void
workers_are_seen(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct worker *workers;
    size_t count;
    assert_works(worker_list(world.store, &world.arena, &workers, &count, &err));
    assert_int_equal(count, 0);
    assert_works(worker_beat(world.store, "host/1/2", true, "idle", 0, &err));
    assert_works(worker_beat(world.store, "host/3/4", false, NULL, 12.5, &err));
    assert_works(worker_beat(world.store, "host/1/2", true, "operation 41", 99, &err));
    assert_works(worker_list(world.store, &world.arena, &workers, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(workers[0].name, "host/1/2");
    assert_string_equal(workers[0].note, "operation 41");
    assert_true(workers[0].publishes);
    assert_true(workers[0].silent_for >= 0 && workers[0].silent_for < WORKER_SILENT);
    assert_null(workers[1].note);
    test_sql(world.admin, "UPDATE redrive.worker SET seen_at = seen_at - interval '6 s'");
    assert_works(worker_list(world.store, &world.arena, &workers, &count, &err));
    int64_t silent_for;
    assert_int_equal(workers_attendance(workers, count, true, &silent_for), WORKERS_SILENT);
    assert_in_range(silent_for, 6 * US_PER_SECOND, 9 * US_PER_SECOND);
    test_sql(world.admin,
             "UPDATE redrive.worker SET seen_at = seen_at - interval '16 s' WHERE name = 'host/1/2'");
    assert_works(worker_gone(world.store, "host/3/4", &err));
    assert_works(worker_list(world.store, &world.arena, &workers, &count, &err));
    assert_int_equal(count, 0);
    world_end(&world);
}

// An operation whose worker gives no sign is taken over by another, and its history says so.
static void
a_silent_worker_is_succeeded(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 40);
    struct work work;
    assert_works(worker_sign(world.store, "a", true, "idle", 0, &err));
    assert_works(worker_sign(world.store, "b", true, "idle", 0, &err));
    assert_works(work_next(world.store, "a", true, NULL, 0, &world.arena, &work, &err));
    assert_works(work_next(world.store, "b", true, NULL, 0, &world.arena, &work, &err));
    assert_string_equal(get_operation(&world, no).worker, "a");

    test_sql(world.admin, "UPDATE redrive.worker SET seen_at = seen_at - interval '7 s' WHERE name = 'a'");
    for (int i = 0; i < 2; i++)
        assert_works(work_next(world.store, "b", true, NULL, 0, &world.arena, &work, &err));
    assert_string_equal(get_operation(&world, no).worker, "b");
    struct audit_row *rows;
    size_t count, takeovers = 0;
    assert_works(audit_list(world.store, &(struct audit_query){.operation = no, .limit = 100}, &world.arena,
                            &rows, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].action, "takeover") == 0) {
            takeovers++;
            assert_string_equal(rows[i].detail, "by b: no sign of a for 7 s");
        }
    }
    assert_int_equal(takeovers, 1);

    // One that signed off leaves nothing to take over.
    assert_works(worker_gone(world.store, "b", &err));
    assert_works(work_next(world.store, "c", true, NULL, 0, &world.arena, &work, &err));
    assert_string_equal(get_operation(&world, no).worker, "c");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'takeover'"),
                     1);
    world_end(&world);
}

// Only its dead letter says where an event goes: that topic is searched, should the chunk be in doubt, and
// not the one of the row.
static void
topics_that_records_name_are_searched(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 4);
    test_sql(world.admin, "UPDATE public.dlq_events SET kafka_topic = 'central-dlq'");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 4);
    struct slot slot = acquire(&world, "a");
    struct claim claim = next_claim(&world, &slot, no, 10);
    const char *const ends[] = {"orders 4,5", "payments 0"};
    const char **topics = NULL;
    size_t count = 0;
    assert_works(chunk_topics(world.store, &claim.chunk, &world.arena, &topics, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(topics[0], "central-dlq");
    test_sql(world.admin, "UPDATE redrive.operation SET max_lag = 9, lag_topics = '{central-dlq}'");
    for (int i = 0; i < 3; i++) { // a worker that does not know whether it arrived says it again
        if (i == 2)               // as the next chunk is claimed
            test_sql(world.admin, "UPDATE redrive.chunk SET topics = '{central-dlq}'");
        assert_works(chunk_ends(world.store, &slot, claim.chunk.id, ends, 2, &err));
    }
    assert_int_equal(test_number(world.admin, "SELECT cardinality(lag_topics) FROM redrive.operation"), 3);
    assert_works(chunk_topics(world.store, &claim.chunk, &world.arena, &topics, &count, &err));
    assert_int_equal(count, 2); // nothing goes to the one of the rows, which may be gone
    assert_string_equal(topics[0], "orders");
    assert_string_equal(topics[1], "payments");
    struct slot stale = slot;
    stale.fence--;
    const char *const other[] = {"elsewhere 0"};
    assert_refused(chunk_ends(world.store, &stale, claim.chunk.id, other, 1, &err), ERR_CONFLICT,
                   "taken over");
    assert_works(chunk_topics(world.store, &claim.chunk, &world.arena, &topics, &count, &err));
    assert_int_equal(count, 2);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_named_and_fenced),
        cmocka_unit_test(topics_that_records_name_are_searched),
        cmocka_unit_test(a_committed_chunk_closes_its_events),
        cmocka_unit_test(a_stale_fence_changes_nothing),
        cmocka_unit_test(a_slot_has_one_unfinished_chunk),
        cmocka_unit_test(slots_with_an_unfinished_chunk_come_first),
        cmocka_unit_test(a_lost_session_ends_the_lease),
        cmocka_unit_test(behind_a_pooler_only_the_lease_counts),
        cmocka_unit_test(refused_items_leave_the_operation),
        cmocka_unit_test(in_doubt_is_held_until_a_scan_decides),
        cmocka_unit_test(a_scan_may_find_all_or_nothing),
        cmocka_unit_test(cancel_finishes_the_current_chunk_first),
        cmocka_unit_test(pause_holds_back_the_next_chunk),
        cmocka_unit_test(closed_events_are_put_aside_at_the_claim),
        cmocka_unit_test(all_closed_leaves_nothing_to_claim),
        cmocka_unit_test(closed_while_it_was_published_is_done_with_a_note),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(order_within_a_partition_survives_two_slots),
        cmocka_unit_test(events_that_come_back_are_known),
        cmocka_unit_test(slots_share_what_has_no_source),
        cmocka_unit_test(items_in_flight_are_counted),
        cmocka_unit_test(what_an_earlier_version_claimed_is_settled),
        cmocka_unit_test(the_newest_payload_is_claimed),
        cmocka_unit_test(clusters_are_remembered),
        cmocka_unit_test(workers_are_seen),
        cmocka_unit_test(a_silent_worker_is_succeeded),
    };
    return cmocka_run_group_tests_name("store ledger", tests, NULL, NULL);
}
