// The question about newer records of keys (store/operations/newer.c), between those who ask and workers.
#include "tests/store/world.h"

#include "store/operations/newer.h"

static struct world world;

static int
set_up(void **state)
{
    (void)state;
    world_make(&world, 5);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
}

static const int64_t ids[] = {1, 2, 3, 5};

static int64_t
ask(void)
{
    int64_t no = 0;
    bool has_worker = true;
    assert_works(newer_ask(world.store, ids, 4, &no, &has_worker, &err));
    assert_false(has_worker);
    return no;
}

static int64_t
take(const char *worker)
{
    int64_t no, *taken;
    size_t count;
    assert_works(newer_take(world.store, worker, &world.arena, &no, &taken, &count, &err));
    if (no) {
        assert_int_equal(count, 4);
        assert_memory_equal(taken, ids, sizeof ids);
    }
    return no;
}

static struct newer
look(int64_t no)
{
    struct newer newer;
    bool has_worker;
    assert_works(newer_look(world.store, no, &world.arena, &newer, &has_worker, &err));
    return newer;
}

static void
an_answer_comes_back_as_it_was_given(void **state)
{
    (void)state;
    int64_t stale[] = {2, 5}, stale_at[] = {1750000000000000, TIME_ABSENT};
    struct newer_key keys[] = {{BYTES("\0k\xff"), 1750000000000000, false}, {BYTES(""), TIME_ABSENT, true}};
    const struct newer given = {.is_over = true,
                                .records = 70,
                                .of = 80,
                                .stale = stale,
                                .stale_at = stale_at,
                                .stale_count = 2,
                                .key_count = 31,
                                .keys = keys,
                                .shown = 2,
                                .resent = 4,
                                .untold = {[UNTOLD_KEY] = 1, [UNTOLD_CUT] = 2},
                                .why = "the time for it is over"};
    int64_t no = ask();
    assert_false(look(no).is_over);
    assert_int_equal(take("one"), no);
    assert_works(newer_answer(world.store, "one", no, &given, &err));
    struct newer got = look(no);
    assert_true(got.is_over);
    assert_int_equal(got.events, 4);
    assert_int_equal(got.records, 70);
    assert_int_equal(got.of, 80);
    assert_int_equal(got.stale_count, 2);
    assert_memory_equal(got.stale, stale, sizeof stale);
    assert_memory_equal(got.stale_at, stale_at, sizeof stale_at);
    assert_int_equal(got.key_count, 31);
    assert_int_equal(got.shown, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(bytes_equal(got.keys[i].key, keys[i].key));
        assert_int_equal(got.keys[i].at, keys[i].at);
        assert_int_equal(got.keys[i].is_deleted, keys[i].is_deleted);
    }
    assert_int_equal(got.resent, 4);
    assert_int_equal(got.untold[UNTOLD_KEY], 1);
    assert_int_equal(got.untold[UNTOLD_CUT], 2);
    assert_int_equal(newer_untold(&got), 3);
    assert_string_equal(got.why, "the time for it is over");
}

static void
one_worker_reads_while_somebody_waits(void **state)
{
    (void)state;
    struct newer so_far = {.records = 5, .of = 9};
    bool is_wanted = false;
    assert_int_equal(take("one"), 0);
    int64_t no = ask();
    assert_int_equal(take("one"), no);
    assert_int_equal(take("two"), 0);
    assert_works(newer_sign(world.store, "one", no, &so_far, &is_wanted, &err));
    assert_true(is_wanted);
    assert_int_equal(look(no).records, 5);
    assert_works(newer_sign(world.store, "two", no, &so_far, &is_wanted, &err));
    assert_false(is_wanted);
    assert_works(newer_answer(world.store, "two", no, &so_far, &err));
    assert_false(look(no).is_over);

    // It gave no sign for long.
    test_sql(world.admin, "UPDATE redrive.newer_question SET taken_at = taken_at - interval '11 s'");
    assert_int_equal(take("two"), no);
    assert_works(newer_sign(world.store, "one", no, &so_far, &is_wanted, &err));
    assert_false(is_wanted);

    // Nobody has waited for long.
    test_sql(world.admin, "UPDATE redrive.newer_question SET wanted_at = wanted_at - interval '11 s'");
    assert_works(newer_sign(world.store, "two", no, &so_far, &is_wanted, &err));
    assert_false(is_wanted);
    test_sql(world.admin, "UPDATE redrive.newer_question SET taken_at = taken_at - interval '11 s'");
    assert_int_equal(take("one"), 0);
}

static void
old_questions_are_forgotten(void **state)
{
    (void)state;
    struct newer newer;
    bool has_worker;
    int64_t first = ask();
    for (int i = 0; i < 10; i++)
        (void)ask();
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.newer_question"), 10);
    assert_refused(newer_look(world.store, first, &world.arena, &newer, &has_worker, &err), ERR_NOT_FOUND,
                   "was forgotten");
    test_sql(world.admin, "UPDATE redrive.newer_question SET wanted_at = wanted_at - interval '11 min'");
    (void)ask();
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.newer_question"), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_comes_back_as_it_was_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_worker_reads_while_somebody_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_questions_are_forgotten, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
