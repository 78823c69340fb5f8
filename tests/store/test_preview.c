// What the dialog says beforehand: the same, whichever way it is found out.
#include "base/alloc.h"
#include "store/events/preview_ahead.h"
#include "tests/lib/forecast.h"
#include "world.h"

// Every second id from 1 on, times `scale` percent: close together, or so far apart that each is looked up.
static int64_t *
odd_ids(size_t count, int64_t scale)
{
    int64_t *ids = alloc_array(count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = (2 * (int64_t)i + 1) * scale / 100;
    return ids;
}

static struct preview
look(struct world *world, enum operation_action action, const int64_t *ids, size_t count)
{
    const struct preview_query query = {.action = action, .ids = ids, .count = count};
    struct preview preview;
    assert_works(look_ahead(world->store, &query, &world->arena, &preview, &err));
    assert_int_equal(preview.known, preview_parts(action));
    return preview;
}

static void
check_counts(int64_t scale, size_t count)
{
    struct world world;
    world_make(&world, 0);
    test_sql(
        world.admin,
        "INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic)"
        " SELECT n * %d, 'e' || n, 'x', '{}', 'x', CASE WHEN n %% 1000 = 1 THEN 'orders.dlq'"
        "        WHEN n %% 1000 = 3 THEN NULL ELSE 'orders' END FROM generate_series(1, %d) AS n",
        (int)scale, (int)count * 2);
    int64_t *ids = odd_ids(count, 100 * scale);
    // Ten in an operation, of which somebody closes three; five that are closed, two that are gone; and
    // neighbours that are not asked for, in every state.
    const int64_t live[] = {11 * scale, 13 * scale, 15 * scale, 17 * scale, 19 * scale, 21 * scale,
                            23 * scale, 25 * scale, 27 * scale, 29 * scale, 30 * scale};
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = live, .count = 11, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no;
    assert_works(operation_create(world.store, &request, NULL, NULL, &no, &err));
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id / %d IN (11, 13, 15, 41, 43, 45, 47, "
             "49, 50);"
             "DELETE FROM public.dlq_events WHERE id / %d IN (51, 53, 54);"
             "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\")"
             " SELECT n * %d, 't', 0, n FROM unnest('{61, 62, 63, 64, 65}'::bigint[]) AS n;",
             (int)scale, (int)scale, (int)scale);
    struct preview preview = look(&world, ACTION_REPROCESS, ids, count);
    assert_int_equal(preview.raw, 3);
    assert_int_equal(preview.revised, 0);
    // 63 was corrected; 65 was too, but its newest revision leaves the payload as it was received.
    test_sql(
        world.admin,
        "INSERT INTO redrive.revision (dlq_id, no, payload) SELECT (n / 10) * %d, n %% 10, CASE WHEN n <> "
        "652 THEN '{}'::bytea END FROM unnest('{631, 632, 651, 652, 671}'::bigint[]) AS n",
        (int)scale);

    preview = look(&world, ACTION_REPROCESS, ids, count);
    assert_int_equal(preview.busy, 10);
    assert_int_equal(preview.closed, 7);
    assert_int_equal(preview.open, (int64_t)count - 17);
    assert_int_equal(preview.raw, 2);
    assert_int_equal(preview.revised, 2);
    assert_int_equal(preview.quarantine.events, 0);
    char expected[64];
    snprintf(expected, sizeof expected, "postgres's operation %lld", (long long)no);
    assert_string_equal(preview.busy_with, expected);
    // By topic, those that are acted on: from a dead letter queue to the topic of its name, to no topic
    // nothing.
    int64_t absent = (int64_t)(count * 2 + 996) / 1000;
    assert_int_equal(preview.topic_count, 2);
    assert_string_equal(preview.topics[0].topic, "orders");
    assert_null(preview.topics[0].refusal);
    assert_non_null(preview.topics[0].why);
    assert_int_equal(preview.topics[0].count, (int64_t)count - 17 - absent);
    assert_null(preview.topics[1].topic);
    assert_non_null(preview.topics[1].refusal);
    assert_int_equal(preview.topics[1].count, absent);
    assert_int_equal(preview.refused.events, absent);

    // Two of those whose newest revision names another topic; neighbours, and one that named it once.
    test_sql(
        world.admin,
        "INSERT INTO redrive.revision (dlq_id, no, topic) VALUES (101 * %d, 1, 'fixed'), (103 * %d, 1, NULL),"
        " (103 * %d, 2, 'fixed'), (105 * %d, 1, 'fixed'), (105 * %d, 2, NULL), (102 * %d, 1, 'fixed'),"
        " (41 * %d, 1, 'fixed')",
        (int)scale, (int)scale, (int)scale, (int)scale, (int)scale, (int)scale, (int)scale);
    preview = look(&world, ACTION_REPROCESS, ids, count);
    assert_string_equal(preview.topics[0].topic, "orders");
    assert_int_equal(preview.topics[0].count, (int64_t)count - 17 - absent - 2);
    int64_t fixed = 0;
    for (size_t i = 0; i < preview.topic_count; i++)
        if (preview.topics[i].topic && strcmp(preview.topics[i].topic, "fixed") == 0)
            fixed = preview.topics[i].count;
    assert_int_equal(fixed, 2);

    test_sql(world.admin, "DELETE FROM redrive.record");
    preview = look(&world, ACTION_REPROCESS, ids, count);
    assert_int_equal(preview.raw, 0);
    assert_int_equal(preview.revised, 2);
    preview = look(&world, ACTION_DISCARD, ids, count);
    assert_int_equal(preview.open, (int64_t)count - 17);
    preview = look(&world, ACTION_RESTORE, ids, count);
    assert_int_equal(preview.open, 0);
    assert_int_equal(preview.busy, 10);
    assert_int_equal(preview.closed, (int64_t)count - 10);
    free(ids);
    world_end(&world);
}

static void
counts_many_close_together(void **state)
{
    (void)state;
    check_counts(1, 21000);
}

static void
counts_many_far_apart(void **state)
{
    (void)state;
    check_counts(1000, 21000);
}

static void
counts_few(void **state)
{
    (void)state;
    check_counts(1, 500);
}

// Each event has a newer one of its key beside it that is not asked for, but for 50 that are alone with
// theirs; of these one has the key of the last, which is asked for too. Two keys have twenty that are asked
// for: what is newer of the first is among them or discarded, of the second the newest of all is resolved.
static void
risks_make(struct world *world, int64_t scale, size_t count, const char *table)
{
    world_make(world, 0);
    test_sql(
        world->admin,
        "INSERT INTO public.dlq_events (id, event_id, event_type, source_id, event_payload, error_message,"
        " kafka_topic, status, created_at)"
        // Of the newer ones 50 are resolved, 30 discarded, 20 the same event come back, 10 of another topic,
        // 5 older after all, one a twin.
        " SELECT n::bigint * %d / 100, CASE WHEN n BETWEEN 161 AND 200 THEN 'back' || (n + 1) / 2"
        "        WHEN n IN (301, 303, 305, 306) THEN 'twin' ELSE 'e' || n END, 'x',"
        "        'k' || CASE WHEN n IN (401, %d) THEN 0 WHEN n BETWEEN 401 AND 500 THEN n + 10000000 ELSE (n "
        "+ 1) / 2 END, '{}', 'x',"
        "        CASE WHEN n BETWEEN 201 AND 220 AND n %% 2 = 0 THEN NULL ELSE 'orders' END,"
        "        CASE WHEN n %% 2 = 1 OR n > 160 THEN 'PENDING' WHEN n <= 100 THEN 'RESOLVED' ELSE "
        "'DISCARDED' END,"
        "        timestamp '2026-01-01' + (n + CASE WHEN n BETWEEN 221 AND 230 AND n %% 2 = 0 THEN -100 ELSE "
        "0 END)"
        "        * interval '1 s' FROM generate_series(1, %d) AS n;"
        "UPDATE public.dlq_events SET source_id = 'crowd' || n / 100, status = CASE WHEN n = 840 THEN "
        "'RESOLVED'"
        "        WHEN n < 800 AND n %% 2 = 0 THEN 'DISCARDED' ELSE 'PENDING' END"
        "   FROM generate_series(701, 840) AS n WHERE event_id = 'e' || n AND (n <= 740 OR n > 800); %s",
        (int)scale, (int)count * 2 - 1, (int)count * 2, table);
}

static void
assert_risks(const struct preview *preview, size_t count)
{
    assert_int_equal(preview->overtaken.events, (int64_t)count - 30 - 20 - 10 - 5 - 1 - 51 - 20);
    assert_int_equal(preview->overtaken.resolved, 50 + 20);
    assert_int_equal(preview->doubled, 3);
}

static void
check_risks(int64_t scale, size_t count, const char *table)
{
    struct world world;
    risks_make(&world, scale, count, table);
    int64_t *ids = odd_ids(count, scale);
    struct preview preview = look(&world, ACTION_REPROCESS, ids, count);
    assert_int_equal(preview.open, (int64_t)count);
    assert_risks(&preview, count);
    free(ids);
    world_end(&world);
}

static const char analyzed[] = "ANALYZE public.dlq_events";

static void
finds_the_risks_of_many_close_together(void **state)
{
    (void)state;
    check_risks(100, 21000, analyzed);
}

static void
finds_the_risks_of_many_with_others_between(void **state)
{
    (void)state;
    check_risks(125, 21000, analyzed);
}

static void
finds_the_risks_of_many_far_apart(void **state)
{
    (void)state;
    check_risks(100000, 21000, analyzed);
}

// Keys cannot be looked up, or have many events: they are looked for in one pass.
static void
finds_the_risks_of_many_without_an_index_on_keys(void **state)
{
    (void)state;
    check_risks(500, 21000, "DROP INDEX public.dlq_events_source_id_idx; ANALYZE public.dlq_events");
}

static void
finds_the_risks_of_many_before_an_analyze(void **state)
{
    (void)state;
    check_risks(500, 21000, "SELECT 1");
}

// A guess of the events that is read over a connection of its own.
static struct preview_ahead *
guess(const struct world *world, const int64_t *ids, size_t count)
{
    struct preview_ahead *ahead = preview_ahead_create();
    struct store *store;
    assert_works(store_open(&store, &world->settings, &err));
    assert_true(preview_ahead_begin(ahead, store, ids, count));
    preview_ahead_read(ahead, store);
    return ahead;
}

static struct preview
look_with(struct world *world, struct preview_ahead *ahead, const int64_t *ids, size_t count)
{
    const struct preview_query query = {
        .action = ACTION_REPROCESS, .ids = ids, .count = count, .ahead = ahead};
    struct preview preview;
    assert_works(look_ahead(world->store, &query, &world->arena, &preview, &err));
    return preview;
}

enum { GUESSED = 26000, SCALE = 100000 };

static void
reads_ahead_what_was_guessed(void **state)
{
    (void)state;
    struct world world;
    risks_make(&world, SCALE, GUESSED, analyzed);
    int64_t *ids = odd_ids(GUESSED, SCALE);
    struct preview_ahead *ahead = guess(&world, ids, GUESSED);
    assert_true(preview_ahead_is_of_use(ahead, ids, GUESSED));
    // Nothing is read again.
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id = %lld",
             (long long)ids[GUESSED - 1]);
    struct preview preview = look_with(&world, ahead, ids, GUESSED);
    assert_int_equal(preview.open, GUESSED);
    assert_risks(&preview, GUESSED);
    assert_int_equal(preview.topic_count, 1);
    assert_int_equal(preview.topics[0].count, GUESSED);
    // Once.
    preview = look_with(&world, ahead, ids, GUESSED);
    assert_int_equal(preview.open, GUESSED - 1);
    assert_int_equal(preview.closed, 1);
    preview_ahead_destroy(ahead);
    free(ids);
    world_end(&world);
}

// Some that were guessed are not chosen, some that are chosen were not guessed: their parts are read again.
static void
reads_again_what_was_guessed_wrong(void **state)
{
    (void)state;
    struct world world;
    risks_make(&world, SCALE, GUESSED, analyzed);
    int64_t *ids = odd_ids(GUESSED, SCALE), *guessed = odd_ids(GUESSED, SCALE);
    const int64_t neighbour = 2 * (int64_t)SCALE / 100;
    guessed[0] -= 1;                  // no event at all
    guessed[7000] += neighbour / 2;   // not chosen
    size_t count = GUESSED - 100 - 1; // arrivals at the end, and one that was closed and is open again
    memmove(guessed + 12000, guessed + 12001, (GUESSED - 12001) * sizeof *guessed);
    struct preview_ahead *ahead = guess(&world, guessed, count);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id IN (%lld, %lld, %lld, %lld)",
             (long long)ids[1], (long long)ids[7001], (long long)ids[17000], (long long)ids[GUESSED - 1]);
    struct preview preview = look_with(&world, ahead, ids, GUESSED);
    assert_int_equal(preview.open, GUESSED - 3);
    assert_int_equal(preview.closed, 3);
    preview_ahead_destroy(ahead);

    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (%lld, %lld, %lld, %lld)",
             (long long)ids[1], (long long)ids[7001], (long long)ids[17000], (long long)ids[GUESSED - 1]);
    ahead = guess(&world, guessed, count);
    preview = look_with(&world, ahead, ids, GUESSED);
    assert_int_equal(preview.open, GUESSED);
    assert_risks(&preview, GUESSED);
    preview_ahead_destroy(ahead);
    free(guessed);
    free(ids);
    world_end(&world);
}

static void
reads_everything_after_a_useless_guess(void **state)
{
    (void)state;
    struct world world;
    risks_make(&world, SCALE, GUESSED, analyzed);
    int64_t *ids = odd_ids(GUESSED, SCALE), *guessed = odd_ids(GUESSED, SCALE);
    for (size_t i = 0; i < GUESSED; i++)
        guessed[i]++;
    struct preview_ahead *ahead = guess(&world, guessed, GUESSED);
    assert_false(preview_ahead_is_of_use(ahead, ids, GUESSED));
    struct preview preview = look_with(&world, ahead, ids, GUESSED);
    assert_int_equal(preview.open, GUESSED);
    assert_risks(&preview, GUESSED);
    preview_ahead_destroy(ahead);

    ahead = preview_ahead_create(); // none was made in time
    assert_false(preview_ahead_is_of_use(ahead, ids, GUESSED));
    preview = look_with(&world, ahead, ids, GUESSED);
    assert_risks(&preview, GUESSED);
    preview_ahead_destroy(ahead);
    free(guessed);
    free(ids);
    world_end(&world);
}

static void
finds_the_risks_of_few(void **state)
{
    (void)state;
    check_risks(100, 500, analyzed);
}

// Those that have to be looked at one by one: the largest first, at most 2,000. The payload of one in `every`
// is large. corrected: an event, whose payload somebody made the largest of all; 0: none.
static void
check_large(int64_t scale, size_t count, int every, int64_t corrected)
{
    enum { MOST = 2000 };
    struct world world;
    world_make(&world, 0);
    test_sql(
        world.admin,
        "INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic,"
        "  status)"
        " SELECT n * %d, 'e' || n, 'x', CASE WHEN n %% %d = 1 THEN (SELECT jsonb_agg(md5(n || ' ' || i))"
        "    FROM generate_series(1, 80 + n / 1000) AS i) ELSE '{}' END, 'x',"
        "   CASE WHEN n %% 1000 = 3 THEN 'orders.dlq' WHEN n %% 1000 = 5 THEN NULL ELSE 'orders' END,"
        "   CASE WHEN n %% 700 = 1 THEN 'RESOLVED' ELSE 'PENDING' END FROM generate_series(1, %d) AS n",
        (int)scale, every, (int)count * 2);
    if (corrected)
        test_sql(world.admin,
                 "INSERT INTO redrive.revision (dlq_id, no, payload, reason)"
                 " VALUES (%lld, 1, convert_to(repeat('x', 100000), 'UTF8'), 'by hand')",
                 (long long)corrected);
    int64_t *ids = odd_ids(count, 100 * scale), *large, more;
    struct preview_query query = {.action = ACTION_REPROCESS, .ids = ids, .count = count};
    struct preview_rows *rows;
    const char *topics[] = {"orders.dlq"};
    const struct preview_large wanted = {
        .larger = 1500, .topics = topics, .topic_count = 1, .has_none = true};
    size_t found;
    assert_works(preview_rows_read(world.store, &query, &rows, &err));
    assert_int_equal(rows != NULL, scale > 1);
    query.rows = rows;
    assert_works(operation_large(world.store, &query, &wanted, &world.arena, &large, &found, &more, &err));
    struct strbuf list = {0};
    for (size_t i = 0; i < found; i++)
        strbuf_printf(&list, "%s%lld", i ? "," : "", (long long)large[i]);
    test_sql(world.admin,
             "CREATE TABLE public.large AS SELECT e.id, greatest(pg_column_size(e.event_payload),"
             "   (SELECT max(octet_length(r.payload)) FROM redrive.revision r WHERE r.dlq_id = e.id)) AS size"
             "  FROM public.dlq_events e WHERE e.status = 'PENDING' AND e.id / %d %% 2 = 1"
             "   AND (pg_column_size(e.event_payload) > 1500 OR e.kafka_topic IS DISTINCT FROM 'orders'"
             "    OR EXISTS (SELECT FROM redrive.revision r WHERE r.dlq_id = e.id))",
             (int)scale);
    int64_t all = test_number(world.admin, "SELECT count(*) FROM public.large");
    assert_int_equal(more, all > MOST ? all - MOST : 0);
    static const char truth[] = "SELECT string_agg(id::text, ',' ORDER BY size DESC, id) FROM"
                                " (SELECT * FROM public.large ORDER BY size DESC, id LIMIT 2000) AS largest";
    assert_string_equal(strbuf_text(&list), test_text(world.admin, truth));
    strbuf_release(&list);
    preview_rows_destroy(rows);
    free(ids);
    world_end(&world);
}

static void
lists_the_large_close_together(void **state)
{
    (void)state;
    check_large(1, 21000, 100, 0);
}

static void
lists_the_large_far_apart(void **state)
{
    (void)state;
    check_large(1000, 21000, 100, 0);
}

static void
lists_only_the_largest_of_many(void **state)
{
    (void)state;
    check_large(1000, 21000, 10, 0);
}

// A corrected payload counts with its own size.
static void
lists_the_large_of_corrected_events(void **state)
{
    (void)state;
    check_large(1000, 21000, 100, 7000);
}

// Many ids that are as far apart as ids can be.
static void
ids_of_both_ends_are_looked_up(void **state)
{
    (void)state;
    enum { IDS = 21000 };
    struct world world;
    world_make(&world, IDS);
    test_sql(world.admin, "UPDATE public.dlq_events SET id = -9223372036854775808 WHERE id = 1;"
                          "UPDATE public.dlq_events SET id = 9223372036854775807 WHERE id = 2");
    int64_t *ids = alloc_array(IDS, sizeof *ids);
    ids[0] = INT64_MIN;
    for (int i = 1; i < IDS - 1; i++)
        ids[i] = i + 2;
    ids[IDS - 1] = INT64_MAX;
    struct preview preview = look(&world, ACTION_REPROCESS, ids, IDS);
    assert_int_equal(preview.open, IDS);
    free(ids);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_both_ends_are_looked_up),
        cmocka_unit_test(counts_many_close_together),
        cmocka_unit_test(counts_many_far_apart),
        cmocka_unit_test(counts_few),
        cmocka_unit_test(finds_the_risks_of_many_close_together),
        cmocka_unit_test(finds_the_risks_of_many_with_others_between),
        cmocka_unit_test(finds_the_risks_of_many_far_apart),
        cmocka_unit_test(finds_the_risks_of_many_without_an_index_on_keys),
        cmocka_unit_test(finds_the_risks_of_many_before_an_analyze),
        cmocka_unit_test(finds_the_risks_of_few),
        cmocka_unit_test(reads_ahead_what_was_guessed),
        cmocka_unit_test(reads_again_what_was_guessed_wrong),
        cmocka_unit_test(reads_everything_after_a_useless_guess),
        cmocka_unit_test(lists_the_large_close_together),
        cmocka_unit_test(lists_the_large_far_apart),
        cmocka_unit_test(lists_only_the_largest_of_many),
        cmocka_unit_test(lists_the_large_of_corrected_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
