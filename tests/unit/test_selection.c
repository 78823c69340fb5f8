#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "core/selection.h"
#include "tests/unit/cpu_time.h"

static void
ids_are_taken_out(void **state)
{
    (void)state;
    int64_t ids[] = {1, 3, 5, 7, 9};
    assert_int_equal(ids_without(ids, 5, NULL, 0), 5);
    assert_int_equal(ids_without(ids, 5, (const int64_t[]){0, 1, 4, 5, 9, 11}, 6), 2);
    assert_int_equal(ids[0], 3);
    assert_int_equal(ids[1], 7);
    assert_int_equal(ids_without(ids, 2, (const int64_t[]){3, 7}, 2), 0);
    assert_int_equal(ids_without(ids, 0, (const int64_t[]){3}, 1), 0);
}

static void
a_selection_is_a_set_with_undo(void **state)
{
    (void)state;
    struct selection selection = {0};
    selection_toggle(&selection, 5);
    selection_toggle(&selection, 3);
    selection_add(&selection, (const int64_t[]){9, 5, 1, 9}, 4);
    assert_int_equal(selection.count, 4);
    assert_true(selection_has(&selection, 1) && selection_has(&selection, 9));
    selection_toggle(&selection, 5);
    assert_false(selection_has(&selection, 5));
    selection_invert(&selection, (const int64_t[]){1, 2}, 2);
    assert_false(selection_has(&selection, 1));
    assert_true(selection_has(&selection, 2));
    selection_clear(&selection);
    assert_int_equal(selection.count, 0);

    assert_true(selection_undo(&selection)); // the clear
    assert_int_equal(selection.count, 3);
    assert_true(selection_undo(&selection)); // the invert
    assert_true(selection_has(&selection, 1));
    assert_true(selection_undo(&selection)); // the toggle
    assert_true(selection_has(&selection, 5));
    assert_true(selection_undo(&selection)); // the add
    assert_int_equal(selection.count, 2);
    assert_true(selection_undo(&selection));
    assert_true(selection_undo(&selection));
    assert_false(selection_undo(&selection));
    assert_int_equal(selection.count, 0);
    selection_release(&selection);
}

static void
what_the_list_does_not_show_is_counted(void **state)
{
    (void)state;
    struct selection selection = {0};
    selection_add(&selection, (const int64_t[]){1, 2, 3, 4}, 4);
    assert_int_equal(selection_hidden(&selection, (const int64_t[]){9, 3, 1, 3}, 4), 2);
    assert_int_equal(selection_hidden(&selection, NULL, 0), 4);
    selection_release(&selection);
}

static void
what_changes_nothing_is_no_step(void **state)
{
    (void)state;
    struct selection selection = {0};
    selection_clear(&selection);
    selection_add(&selection, NULL, 0);
    selection_remove(&selection, (const int64_t[]){1}, 1);
    assert_false(selection_undo(&selection));
    selection_add(&selection, (const int64_t[]){1, 2}, 2);
    selection_add(&selection, (const int64_t[]){2, 1, 1}, 3);
    assert_true(selection_undo(&selection));
    assert_int_equal(selection.count, 0);
    assert_false(selection_undo(&selection));
    selection_release(&selection);
}

// Every kind of step, at random, against a plain array of flags.
static void
any_steps_are_undone_one_by_one(void **state)
{
    (void)state;
    enum { IDS = 64, STEPS = 20, ROUNDS = 200 };
    unsigned seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        struct selection selection = {0};
        bool history[STEPS + 1][IDS] = {{false}};
        int steps = 0;
        for (int tries = 0; tries < 40 && steps < STEPS; tries++) {
            int64_t given[8];
            size_t count = 1 + (seed = seed * 1103515245 + 12345) / 65536 % 8;
            for (size_t i = 0; i < count; i++)
                given[i] = (seed = seed * 1103515245 + 12345) / 65536 % IDS;
            bool *now = history[steps + 1];
            memcpy(now, history[steps], sizeof history[0]);
            unsigned which = (seed = seed * 1103515245 + 12345) / 65536 % 5;
            bool turned[IDS] = {false};
            for (size_t i = 0; i < count; i++) {
                bool is_first = !turned[given[i]];
                turned[given[i]] = true;
                now[given[i]] = which == 0   ? true
                                : which == 1 ? false
                                : is_first   ? !now[given[i]]
                                             : now[given[i]];
            }
            if (which == 0)
                selection_add(&selection, given, count);
            else if (which == 1)
                selection_remove(&selection, given, count);
            else if (which == 2)
                selection_invert(&selection, given, count);
            else if (which == 3) {
                memcpy(now, history[steps], sizeof history[0]);
                now[given[0]] = !now[given[0]];
                selection_toggle(&selection, given[0]);
            } else {
                memset(now, 0, sizeof history[0]);
                selection_clear(&selection);
            }
            for (int64_t id = 0; id < IDS; id++)
                assert_int_equal(selection_has(&selection, id), now[id]);
            steps += memcmp(now, history[steps], sizeof history[0]) != 0;
        }
        for (; steps > 0; steps--) {
            assert_true(selection_undo(&selection));
            for (int64_t id = 0; id < IDS; id++)
                assert_int_equal(selection_has(&selection, id), history[steps - 1][id]);
        }
        assert_false(selection_undo(&selection));
        selection_release(&selection);
    }
}

static void
a_million_is_no_trouble(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    int64_t *ids = alloc_array(MILLION, sizeof *ids);
    for (int64_t i = 0; i < MILLION; i++)
        ids[i] = MILLION - i;
    int64_t began = cpu_time();
    struct selection selection = {0};
    selection_add(&selection, ids, MILLION);
    for (int64_t i = 1; i <= 1000; i++)
        selection_toggle(&selection, i * 7);
    assert_int_equal(selection.count, MILLION - 1000);
    for (int i = 0; i < 20; i++)
        assert_true(selection_undo(&selection));
    assert_false(selection_undo(&selection)); // twenty steps and no more
    for (int64_t i = 0; i < 3; i++) {         // all of them and three thousand more, again and again
        selection_invert(&selection, ids, MILLION);
        selection_add(&selection, ids + 500000, 3000);
        assert_int_equal(selection_hidden(&selection, ids, MILLION), 0);
    }
    assert_true(cpu_time() - began < 60 * SECOND_SPENT); // quadratic would be hours
    selection_release(&selection);
    free(ids);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selection_is_a_set_with_undo),
        cmocka_unit_test(ids_are_taken_out),
        cmocka_unit_test(what_the_list_does_not_show_is_counted),
        cmocka_unit_test(what_changes_nothing_is_no_step),
        cmocka_unit_test(any_steps_are_undone_one_by_one),
        cmocka_unit_test(a_million_is_no_trouble),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
