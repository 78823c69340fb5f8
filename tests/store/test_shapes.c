// The shapes that a dry run compares results with: learnt from other events of the type, once, of a fixed
// size.
#include "correct/correct.h"
#include "correct/shapes.h"
#include "world.h"

// 3,000 events of three types; of the first 100 the amount is text.
static void
begin_shapes(struct world *world)
{
    world_make(world, 3000);
    test_sql(
        world->admin,
        "UPDATE dlq_events SET event_type = CASE WHEN id <= 2950 THEN 'order' WHEN id <= 2990 THEN 'few' "
        "ELSE 'fewer' END, event_payload = jsonb_build_object('id', id, 'amount', CASE WHEN id <= 100 "
        "THEN to_jsonb(id::text) ELSE to_jsonb(id) END)");
}

static struct correct_tally
dry_run(struct world *world, const char *recipe, const int64_t *ids, size_t count)
{
    struct corrector *corrector;
    struct correct_tally tally = {0};
    const struct correct_limits limits = {.jq_time = US_PER_SECOND, .jq_memory = 1 << 26};
    assert_works(corrector_create(&corrector, "recipe", bytes_of(recipe), &limits, &err));
    const struct correct_reading reading = {.store = world->store, .ids = ids, .count = count};
    assert_works(correct_dry_run(corrector, &reading, NULL, NULL, &tally, &err));
    corrector_destroy(corrector);
    return tally;
}

static void
results_that_depart_are_counted(void **state)
{
    (void)state;
    struct world world;
    static int64_t ids[3000];
    for (int i = 0; i < 3000; i++)
        ids[i] = i + 1;
    begin_shapes(&world);
    // Mended, and left as wrong as it was.
    struct correct_tally tally = dry_run(&world, "to-number $.amount", ids, 100);
    assert_int_equal(tally.counts[CORRECT_CHANGED], 100);
    assert_int_equal(tally.departs, 0);
    tally = dry_run(&world, "set $.id 7", ids, 100);
    assert_int_equal(tally.counts[CORRECT_CHANGED], 99);
    assert_int_equal(tally.departs, 99);
    tally = dry_run(&world, "to-text $.amount", ids + 100, 100);
    assert_int_equal(tally.departs, 100);
    tally = dry_run(&world, "remove $.amount", ids + 2000, 100);
    assert_int_equal(tally.departs, 100);
    // An event that would not change is none, whatever it is like.
    tally = dry_run(&world, "to-text $.amount", ids, 100);
    assert_int_equal(tally.counts[CORRECT_UNCHANGED], 100);
    assert_int_equal(tally.departs, 0);
    // Nothing is left to learn from.
    tally = dry_run(&world, "to-text $.amount", ids, 3000);
    assert_int_equal(tally.counts[CORRECT_CHANGED], 2900);
    assert_int_equal(tally.departs, 0);
    world_end(&world);
}

static bool
skips_none(const void *context, const struct event *event)
{
    (void)event;
    size_t *looked_at = *(size_t *const *)context;
    ++*looked_at;
    return false;
}

static void
the_sample_has_a_fixed_size(void **state)
{
    (void)state;
    struct world world;
    struct shape *shape;
    size_t looked_at = 0;
    size_t *const counted = &looked_at;
    begin_shapes(&world);
    assert_works(shape_learn(world.store, BYTES("order"), skips_none, &counted, &shape, &err));
    assert_int_equal(shape_events(shape), SHAPE_SAMPLE);
    assert_int_equal(looked_at, SHAPE_SAMPLE);
    shape_destroy(shape);
    assert_works(shape_learn(world.store, BYTES("nothing"), skips_none, &counted, &shape, &err));
    assert_int_equal(shape_events(shape), 0);
    shape_destroy(shape);
    world_end(&world);
}

static bool
skips_newest(const void *context, const struct event *event)
{
    return event->id > *(const int64_t *)context;
}

// Those that are left out are not read: their payloads would fill the sample.
static void
large_payloads_that_are_left_out_cost_nothing(void **state)
{
    (void)state;
    struct world world;
    struct shape *shape;
    const int64_t last = 2900;
    begin_shapes(&world);
    test_sql(world.admin, "UPDATE dlq_events SET event_payload = jsonb_build_object('amount', 1, 'note', "
                          "repeat('x', 400000)) WHERE id BETWEEN 2901 AND 2950");
    assert_works(shape_learn(world.store, BYTES("order"), skips_newest, &last, &shape, &err));
    assert_int_equal(shape_events(shape), SHAPE_SAMPLE - 50);
    shape_destroy(shape);
    world_end(&world);
}

// Somebody's sequence jumped: the events before it are still the newest ones but one.
static void
a_gap_in_the_ids_hides_nothing(void **state)
{
    (void)state;
    struct world world;
    struct shape *shape;
    size_t looked_at = 0;
    size_t *const counted = &looked_at;
    begin_shapes(&world);
    test_sql(world.admin, "UPDATE dlq_events SET id = id + 1000000 WHERE id = 3000");
    assert_works(shape_learn(world.store, BYTES("few"), skips_none, &counted, &shape, &err));
    assert_int_equal(shape_events(shape), 40);
    shape_destroy(shape);
    world_end(&world);
}

static void
each_type_is_learnt_once(void **state)
{
    (void)state;
    struct world world;
    begin_shapes(&world);
    const int64_t selected[] = {2951};
    struct shapes *shapes = shapes_create(selected, 1);
    struct event events[] = {{.event_type = BYTES("few")},
                             {.event_type = BYTES("fewer")},
                             {.event_type = BYTES("order")},
                             {.event_type = BYTES_ABSENT},
                             {.event_type = BYTES("few")}};
    const struct shape *first[5], *second[5];
    assert_works(shapes_find(shapes, world.store, events, 5, first, &err));
    assert_int_equal(shape_events(first[0]), 39); // without the selected one
    assert_null(first[1]);                        // ten are too few to tell
    assert_non_null(first[2]);
    assert_null(first[3]);
    assert_ptr_equal(first[4], first[0]);
    test_sql(world.admin, "ALTER TABLE dlq_events RENAME TO away"); // nothing is read any more
    assert_works(shapes_find(shapes, world.store, events, 5, second, &err));
    assert_memory_equal(first, second, sizeof first);
    shapes_destroy(shapes);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_that_depart_are_counted),
        cmocka_unit_test(the_sample_has_a_fixed_size),
        cmocka_unit_test(large_payloads_that_are_left_out_cost_nothing),
        cmocka_unit_test(a_gap_in_the_ids_hides_nothing),
        cmocka_unit_test(each_type_is_learnt_once),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
