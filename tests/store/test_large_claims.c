// Claims of large payloads: a claim measures what it takes, never all that it could take, so that it ends
// soon and an event that nobody can send does not keep the others.
#include "world.h"

#include "base/clock.h"

static int64_t
time_of(PGconn *conn, const char *sql)
{
    int64_t start = clock_mono();
    test_sql(conn, "%s", sql);
    return clock_mono() - start;
}

// `count` payloads of 1.76 MB; `body` is their content as SQL.
static void
add_tickets(PGconn *conn, const char *body, int count)
{
    test_sql(
        conn,
        "WITH ticket AS MATERIALIZED (SELECT jsonb_build_object('body', %s) AS j)"
        " INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, kafka_topic)"
        " SELECT 'ticket-' || i, 'ticket.opened', t.j, 'too large', 'tickets'"
        " FROM ticket t, generate_series(1, %d) AS i; ANALYZE public.dlq_events",
        body, count);
}

static void
finish(struct world *world, struct slot *slot, const struct claim *claim)
{
    assert_works(chunk_finish(world->store, slot, &claim->chunk, CHUNK_COMMITTED, "marker read back", &err));
}

static size_t
bytes_of_claim(const struct claim *claim)
{
    size_t bytes = 0;
    for (size_t i = 0; i < claim->count; i++)
        bytes += claim->items[i].event.payload.len;
    return bytes;
}

// Of these PostgreSQL keeps about half, and about a hundredth.
static const char dense[] = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 55000) AS i)";
static const char thin[] = "repeat('payload ', 220000)";

static void
measures_what_it_takes(void **state)
{
    (void)state;
    enum { TICKETS = 150 };
    const char *const bodies[] = {dense, thin};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        struct world world;
        world_make(&world, 0);
        add_tickets(world.admin, bodies[b], TICKETS);
        int64_t all =
            time_of(world.admin, "SELECT sum(octet_length(event_payload::text)) FROM public.dlq_events");
        int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, TICKETS);
        struct slot slot = acquire(&world, "w");
        int64_t least = INT64_MAX;
        for (int i = 0; i < 3; i++) {
            int64_t start = clock_mono();
            struct claim claim = next_claim(&world, &slot, no, 5000);
            int64_t took = clock_mono() - start;
            if (took < least)
                least = took;
            assert_int_equal(claim.count, 9);
            assert_true(bytes_of_claim(&claim) <= MANY_BYTES);
            finish(&world, &slot, &claim);
        }
        // The least of the three: a busy machine only makes one longer.
        if (least > all / 2)
            fail_msg("no claim of 9 tickets took less than %lld ms, and all %d take %lld ms to measure",
                     (long long)least / 1000, TICKETS, (long long)all / 1000);
        world_end(&world);
    }
}

// Large ones wait for the small ones around them: a chunk is within its limit, or has one event alone.
static void
small_ones_do_not_wait_for_large_ones(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    test_sql(
        world.admin,
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('payload ', 3000000))"
        " WHERE id IN (1, 2, 20, 40); UPDATE public.dlq_events SET kafka_partition = NULL");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 40);
    struct slot slot = acquire(&world, "w");
    size_t counts[] = {36, 1, 1, 1, 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct claim claim = next_claim(&world, &slot, no, 5000);
        assert_int_equal(claim.count, counts[i]);
        assert_true(claim.count == 1 || bytes_of_claim(&claim) <= MANY_BYTES);
        finish(&world, &slot, &claim);
    }
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    world_end(&world);
}

static void
claims(struct world *world, struct slot *slot, int64_t no, size_t limit, const char *expected)
{
    char got[400] = "";
    struct claim claim = next_claim(world, slot, no, limit);
    for (size_t i = 0; i < claim.count && i < 20; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%lld", i ? " " : "",
                 (long long)claim.items[i].event_id);
    assert_string_equal(got, expected);
    finish(world, slot, &claim);
}

// Not where that would change the order of a source partition.
static void
small_ones_keep_the_order_of_their_source(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 12);
    test_sql(
        world.admin,
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('payload ', 3000000))"
        " WHERE id IN (3, 5); UPDATE public.dlq_events SET kafka_topic = 't', kafka_partition = id %% 3,"
        " kafka_offset = id");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 12);
    struct slot slot = acquire(&world, "w");
    int place[13] = {0}, count = 0;
    for (int i = 0; i < 8 && get_operation(&world, no).state != OPERATION_DONE; i++) {
        struct claim claim = next_claim(&world, &slot, no, 4);
        for (size_t n = 0; n < claim.count; n++)
            place[claim.items[n].event_id] = ++count;
        finish(&world, &slot, &claim);
    }
    assert_int_equal(count, 12);
    for (int id = 1; id + 3 <= 12; id++)
        if (place[id] > place[id + 3])
            fail_msg("%d of partition %d was sent after %d", id, id % 3, id + 3);
    assert_true(place[3] > 4); // passed by other partitions
    world_end(&world);
}

// A rate, or failures, make chunks small: then too.
static void
small_ones_pass_in_small_chunks(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    test_sql(
        world.admin,
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('payload ', 3000000))"
        " WHERE id < 4; UPDATE public.dlq_events SET kafka_partition = NULL");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 5);
    struct slot slot = acquire(&world, "w");
    claims(&world, &slot, no, 1, "4");
    claims(&world, &slot, no, 1, "5");
    claims(&world, &slot, no, 1, "1");
    claims(&world, &slot, no, 5, "2");
    claims(&world, &slot, no, 5, "3");
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    world_end(&world);
}

// Behind more large ones than a claim looks at.
static void
small_ones_pass_a_thousand(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    add_tickets(world.admin, thin, 1000);
    add_events(world.admin, 200);
    test_sql(world.admin, "UPDATE public.dlq_events SET kafka_partition = NULL");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 1200);
    struct slot slot = acquire(&world, "w");
    struct claim claim = next_claim(&world, &slot, no, 5000);
    assert_int_equal(claim.count, 200);
    assert_int_equal(claim.items[0].event_id, 1001);
    finish(&world, &slot, &claim);
    claim = next_claim(&world, &slot, no, 5000);
    assert_int_equal(claim.count, 9);
    finish(&world, &slot, &claim);
    world_end(&world);
}

// One that PostgreSQL itself cannot return is refused with its words, also among large ones and in a batch.
static void
unreadable_ones_are_refused_alone(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1200);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET kafka_partition = NULL;"
             "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('payload ', 20000))"
             " WHERE id BETWEEN 100 AND 110;"
             "UPDATE public.dlq_events SET event_payload = (SELECT jsonb_agg(1e131071) FROM"
             " generate_series(1, 10000)) WHERE id IN (102, 107)");
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 1200);
    struct slot slot = acquire(&world, "w");
    for (int i = 0; i < 10; i++) {
        struct claim claim = next_claim(&world, &slot, no, 5000);
        for (size_t n = 0; n < claim.count; n++)
            assert_true(claim.items[n].event_id != 102 && claim.items[n].event_id != 107);
        if (claim.count)
            finish(&world, &slot, &claim);
    }
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, 1198);
    assert_int_equal(operation.refused, 2);
    const char *why = test_text(world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 107");
    if (!strstr(why, "the payload cannot be read: "))
        fail_msg("%s", why);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_what_it_takes),
        cmocka_unit_test(small_ones_do_not_wait_for_large_ones),
        cmocka_unit_test(small_ones_keep_the_order_of_their_source),
        cmocka_unit_test(small_ones_pass_in_small_chunks),
        cmocka_unit_test(small_ones_pass_a_thousand),
        cmocka_unit_test(unreadable_ones_are_refused_alone),
    };
    return cmocka_run_group_tests_name("large claims", tests, NULL, NULL);
}
