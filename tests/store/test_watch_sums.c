// Sums for metrics (store/watch): each compared with a second calculation over the table.
#include "world.h"

#include "rollup/maintainer.h"
#include "store/watch/sums.h"
#include "watch/watcher.h"

static struct watch_sums
read_sums(struct world *world)
{
    struct watch_sums sums;
    assert_works(watch_sums_read(world->store, &world->arena, &sums, &err));
    return sums;
}

static struct watch_sums
look(struct world *world)
{
    assert_works(watch_sums_look(world->store, 0, &err));
    return read_sums(world);
}

// What happened so far is a minute ago, for the sums.
static void
let_a_minute_pass(struct world *world)
{
    test_sql(world->admin,
             "UPDATE redrive.watch_state SET seen_at = seen_at - interval '61 s',"
             " counted_at = counted_at - interval '61 s', looked_at = looked_at - interval '61 s'");
}

static void
count_in_rollup(struct world *world)
{
    struct maintainer *maintainer = maintainer_create(&world->settings);
    int64_t until = clock_mono() + 30 * US_PER_SECOND;
    while (!maintainer_is_exact(maintainer)) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
    maintainer_destroy(maintainer);
}

static int64_t
sum_of(const struct watch_arrivals *arrivals, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += arrivals[i].count;
    return sum;
}

static void
test_arrivals(void **state)
{
    (void)state;
    struct world world;
    world_make_with_rules(&world, 100);
    assert_int_equal(look(&world).arrived, 100); // what is there at first counts as well
    add_events(world.admin, 7);
    assert_int_equal(look(&world).arrived, 107);
    let_a_minute_pass(&world);
    add_events(world.admin, 3);
    assert_int_equal(look(&world).arrived, 110);
    // Deleted and archived rows arrived nevertheless.
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE id <= 50");
    let_a_minute_pass(&world);
    assert_int_equal(look(&world).arrived, 110);
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE id > 100");
    assert_int_equal(look(&world).arrived, 110);
    // Also those that were deleted at once.
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message)"
                          " SELECT 'short', 'order.created', '{}', 'x' FROM generate_series(1, 5)");
    assert_int_equal(look(&world).arrived, 115);
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE event_id = 'short'");
    assert_int_equal(look(&world).arrived, 115);
    add_events(world.admin, 2);
    assert_int_equal(look(&world).arrived, 117);
    world_end(&world);
}

// A transaction that began before others and commits after them.
static void
test_late_arrivals(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    look(&world);
    PGconn *late = test_connect(world.conninfo);
    test_sql(late, "BEGIN");
    add_events(late, 1);
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message)"
                          " VALUES ('other', 'order.created', '{}', 'x')");
    assert_int_equal(look(&world).arrived, 11);
    test_sql(late, "COMMIT");
    assert_int_equal(look(&world).arrived, 12);
    let_a_minute_pass(&world);
    assert_int_equal(look(&world).arrived, 12);
    PQfinish(late);
    world_end(&world);
}

static void
test_arrivals_by_class(void **state)
{
    (void)state;
    struct world world;
    world_make_with_rules(&world, 5);
    look(&world);
    test_sql(
        world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, stack_trace)"
        " SELECT 'state', 'order.created', '{}', 'no state', 'java.lang.IllegalStateException: no state\n"
        "\tat com.shop.Order.place(Order.java:7)' FROM generate_series(1, 4)");
    test_sql(
        world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, retry_count)"
        " SELECT 'type-' || i, 'type.' || i, '{}', 'some words only', i FROM generate_series(1, 60) AS i");
    count_in_rollup(&world);
    let_a_minute_pass(&world);
    look(&world); // notes up to where ids are settled a minute later
    let_a_minute_pass(&world);
    struct watch_sums sums = look(&world);
    assert_int_equal(sums.arrival_count, 51);
    assert_int_equal(sum_of(sums.arrivals, sums.arrival_count), 64);
    bool has_class = false;
    bool has_other = false;
    for (size_t i = 0; i < sums.arrival_count; i++) {
        const struct watch_arrivals *of = &sums.arrivals[i];
        has_class |= strcmp(of->error_class, "java.lang.IllegalStateException") == 0 &&
                     strcmp(of->event_type, "order.created") == 0 && of->count == 4;
        has_other |= strcmp(of->error_class, "other") == 0 && of->count == 11;
    }
    assert_true(has_class);
    assert_true(has_other);
    // 0: the four; 1; 2; 3; 5: 4, 5; 10: 6 … 10; 20: 11 … 20; the rest
    static const int64_t wanted[] = {4, 1, 1, 1, 2, 5, 10, 40};
    assert_int_equal(sums.retries.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(sums.retries.counts[i], wanted[i]);
    assert_true(sums.retries.sum == 60.0 * 61 / 2);
    world_end(&world);
}

static void
test_statuses_and_resolution(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    test_sql(
        world.admin,
        "SET timezone = 'UTC'; UPDATE public.dlq_events SET status = 'RESOLVED', created_at ="
        " (now() AT TIME ZONE 'UTC') - interval '10 days',"
        " resolved_at = (now() AT TIME ZONE 'UTC') - interval '10 days' +"
        " CASE WHEN id <= 2 THEN interval '60 s' WHEN id <= 5 THEN interval '61 s' ELSE interval '2 days' END"
        " WHERE id <= 9; UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id = 10;"
        " UPDATE public.dlq_events SET status = 'PARKED' WHERE id = 11");
    struct watch_sums sums = look(&world);
    assert_int_equal(sums.statuses.pending, 29);
    assert_int_equal(sums.statuses.resolved, 9);
    assert_int_equal(sums.statuses.discarded, 1);
    assert_int_equal(sums.statuses.other, 1);
    assert_int_equal(sums.resolution.counts[0], 2); // up to and with 60 s
    assert_int_equal(sums.resolution.counts[1], 3);
    assert_int_equal(sums.resolution.counts[8], 4); // 3 days
    assert_true(sums.resolution.sum == 2 * 60 + 3 * 61 + 4 * 2 * 86400.0);

    // Nothing twice; a deleted one takes nothing away; one resolved a moment ago waits.
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE id <= 5; UPDATE public.dlq_events"
                          " SET status = 'RESOLVED', resolved_at = now() AT TIME ZONE 'UTC' WHERE id = 12");
    let_a_minute_pass(&world);
    sums = look(&world);
    assert_int_equal(sums.statuses.resolved, 5);
    assert_int_equal(sums.resolution.counts[0], 2);
    assert_true(sums.resolution.sum == 2 * 60 + 3 * 61 + 4 * 2 * 86400.0);
    test_sql(world.admin, "UPDATE redrive.watch_state SET resolved_to = resolved_to - interval '3 minutes';"
                          " UPDATE public.dlq_events SET resolved_at = resolved_at - interval '2 minutes',"
                          " created_at = resolved_at - interval '3 minutes' WHERE id = 12");
    let_a_minute_pass(&world);
    assert_int_equal(look(&world).resolution.counts[0], 3);
    world_end(&world);
}

static void
test_two_watchers(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    look(&world);
    PGconn *other = test_connect(world.conninfo);
    test_sql(other, "BEGIN; SELECT redrive.watch_look('0 s')"); // in the middle of its look
    add_events(world.admin, 5);
    assert_int_equal(look(&world).arrived, 10); // does not wait
    test_sql(other, "COMMIT");
    assert_works(watch_sums_look(world.store, 60 * US_PER_SECOND, &err)); // somebody looked a moment ago
    assert_int_equal(read_sums(&world).arrived, 10);
    assert_int_equal(look(&world).arrived, 15);
    // A clock that was set back does not end it.
    test_sql(world.admin, "UPDATE redrive.watch_state SET looked_at = now() + interval '1 day', seen_at = "
                          "now() + interval '1 day',"
                          " counted_at = now() + interval '1 day'");
    add_events(world.admin, 1);
    assert_works(watch_sums_look(world.store, 60 * US_PER_SECOND, &err));
    assert_int_equal(read_sums(&world).arrived, 16);
    PQfinish(other);
    world_end(&world);
}

static void
test_pending(void **state)
{
    (void)state;
    struct world world;
    world_make_with_rules(&world, 70);
    test_sql(
        world.admin,
        "UPDATE public.dlq_events SET created_at = '2001-02-03 04:05:06' WHERE id = 9;"
        " INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, stack_trace)"
        " SELECT 'g-' || i, 'type.' || i %% 55, '{}', 'error', 'com.shop.Error' || chr(65 + i / 26) || "
        "chr(65 + i %% 26) || E'Exception: error\\n\\tat com.shop.A.b(A.java:7)'"
        " FROM generate_series(0, 599) AS i");
    assert_false(look(&world).rollup.is_counted);
    count_in_rollup(&world);
    struct watch_sums sums = look(&world);
    assert_true(sums.rollup.is_counted);
    assert_int_equal(sums.pending.count, 670);
    assert_int_equal(sums.pending.group_count, WATCH_GROUPS);
    assert_int_equal(sums.pending.groups[0].pending, 70);
    assert_int_equal(sums.pending.groups[0].category, CATEGORY_TRANSIENT);
    assert_int_equal(sums.pending.by_category[CATEGORY_TRANSIENT], 70);
    int64_t in_groups = sums.pending.in_other_groups;
    for (size_t i = 0; i < sums.pending.group_count; i++)
        in_groups += sums.pending.groups[i].pending;
    assert_int_equal(in_groups, 670);
    int64_t in_categories = sums.pending.in_other_categories;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        in_categories += sums.pending.by_category[i];
    assert_int_equal(in_categories, 670);
    assert_true(sums.pending.in_other_categories > 0);
    assert_int_equal(sums.pending.type_count, WATCH_TYPES);
    int64_t in_types = sums.pending.in_other_types;
    for (size_t i = 0; i < sums.pending.type_count; i++)
        in_types += sums.pending.types[i].pending;
    assert_int_equal(in_types, 670);
    const char *oldest =
        "SELECT extract(epoch FROM min(e.created_at)::timestamp AT TIME ZONE i.zone)::bigint"
        " FROM public.dlq_events e, redrive.install i WHERE e.status = 'PENDING' GROUP BY i.zone";
    assert_int_equal(sums.pending.oldest_at / US_PER_SECOND, test_number(world.admin, oldest));
    world_end(&world);
}

static void
test_operations(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    apply_operation(&world, ACTION_DISCARD, 1, 5);
    make_operation(&world, world.store, ACTION_REPROCESS, 6, 8);
    struct watch_sums sums = look(&world);
    assert_int_equal(sums.operation_count, 2);
    assert_string_equal(sums.operations[0].action, "discard");
    assert_int_equal(sums.operations[0].done, 5);
    assert_int_equal(sums.operations[1].done, 0);
    assert_int_equal(sums.state_count, 2);
    assert_int_equal(sums.in_doubt, 0);
    assert_works(worker_sign(world.store, "host/1/1", true, "idle", 0, &err));
    assert_works(worker_sign(world.store, "host/2/1", false, "idle", 0, &err));
    sums = read_sums(&world);
    assert_int_equal(sums.workers, 2);
    assert_int_equal(sums.publishing_workers, 1);
    world_end(&world);
}

// The thread: it looks again and again, says when it cannot, and goes on when it can.
static void
test_watcher(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    struct watcher *watcher = watcher_start(&world.settings, US_PER_SECOND / 10, NULL);
    int good = 0;
    int failed = 0;
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND; good < 4 && clock_mono() < until;) {
        struct watch_look *made = watcher_take(watcher);
        if (!made) {
            clock_sleep(5000);
            continue;
        }
        good += made->is_good;
        failed += !made->is_good;
        if (made->is_good && good == 2)
            test_sql(world.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                  " WHERE pid <> pg_backend_pid() AND datname = current_database()");
        watch_look_destroy(made);
    }
    assert_int_equal(good, 4);
    assert_true(failed >= 1);
    watcher_stop(watcher);
    assert_works(store_reconnect(world.store, &err));
    world_end(&world);
}

// How far redrive ingest is behind, by topic: bounded, whoever reads it, and of two clusters together.
static void
test_ingest_lag(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1);
    assert_int_equal(look(&world).letters_count, 0);
    test_sql(world.admin, "INSERT INTO redrive.ingester (fence, cluster, host, pid, topics) VALUES (1, 'c', "
                          "'h', 1, '{a-dlq}')");
    test_sql(world.admin,
             "INSERT INTO redrive.ingest_position (cluster, topic, partition, next_offset, end_offset) VALUES"
             " ('c', 'a-dlq', 0, 10, 110), ('c', 'a-dlq', 1, NULL, 7), ('c', 'new-dlq', 0, NULL, NULL),"
             " ('c', 'both-dlq', 0, 5, 5), ('d', 'both-dlq', 0, 0, 500)");
    test_sql(world.admin, "INSERT INTO redrive.ingest_position (cluster, topic, partition, next_offset, "
                          "end_offset) SELECT 'c', 'few-' || n, 0, 0, 1 FROM generate_series(1, 60) AS n");
    struct watch_sums sums = look(&world);
    assert_int_equal(sums.letters_count, WATCH_TOPICS);
    assert_string_equal(sums.letters[0].topic, "both-dlq");
    assert_int_equal(sums.letters[0].behind, 500);
    assert_false(sums.letters[0].is_read);
    assert_string_equal(sums.letters[1].topic, "a-dlq");
    assert_int_equal(sums.letters[1].behind, 107);
    assert_true(sums.letters[1].is_read);
    assert_int_equal(sums.in_other_letters, 60 - (WATCH_TOPICS - 2));
    test_sql(world.admin, "DELETE FROM redrive.ingest_position WHERE topic LIKE 'few-%%'");
    test_sql(world.admin, "UPDATE redrive.ingester SET seen_at = seen_at - interval '16 s'");
    sums = look(&world);
    assert_int_equal(sums.letters_count, 3);
    assert_int_equal(sums.in_other_letters, 0);
    assert_false(sums.letters[1].is_read);
    assert_string_equal(sums.letters[2].topic, "new-dlq");
    assert_false(sums.letters[2].is_known);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrivals),          cmocka_unit_test(test_late_arrivals),
        cmocka_unit_test(test_arrivals_by_class), cmocka_unit_test(test_statuses_and_resolution),
        cmocka_unit_test(test_two_watchers),      cmocka_unit_test(test_pending),
        cmocka_unit_test(test_operations),        cmocka_unit_test(test_watcher),
        cmocka_unit_test(test_ingest_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
