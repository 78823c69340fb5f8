// A large payload is read in slices, and all of them are of one moment (store/events/payload.c).
#include "store/events/payload.h"
#include "store/events/revisions.h"
#include "world.h"

enum { LARGE = 3 * PAYLOAD_SLICE + 17 };

// Event 1 with a text of LARGE bytes as the JSON of its payload, event 2 with the bytes of a record.
static void
begin_large(struct world *world)
{
    world_make(world, 10);
    char sql[600];
    snprintf(
        sql, sizeof sql,
        "UPDATE dlq_events SET event_payload = to_jsonb(repeat('xyz', 1000000)::varchar(%d)) WHERE id = 1;"
        "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value) VALUES (2, "
        "'orders.events', 0, 2, 'k', substring(convert_to(repeat('0123456789', 100000), 'UTF8') FOR %d))",
        LARGE - 2, LARGE);
    test_sql(world->admin, "%s", sql);
}

static struct event
read_beginning(struct world *world, int64_t id)
{
    struct event_page page = {0};
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_PAYLOAD | EVENT_RAW | EVENT_KNOWN,
                                      .ids = &id,
                                      .id_count = 1,
                                      .payload_cut = PAYLOAD_SLICE};
    assert_works(store_events(world->store, &query, &page, &err));
    assert_int_equal(page.count, 1);
    struct event event = page.events[0];
    arena_adopt(&world->arena, &page.arena);
    return event;
}

static void
all_slices_arrive(void **state)
{
    (void)state;
    struct world world;
    begin_large(&world);
    for (int64_t id = 1; id <= 2; id++) {
        struct event event = read_beginning(&world, id);
        assert_int_equal(event.payload.len, PAYLOAD_SLICE);
        assert_int_equal(event.payload_size, LARGE);
        struct event part = event;
        assert_works(payload_complete(world.store, SIZE_MAX, &world.arena, &event, &err));
        assert_int_equal(event.payload.len, LARGE);
        for (size_t i = 0; i < LARGE; i++)
            if (event.payload.data[i] != (id == 2                    ? "0123456789"[i % 10]
                                          : i == 0 || i == LARGE - 1 ? '"'
                                                                     : "xyz"[(i - 1) % 3]))
                fail_msg("byte %zu of event %d", i, (int)id);
        assert_works(payload_complete(world.store, PAYLOAD_SLICE + 5, &world.arena, &part, &err));
        assert_int_equal(part.payload.len, PAYLOAD_SLICE + 5);
        assert_int_equal(part.payload_size, LARGE);
        assert_memory_equal(part.payload.data, event.payload.data, part.payload.len);
    }
    struct event small = read_beginning(&world, 3);
    const char *before = small.payload.data;
    assert_works(payload_complete(world.store, SIZE_MAX, &world.arena, &small, &err));
    assert_ptr_equal(small.payload.data, before);
    world_end(&world);
}

// The rest never belongs to another payload than the beginning.
static void
another_payload_is_told(void **state)
{
    (void)state;
    struct world world;
    begin_large(&world);
    struct event first = read_beginning(&world, 1), second = read_beginning(&world, 2);
    test_sql(world.admin, "UPDATE dlq_events SET event_payload = to_jsonb('y' || substr(event_payload #>> "
                          "'{}', 2)) WHERE id = 1");
    assert_refused(payload_complete(world.store, SIZE_MAX, &world.arena, &first, &err), ERR_CONFLICT,
                   "open it again");
    struct event same = read_beginning(&world, 2);
    const struct correction correction = {.has_payload = true, .payload = BYTES("{}")};
    int32_t no;
    assert_works(event_correct(world.store, 2, 0, &correction, "INC-7", &no, &err));
    assert_refused(payload_complete(world.store, SIZE_MAX, &world.arena, &second, &err), ERR_CONFLICT,
                   "open it again");
    test_sql(world.admin, "DELETE FROM dlq_events WHERE id = 2");
    assert_refused(payload_complete(world.store, SIZE_MAX, &world.arena, &same, &err), ERR_CONFLICT,
                   "open it again");
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_slices_arrive),
        cmocka_unit_test(another_payload_is_told),
    };
    return cmocka_run_group_tests_name("payload", tests, NULL, NULL);
}
