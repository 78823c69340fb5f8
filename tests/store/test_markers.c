// How old a slot's marker in Kafka is, by PostgreSQL's clock: Kafka forgets it after a week, so that of an
// idle slot is to be written again after a day.
#include "world.h"

static struct world world;
static struct slot slot;
static int64_t operation;

static int
begin(void **state)
{
    (void)state;
    world_make(&world, 20);
    operation = make_operation(&world, world.store, ACTION_REPROCESS, 1, 20);
    assert_works(slot_acquire(world.store, "kafka-1", "w", NULL, 0, &slot, &err));
    assert_false(slot.is_marker_old); // it has none yet
    assert_works(slot_provisioned(world.store, &slot, &err));
    return 0;
}

static int
end(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
}

static void
pass_hours(int hours)
{
    test_sql(world.admin, "UPDATE redrive.slot SET marker_at = marker_at - interval '%d h'", hours);
}

// As the holder sees it, and as those who look for what is to be done.
static bool
is_old(void)
{
    struct chunk unfinished;
    assert_works(slot_check(world.store, &slot, &unfinished, &err));
    return slot.is_marker_old;
}

static int64_t
old_ones(const char *cluster)
{
    struct recovery_wanted wanted;
    assert_works(recovery_wanted(world.store, cluster, "somebody else", NULL, 0, &wanted, &err));
    return wanted.old_markers;
}

static void
settle(enum chunk_state outcome)
{
    struct claim claim;
    char id[UUID_SIZE];
    snprintf(id, sizeof id, "%s", new_uuid(world.admin));
    assert_works(chunk_claim(world.store, &slot, operation, id, 5, 1 << 20, &world.arena, &claim, &err));
    assert_int_equal(claim.count, 5);
    assert_works(chunk_finish(world.store, &slot, &claim.chunk, outcome, "x", &err));
}

static void
is_old_after_a_day(void **state)
{
    (void)state;
    assert_false(is_old());
    pass_hours(23);
    assert_false(is_old());
    pass_hours(2);
    assert_true(is_old());
    assert_works(slot_provisioned(world.store, &slot, &err));
    assert_false(is_old());
}

static void
is_new_with_every_commit(void **state)
{
    (void)state;
    pass_hours(25);
    settle(CHUNK_ABORTED); // nothing was written
    assert_true(is_old());
    settle(CHUNK_COMMITTED); // its marker was
    assert_false(is_old());
}

static void
is_looked_after_while_nobody_holds_it(void **state)
{
    (void)state;
    pass_hours(25);
    assert_int_equal(old_ones(""), 0); // its holder sees to it
    assert_works(slot_release(world.store, &slot, &err));
    assert_int_equal(old_ones(""), 1);
    assert_int_equal(old_ones("kafka-1"), 1);
    assert_int_equal(old_ones("kafka-2"), 0);

    // Among sixteen it is taken first, whoever comes.
    for (int i = 0; i < 4; i++) {
        int32_t no = slot.no;
        assert_works(slot_acquire(world.store, "kafka-1", "x", NULL, 0, &slot, &err));
        assert_int_equal(slot.no, no);
        assert_true(slot.is_marker_old);
        assert_works(slot_release(world.store, &slot, &err));
    }
}

// What waits for a person, and what has new names, has no marker that could be kept.
static void
is_not_asked_of_slots_without_one(void **state)
{
    (void)state;
    pass_hours(25);
    assert_works(slot_suspend(world.store, &slot, "x", &err));
    assert_false(is_old());
    test_sql(world.admin, "UPDATE redrive.slot SET is_suspended = false");
    assert_true(is_old());
    assert_works(slot_retire(world.store, &slot, "x", &err));
    assert_false(is_old());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(is_old_after_a_day, begin, end),
        cmocka_unit_test_setup_teardown(is_new_with_every_commit, begin, end),
        cmocka_unit_test_setup_teardown(is_looked_after_while_nobody_holds_it, begin, end),
        cmocka_unit_test_setup_teardown(is_not_asked_of_slots_without_one, begin, end),
    };
    return cmocka_run_group_tests_name("markers", tests, NULL, NULL);
}
