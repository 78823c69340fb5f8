// What is read of the table: pages, columns as they are, analyses.
#include "world.h"

static bool
stop_at_once(void *context, const int64_t *ids, size_t count)
{
    (void)ids;
    *(size_t *)context += count;
    return count == 0; // nothing came yet
}

static bool
stop_waiting(void *context, const int64_t *ids, size_t count)
{
    (void)context;
    (void)ids;
    (void)count;
    return false;
}

static void
pages_are_read_by_key(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 25000);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = '2026-01-01 "
                          "10:00', resolved_by = 'ana' WHERE id <= 10;"
                          "UPDATE public.dlq_events SET status = 'DISCARDED', resolved_at = '2026-01-01 "
                          "11:00', resolved_by = 'bo' WHERE id = 11;"
                          "UPDATE public.dlq_events SET status = 'strange' WHERE id = 12; UPDATE "
                          "public.dlq_events SET status = NULL WHERE id = 13");
    int64_t pending, highest, at;
    assert_works(store_pending_count(world.store, &pending, &highest, &err));
    assert_int_equal(pending, 24987);
    assert_int_equal(highest, 25000);
    size_t count = 0;
    assert_works(store_pending_ids(world.store, count_ids, &count, &err));
    assert_int_equal(count, 24987);
    count = 0;
    assert_refused(store_pending_ids(world.store, stop_at_once, &count, &err), ERR_CANCELLED, "stopped");
    assert_int_equal(count, 10000);
    test_sql(world.admin, "BEGIN; LOCK TABLE public.dlq_events IN ACCESS EXCLUSIVE MODE");
    assert_refused(store_pending_ids(world.store, stop_waiting, NULL, &err), ERR_CANCELLED, "stopped");
    test_sql(world.admin, "ROLLBACK");
    char by[64];
    assert_works(store_last_closed(world.store, &at, by, &err));
    assert_string_equal(by, "bo");
    assert_int_equal(at, 1767265200 * US_PER_SECOND);

    struct event_page page;
    struct event_query query = {.fields = EVENT_NARROW, .statuses = 1u << EVENT_PENDING, .limit = 3};
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 3);
    assert_int_equal(page.events[0].id, 25000);
    event_page_release(&page);
    query.before_id = 16;
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 2);
    assert_int_equal(page.events[1].id, 14);
    event_page_release(&page);
    query = (struct event_query){.fields = EVENT_NARROW,
                                 .statuses = 1u << EVENT_OTHER | 1u << EVENT_DISCARDED,
                                 .limit = 50,
                                 .ascending = true};
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 3);
    assert_int_equal(page.events[0].status, EVENT_DISCARDED);
    assert_int_equal(page.events[1].status, EVENT_OTHER);
    assert_true(bytes_equal_text(page.events[1].status_text, "strange"));
    assert_false(bytes_present(page.events[2].status_text));
    event_page_release(&page);

    const int64_t wanted[] = {7, 99999, 3, 24999};
    query = (struct event_query){.fields = EVENT_NARROW | EVENT_ERROR, .ids = wanted, .id_count = 4};
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 3);
    assert_int_equal(page.events[0].id, 7);
    assert_int_equal(page.events[1].id, 3);
    assert_int_equal(page.events[2].id, 24999);
    assert_true(bytes_equal_text(page.events[1].error_message, "Connection refused: host-3"));
    event_page_release(&page);
    query.id_count = 0;
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 0);
    world_end(&world);
}

// A consumer gives its events the ids it likes: both ends of the type, and 0.
static void
any_id_is_met_once(void **state)
{
    (void)state;
    static const int64_t ids[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    enum { IDS = sizeof ids / sizeof *ids };
    struct world world;
    world_make(&world, 0);
    for (int i = 0; i < IDS; i++)
        test_sql(world.admin,
                 "INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message)"
                 " VALUES (%lld, 'e', 'x', '{}', 'x')",
                 (long long)ids[i]);
    for (int ascending = 0; ascending < 2; ascending++) {
        struct event_query query = {.fields = EVENT_NARROW, .limit = 1, .ascending = ascending};
        for (int i = 0; i <= IDS; i++) {
            struct event_page page;
            assert_works(store_events(world.store, &query, &page, &err));
            assert_int_equal(page.count, i < IDS);
            if (i < IDS) {
                assert_true(page.events[0].id == ids[ascending ? i : IDS - 1 - i]);
                *(ascending ? &query.after_id : &query.before_id) = page.events[0].id;
                *(ascending ? &query.has_after : &query.has_before) = true;
            }
            event_page_release(&page);
        }
    }
    world_end(&world);
}

static void
columns_come_as_they_are(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET created_at = '2026-07-01 12:00:00.123456', last_retry_at = "
             "'infinity', resolved_at = '-infinity',"
             " retry_count = NULL, kafka_offset = 9007199254740993, kafka_partition = NULL, source_id = NULL,"
             " error_message = 'Grüße, Welt: ' || repeat('ä', 100), stack_trace = NULL, correlation_id ="
             " '01234567-89ab-cdef-0123-456789abcdef', event_payload = '{\"n\": 18446744073709551615, \"t\": "
             "\"ü\"}' WHERE id = 1");
    const struct store_settings settings = {
        .conninfo = world.conninfo, .table = "public.dlq_events", .zone = "Europe/Berlin", .program = "test"};
    struct store *store = NULL;
    assert_works(store_open(&store, &settings, &err));
    struct event_page page;
    struct event_query query = {
        .fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD, .limit = 1, .cut = 16};
    assert_works(store_events(store, &query, &page, &err));
    const struct event *e = &page.events[0];
    assert_int_equal(e->created_wall - e->created_at, 7200 * US_PER_SECOND);
    assert_int_equal(e->created_at, 1782900000123456);
    assert_int_equal(e->retries.last_at, INT64_MAX);
    assert_true(e->closed.at < -1000000 * US_PER_SECOND && e->closed.at != TIME_ABSENT);
    assert_int_equal(e->retries.count, 0);
    assert_true(e->origin.has_offset);
    assert_int_equal(e->origin.offset, 9007199254740993);
    assert_false(e->origin.has_partition);
    assert_false(bytes_present(e->source_id));
    assert_true(bytes_equal_text(e->correlation_id, "01234567-89ab-cdef-0123-456789abcdef"));
    assert_true(bytes_equal_text(e->error_message, "Grüße, Welt: ")); // cut before the ä that would be split
    assert_false(bytes_present(e->stack_trace));
    assert_int_equal(e->payload.len, 16);
    assert_int_equal(e->payload_size, strlen("{\"n\": 18446744073709551615, \"t\": \"ü\"}"));
    event_page_release(&page);
    query.cut = 0;
    assert_works(store_events(store, &query, &page, &err));
    assert_true(bytes_equal_text(page.events[0].payload, "{\"n\": 18446744073709551615, \"t\": \"ü\"}"));
    assert_int_not_equal(page.events[0].group, 0);
    uint64_t group = page.events[0].group;
    event_page_release(&page);
    query = (struct event_query){.fields = EVENT_GROUP, .limit = 1, .cut = 5};
    assert_works(store_events(store, &query, &page, &err));
    assert_int_equal(page.events[0].group, group); // from the whole text, also where little is kept
    assert_false(bytes_present(page.events[0].error_message));
    assert_false(bytes_present(page.events[0].topic));
    event_page_release(&page);
    query.fields = EVENT_GROUP | EVENT_COUNTED;
    assert_works(store_events(store, &query, &page, &err));
    assert_int_equal(page.events[0].group, group);
    assert_true(bytes_equal_text(page.events[0].topic, "orders"));
    event_page_release(&page);
    store_close(store);
    world_end(&world);
}

static void
json_is_compared_by_value(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 2);
    test_sql(world.admin, "UPDATE public.dlq_events SET event_payload = '{\"a\": [1, 2.0], \"b\": null}'");
    const int64_t ids[] = {1, 2, 1, 2, 1, 99, 1, 2, 1};
    const struct bytes originals[] = {BYTES("{\"b\":null,\"a\":[1,2.0]}"),
                                      BYTES("{\"b\":null,\"a\":[2.0,1]}"),
                                      BYTES("not json"),
                                      BYTES("\xff\xfe"),
                                      BYTES_ABSENT,
                                      BYTES("{}"),
                                      BYTES(""),
                                      BYTES("{\"a\": [1, 2.00], \"b\": null} "),
                                      BYTES("\"\\u0000\"")};
    static const bool expected[] = {true, false, false, false, false, false, false, true, false};
    bool same[9];
    assert_works(store_same_json(world.store, ids, originals, 9, same, &err));
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(same[i], expected[i]);
    world_end(&world);
}

static void
five_analyses(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 70);
    test_sql(world.admin, "UPDATE public.dlq_events SET created_at = localtimestamp - interval '3 hours';"
                          "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = created_at + "
                          "interval '90 s' WHERE id <= 10;"
                          "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id = 11; UPDATE "
                          "public.dlq_events SET event_type = 'other',"
                          " created_at = localtimestamp - interval '8 days' WHERE id = 70; UPDATE "
                          "public.dlq_events SET status = 'odd' WHERE id = 12");
    struct stats stats;
    assert_works(stats_read(world.store, false, &world.arena, &stats, &err));
    assert_int_equal(stats.pending.pending, 58);
    assert_int_equal(stats.pending.resolved, 10);
    assert_int_equal(stats.pending.discarded, 1);
    assert_int_equal(stats.pending.other, 1);
    assert_true(stats.pending.newest_at - stats.pending.oldest_at > 7 * 86400 * US_PER_SECOND);
    assert_int_equal(stats.error_count, 7);
    assert_true(stats.errors[0].count >= stats.errors[6].count);
    assert_int_equal(stats.hour_count, 168);
    int64_t sum = 0;
    for (size_t i = 0; i < stats.hour_count; i++) {
        sum += stats.hours[i].count;
        if (i)
            assert_int_equal(stats.hours[i].hour - stats.hours[i - 1].hour, 3600 * US_PER_SECOND);
    }
    assert_int_equal(sum, 69);
    assert_int_equal(stats.hours[164].count, 69);
    assert_int_equal(stats.type_count, 2);
    assert_string_equal(stats.types[0].event_type, "order.created");
    assert_int_equal(stats.types[0].total, 69);
    assert_int_equal(stats.types[0].pending, 57);
    assert_int_equal(stats.types[0].resolved, 10);
    assert_int_equal(stats.resolution_count, 1);
    assert_true(stats.resolutions[0].mean_seconds == 90.0);
    test_sql(world.admin, "TRUNCATE public.dlq_events");
    assert_works(stats_read(world.store, false, &world.arena, &stats, &err));
    assert_int_equal(stats.pending.oldest_at, TIME_ABSENT);
    assert_int_equal(stats.hour_count, 168);
    world_end(&world);
}

// Rows that the index of the table's key gave to all sessions that have ended.
static int64_t
rows_by_key(struct world *world)
{
    return test_number(world->admin, "SELECT coalesce(idx_tup_read, 0) FROM pg_stat_user_indexes WHERE "
                                     "indexrelname = 'dlq_events_pkey'");
}

// A table that was filled a moment ago has no statistics. Its events are read by key all the same: those of
// the list one by one, those of a dense list as one range.
static void
ids_are_read_by_key_without_statistics(void **state)
{
    (void)state;
    enum { EVENTS = 20000, WANTED = 500 };
    struct world world;
    world_make(&world, 1);
    test_sql(world.admin,
             "ALTER TABLE dlq_events SET (autovacuum_enabled = off); TRUNCATE dlq_events; INSERT INTO "
             "dlq_events (id, "
             "event_id, event_type, source_table, source_id, event_payload, error_message) SELECT "
             "i, 'e' || i, 't', 's', i::text, '{}', 'x' FROM generate_series(1, %d) i",
             EVENTS);
    for (int step = 1; step <= 21; step += 20) {
        static int64_t ids[WANTED];
        for (int i = 0; i < WANTED; i++)
            ids[i] = 1 + (int64_t)i * step;
        struct store *store = open_store(world.conninfo);
        const struct event_query query = {.fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW,
                                          .ids = ids,
                                          .id_count = WANTED,
                                          .limit = WANTED};
        struct event_page page;
        int64_t before = rows_by_key(&world);
        assert_works(store_events(store, &query, &page, &err));
        assert_int_equal(page.count, WANTED);
        for (int i = 0; i < WANTED; i++)
            assert_int_equal(page.events[i].id, ids[i]);
        event_page_release(&page);
        store_close(store); // a session that ends tells what it read
        int64_t read = 0;
        for (int64_t end = clock_mono() + 30 * US_PER_SECOND; read < WANTED && clock_mono() < end;)
            read = rows_by_key(&world) - before;
        assert_in_range(read, WANTED, 2 * WANTED);
    }
    world_end(&world);
}

static void
assert_same_bytes(struct bytes a, struct bytes b)
{
    assert_int_equal(bytes_present(a), bytes_present(b));
    assert_true(bytes_equal(a, b));
}

// As far as a recipe can tell.
static void
assert_same_for_recipe(const struct event *a, const struct event *b)
{
    assert_int_equal(a->id, b->id);
    assert_same_bytes(a->event_type, b->event_type);
    assert_same_bytes(a->source_id, b->source_id);
    assert_same_bytes(a->topic, b->topic);
    assert_same_bytes(a->payload, b->payload);
    assert_int_equal(a->payload_size, b->payload_size);
    assert_int_equal(a->origin.has_partition, b->origin.has_partition);
    assert_int_equal(a->origin.partition, b->origin.partition);
    assert_int_equal(a->origin.has_offset, b->origin.has_offset);
    assert_int_equal(a->origin.offset, b->origin.offset);
    assert_int_equal(a->record.is_kept, b->record.is_kept);
    assert_same_bytes(a->record.key, b->record.key);
    assert_int_equal(a->known.revisions, b->known.revisions);
    assert_int_equal(a->known.correction.has_payload, b->known.correction.has_payload);
    assert_same_bytes(a->known.correction.topic, b->known.correction.topic);
}

static void
assert_same_event(const struct event *a, const struct event *b)
{
    assert_same_for_recipe(a, b);
    assert_same_bytes(a->event_id, b->event_id);
    assert_int_equal(a->created_at, b->created_at);
}

// Many events beside each other are read by another statement while redrive knows nothing of them. An event
// is the same by either, and a recipe, for which fewer columns are read, sees the same.
static void
an_event_is_the_same_among_many_and_alone(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    static const char *const known[] = {
        "",
        ("INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value) VALUES (300, 't', 0, "
         "1, 'k', '{\"a\": 1}')"),
        "INSERT INTO redrive.revision (dlq_id, no, payload, topic) VALUES (600, 1, '[]', 'other')",
        "DELETE FROM redrive.record"};
    struct world world;
    world_make(&world, EVENTS);
    test_sql(world.admin, "UPDATE dlq_events SET event_payload = 'null' WHERE id = 7");
    test_sql(world.admin, "DELETE FROM dlq_events WHERE id = 8");
    int64_t ids[EVENTS];
    for (int i = 0; i < EVENTS; i++)
        ids[i] = i + 1;
    for (size_t step = 0; step < sizeof known / sizeof known[0]; step++) {
        if (known[step][0])
            test_sql(world.admin, "%s", known[step]);
        struct event_query query = {.fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW,
                                    .ids = ids,
                                    .id_count = EVENTS,
                                    .limit = EVENTS};
        struct event_page page, edited, alone;
        assert_works(store_events(world.store, &query, &page, &err));
        assert_int_equal(page.count, EVENTS - 1);
        query.fields = EVENT_EDITED | EVENT_TYPED | EVENT_KEYED | EVENT_PLACED | EVENT_PAYLOAD | EVENT_RAW;
        assert_works(store_events(world.store, &query, &edited, &err));
        assert_int_equal(edited.count, page.count);
        for (size_t i = 0; i < page.count; i++)
            assert_same_for_recipe(&page.events[i], &edited.events[i]);
        event_page_release(&edited);
        query.fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW;
        for (size_t i = 0; i < page.count; i++) {
            query.ids = &page.events[i].id;
            query.id_count = query.limit = 1;
            assert_works(store_events(world.store, &query, &alone, &err));
            assert_same_event(&page.events[i], &alone.events[0]);
            event_page_release(&alone);
        }
        assert_int_equal(page.events[298].record.is_kept, step == 1 || step == 2);
        assert_int_equal(page.events[598].known.revisions, step >= 2);
        event_page_release(&page);
    }
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_the_same_among_many_and_alone),
        cmocka_unit_test(pages_are_read_by_key),
        cmocka_unit_test(ids_are_read_by_key_without_statistics),
        cmocka_unit_test(any_id_is_met_once),
        cmocka_unit_test(columns_come_as_they_are),
        cmocka_unit_test(json_is_compared_by_value),
        cmocka_unit_test(five_analyses),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
