// What a published event is found again by goes into an index later, by whoever has time. Nobody can tell by
// the answers whether that has happened.
#include "tests/store/world.h"

#include "publish/worker.h"

static int64_t
new_marks(struct world *world)
{
    return test_number(world->admin, "SELECT count(*) FROM redrive.publish_key_recent");
}

static int64_t
indexed_marks(struct world *world)
{
    return test_number(world->admin, "SELECT count(*) FROM redrive.publish_key");
}

static void
send_all(struct world *world, struct slot *slot, int64_t no)
{
    struct claim claimed;
    while ((claimed = next_claim(world, slot, no, 5000)).count > 0)
        assert_works(chunk_finish(world->store, slot, &claimed.chunk, CHUNK_COMMITTED, "x", &err));
}

static void
look(struct world *world)
{
    assert_works(worker_beat(world->store, "w", true, "idle", 0, &err));
}

// 3,000 events with correlation ids, published by one operation. Returns its number.
static int64_t
make_sent(struct world *world, struct slot *slot)
{
    world_make(world, 3000);
    test_sql(world->admin, "UPDATE dlq_events SET correlation_id = md5(id::text)::uuid");
    look(world); // all that is there was there before
    int64_t no = make_operation(world, world->store, ACTION_REPROCESS, 1, 3000);
    *slot = acquire(world, "w");
    send_all(world, slot, no);
    assert_int_equal(get_operation(world, no).done, 3000);
    return no;
}

// The event fails again, and is known by one thing only: its event id, its correlation id, or its place.
static void
fail_by_event_id(struct world *world, const char *ids)
{
    test_sql(
        world->admin,
        "INSERT INTO dlq_events (event_id, event_type, source_id, event_payload, error_message, created_at)"
        " SELECT event_id, event_type, source_id, '{}', 'again', clock_timestamp()::timestamp"
        " FROM dlq_events WHERE id IN (%s)",
        ids);
}

static void
fail_by_correlation(struct world *world, int id)
{
    test_sql(world->admin,
             "INSERT INTO dlq_events (event_id, event_type, source_id, event_payload, error_message, "
             "correlation_id, created_at) SELECT 'other', event_type, source_id, '{}', 'again', "
             "correlation_id, clock_timestamp()::timestamp FROM dlq_events WHERE id = %d",
             id);
}

static void
fail_by_place(struct world *world, int id)
{
    test_sql(
        world->admin,
        "INSERT INTO dlq_events (event_id, event_type, source_id, event_payload, error_message, "
        "kafka_topic, kafka_partition, kafka_offset, created_at) SELECT 'another', event_type, source_id, "
        "'{}', 'again', kafka_topic, kafka_partition, kafka_offset, clock_timestamp()::timestamp"
        " FROM dlq_events WHERE id = %d",
        id);
}

static const char *
known(struct world *world)
{
    return test_text(world->admin,
                     "SELECT string_agg(sent_id || ' by ' || known_by, ', ' ORDER BY sent_id) FROM "
                     "redrive.returned");
}

static void
index_all(struct world *world)
{
    for (bool is_all = false; !is_all;)
        assert_works(worker_index_keys(world->store, &is_all, &err));
    assert_int_equal(new_marks(world), 0);
}

static void
what_comes_back_at_once_is_joined(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    int64_t no = make_sent(&world, &slot);
    assert_int_equal(new_marks(&world), 3);
    assert_int_equal(indexed_marks(&world), 0);
    fail_by_event_id(&world, "1");
    fail_by_correlation(&world, 1002);
    fail_by_place(&world, 2003);
    look(&world);
    assert_int_equal(new_marks(&world), 3); // and nobody had to wait for that
    assert_string_equal(known(&world), "1 by event id, 1002 by correlation id, 2003 by coordinates");
    assert_int_equal(get_operation(&world, no).returned, 3);

    index_all(&world);
    assert_int_equal(indexed_marks(&world), 3);
    fail_by_event_id(&world, "11");
    fail_by_correlation(&world, 1012);
    fail_by_place(&world, 2013);
    look(&world);
    assert_int_equal(get_operation(&world, no).returned, 6);
    assert_non_null(strstr(known(&world), "11 by event id"));
    assert_non_null(strstr(known(&world), "1012 by correlation id"));
    assert_non_null(strstr(known(&world), "2013 by coordinates"));
    world_end(&world);
}

// Each of many would be looked for in every block.
static void
many_that_come_back_are_looked_for_in_the_index(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    int64_t no = make_sent(&world, &slot);
    fail_by_event_id(&world, "SELECT g FROM generate_series(1, 3000, 100) AS g");
    look(&world);
    assert_int_equal(new_marks(&world), 0);
    assert_int_equal(indexed_marks(&world), 3);
    assert_int_equal(get_operation(&world, no).returned, 30);
    world_end(&world);
}

// A page of a list, a claim, and a preview are looked for in three ways.
static void
how_often_it_was_sent_is_known_in_every_way(void **state)
{
    (void)state;
    static const char sent_sql[] =
        "SELECT count(*) || ' ' || count(DISTINCT dlq_id) || ' ' || min(dlq_id) || ' ' || max(dlq_id)"
        " FROM redrive.items_sent(ARRAY(SELECT event_id FROM dlq_events WHERE id BETWEEN 901 AND 2100"
        " UNION ALL SELECT 'none-' || g FROM generate_series(1, %d) AS g)%s)";
    struct world world;
    struct slot slot;
    int64_t first = make_sent(&world, &slot);
    fail_by_event_id(&world, "SELECT g FROM generate_series(1, 3000) AS g");
    int64_t again = make_operation(&world, world.store, ACTION_REPROCESS, 3001, 6000);
    struct claim claimed = next_claim(&world, &slot, again, 5000);
    for (size_t i = 0; i < claimed.count; i++)
        assert_int_equal(claimed.items[i].reprocess_count, 2);
    assert_works(chunk_finish(world.store, &slot, &claimed.chunk, CHUNK_COMMITTED, "x", &err));
    send_all(&world, &slot, again);

    for (int round = 0; round < 3; round++) { // none is in the index, some are, all are
        const int others[] = {0, 4000, 25000};
        for (size_t i = 0; i < 3; i++) {
            char sql[400], but[40];
            snprintf(sql, sizeof sql, sent_sql, others[i], "");
            assert_string_equal(test_text(world.admin, sql), "2400 2400 901 5100");
            snprintf(but, sizeof but, ", %lld", (long long)first);
            snprintf(sql, sizeof sql, sent_sql, others[i], but);
            assert_string_equal(test_text(world.admin, sql), "1200 1200 3901 5100");
        }
        if (round == 0)
            test_sql(world.admin, "SELECT redrive.work_index_keys(2)");
        else
            index_all(&world);
    }
    world_end(&world);
}

// Events that were written twice have one event id. Each is sent once.
static void
an_operation_does_not_count_itself(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    test_sql(world.admin, "UPDATE dlq_events SET event_id = 'evt-' || id %% 1000");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 3000);
    struct slot slot = acquire(&world, "w");
    struct claim claimed;
    int64_t sent = 0;
    while ((claimed = next_claim(&world, &slot, no, 1000)).count > 0) {
        for (size_t i = 0; i < claimed.count; i++)
            assert_int_equal(claimed.items[i].reprocess_count, 1);
        assert_works(chunk_finish(world.store, &slot, &claimed.chunk, CHUNK_COMMITTED, "x", &err));
        sent += (int64_t)claimed.count;
    }
    assert_int_equal(sent, 3000);
    world_end(&world);
}

// Where nobody has time, whoever publishes more does it: those that are looked for one by one stay few.
static void
there_are_never_many(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    int64_t no = make_sent(&world, &slot);
    test_sql(world.admin,
             "INSERT INTO redrive.operation_batch (operation_no, no, state, at, events, dlq_ids, event_ids)"
             " SELECT %lld, g, 'done', now(), 1, ARRAY[g * 1000], ARRAY['x' || g] FROM generate_series(1001, "
             "1252) AS g",
             (long long)no);
    test_sql(world.admin,
             "INSERT INTO redrive.publish_key_recent SELECT %lld, g, ARRAY[hashtext('x' || g)] FROM "
             "generate_series(1001, 1252) AS g",
             (long long)no);
    add_events(world.admin, 3000);
    test_sql(world.admin, "UPDATE dlq_events SET event_id = 'late-' || id WHERE id > 3000");
    int64_t late = make_operation(&world, world.store, ACTION_REPROCESS, 3001, 6000);
    send_all(&world, &slot, late);
    assert_int_equal(new_marks(&world), 255);
    assert_int_equal(indexed_marks(&world), 3);
    fail_by_event_id(&world, "2, 3002");
    look(&world);
    assert_string_equal(known(&world), "2 by event id, 3002 by event id");
    world_end(&world);
}

// Two at once: neither waits, nothing is done twice, and nothing is out of sight meanwhile.
static void
two_move_them_at_once(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    int64_t no = make_sent(&world, &slot);
    PGconn *other = test_connect(world.conninfo);
    test_sql(world.admin, "SET lock_timeout = '5s'");
    test_sql(other, "BEGIN");
    assert_string_equal(test_text(other, "SELECT redrive.work_index_keys(2)"), "t");
    assert_string_equal(test_text(world.admin, "SELECT redrive.work_index_keys(2)"), "f"); // one was left
    assert_int_equal(indexed_marks(&world), 1);
    fail_by_event_id(&world, "3, 1003, 2003");
    look(&world);
    assert_int_equal(get_operation(&world, no).returned, 3);
    test_sql(other, "ROLLBACK");
    assert_int_equal(new_marks(&world), 2);
    index_all(&world);
    assert_int_equal(indexed_marks(&world), 3);
    PQfinish(other);
    world_end(&world);
}

static void
a_worker_that_is_idle_moves_them(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    make_sent(&world, &slot);
    const struct worker_settings settings = {
        .store = {.conninfo = world.conninfo, .table = "public.dlq_events", .program = "test-worker"},
        .mode = WORKER_SERVICE,
        .idle_exit = US_PER_SECOND / 2,
    };
    assert_works(worker_run(&settings, &err));
    assert_int_equal(new_marks(&world), 0);
    assert_int_equal(indexed_marks(&world), 3);
    world_end(&world);
}

// Those in the index and those that are not yet, side by side.
static void
indexed_and_recent_ones_are_both_found(void **state)
{
    (void)state;
    struct world world;
    struct slot slot;
    int64_t no = make_sent(&world, &slot);
    test_sql(world.admin, "SELECT redrive.work_index_keys(100)");
    assert_int_equal(new_marks(&world), 0);
    fail_by_event_id(&world, "7");
    look(&world);
    assert_int_equal(get_operation(&world, no).returned, 1);

    add_events(world.admin, 1000);
    test_sql(world.admin, "UPDATE dlq_events SET event_id = 'late-' || id WHERE id > 3001");
    slot = acquire(&world, "w");
    send_all(&world, &slot, make_operation(&world, world.store, ACTION_REPROCESS, 3002, 4001));
    assert_int_equal(new_marks(&world), 1);
    fail_by_event_id(&world, "8, 4000");
    look(&world);
    assert_string_equal(known(&world), "7 by event id, 8 by event id, 4000 by event id");
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_back_at_once_is_joined),
        cmocka_unit_test(many_that_come_back_are_looked_for_in_the_index),
        cmocka_unit_test(how_often_it_was_sent_is_known_in_every_way),
        cmocka_unit_test(an_operation_does_not_count_itself),
        cmocka_unit_test(there_are_never_many),
        cmocka_unit_test(two_move_them_at_once),
        cmocka_unit_test(a_worker_that_is_idle_moves_them),
        cmocka_unit_test(indexed_and_recent_ones_are_both_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
