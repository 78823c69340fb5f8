// How a reprocess is sent, as people write it, and how its end is told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/operation.h"
#include "core/worker.h"

static void
test_steps_are_read(void **state)
{
    (void)state;
    struct send_plan plan = {0};
    struct err err = {0};
    struct strbuf text = {0};
    assert_true(steps_parse(BYTES("10, 100,2147483647,rest"), &plan, &err));
    assert_int_equal(plan.step_count, 3);
    assert_int_equal(plan.steps[2], INT32_MAX);
    assert_true(steps_parse(BYTES("7"), &plan, &err)); // added: a canary comes before its ramp
    steps_text(plan.steps, plan.step_count, &text);
    assert_string_equal(strbuf_text(&text), "10, 100, 2,147,483,647, 7, rest");
    strbuf_release(&text);
    struct send_plan none = {0};
    assert_true(steps_parse(BYTES("rest"), &none, &err));
    assert_int_equal(none.step_count, 0);
}

static void
test_wrong_steps_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",       "0",     "-1",  "10,,5",      "ten",
        "rest,1", "10 20", "1.5", "2147483648", "1,2,3,4,5,6,7,8,9,10,11,12,13"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct send_plan plan = {0};
        struct err err = {0};
        if (steps_parse(bytes_of(wrong[i]), &plan, &err))
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void
test_shares_are_read(void **state)
{
    (void)state;
    struct send_plan plan = {0};
    struct err err = {0};
    assert_true(halt_parse(BYTES("20%"), &plan, &err));
    assert_true(plan.halts && plan.halt_above == 20);
    assert_true(halt_parse(BYTES(" 0.5 % "), &plan, &err));
    assert_true(plan.halts && plan.halt_above == 0.5);
    assert_true(halt_parse(BYTES("0"), &plan, &err));
    assert_true(plan.halts && plan.halt_above == 0);
    assert_true(halt_parse(BYTES("none"), &plan, &err));
    assert_false(plan.halts);
    static const char *const wrong[] = {"", "%", "101", "-1", "nan", "inf", "0x10", "5%%", "five"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (struct err){0};
        if (halt_parse(bytes_of(wrong[i]), &plan, &err))
            fail_msg("\"%s\" was taken", wrong[i]);
    }
}

static void
test_steps_have_a_share(void **state)
{
    (void)state;
    struct send_plan plan = {.steps = {10}, .step_count = 1};
    send_plan_complete(&plan, 12);
    assert_true(plan.halts && plan.halt_above == HALT_ABOVE);
    plan.halt_above = 50;
    send_plan_complete(&plan, 12);
    assert_true(plan.halt_above == 50);
    struct send_plan all_at_once = {0};
    send_plan_complete(&all_at_once, 100);
    assert_false(all_at_once.halts);
    send_plan_complete(&all_at_once, 101);
    assert_true(all_at_once.halts && all_at_once.halt_above == 20);
}

static void
test_what_follows_a_recipe_has_words(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct operation operation = {.action = ACTION_CORRECT, .rate = RATE_UNLIMITED};
    operation_follower_text(&operation, &text);
    assert_string_equal(strbuf_text(&text), "reprocess what it corrected");
    strbuf_reset(&text);
    operation.rate = 1200;
    operation.plan = (struct send_plan){.steps = {10}, .step_count = 1, .halts = true, .halt_above = 0.5};
    operation.follower.by = 43;
    operation_follower_text(&operation, &text);
    assert_string_equal(strbuf_text(&text), "operation 43: reprocess what it corrected, at most 1,200/s, "
                                            "in steps of 10, rest, halting above 0.5%");
    strbuf_release(&text);
}

static void
knows_whether_anybody_works(void **state)
{
    (void)state;
    const int64_t second = 1000000;
    const struct worker plain = {.silent_for = second}, publisher = {.publishes = true, .silent_for = second};
    const struct worker lost = {.publishes = true, .silent_for = 4 * second};
    const struct {
        struct worker workers[2];
        size_t count;
        bool needs_kafka;
        enum attendance attendance;
    } cases[] = {
        {{plain}, 0, false, WORKERS_NONE},           {{plain}, 1, false, WORKERS_THERE},
        {{plain}, 1, true, WORKERS_WITHOUT_BROKERS}, {{plain, publisher}, 2, true, WORKERS_THERE},
        {{lost}, 1, true, WORKERS_SILENT},           {{lost, publisher}, 2, true, WORKERS_THERE},
        {{lost, plain}, 2, true, WORKERS_SILENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t silent_for = 0;
        if (workers_attendance(cases[i].workers, cases[i].count, cases[i].needs_kafka, &silent_for) !=
            cases[i].attendance)
            fail_msg("case %zu", i);
        if (cases[i].attendance == WORKERS_SILENT)
            assert_int_equal(silent_for, 4 * second);
    }
}

// A worker is started for what can go on now, and not for what begins at a time of its own.
static void
knows_what_waits_for_a_worker(void **state)
{
    (void)state;
    const struct operation frozen = {.action = ACTION_REPROCESS,
                                     .state = OPERATION_FROZEN,
                                     .rate = RATE_UNLIMITED,
                                     .started_at = TIME_ABSENT};
    struct operation it = frozen;
    assert_true(operation_waits_for_worker(&it, true, 1000));
    assert_false(operation_waits_for_worker(&it, false, 1000));
    it.plan.begin.at = 1001;
    assert_false(operation_waits_for_worker(&it, true, 1000));
    assert_true(operation_waits_for_worker(&it, true, 1001));
    it.started_at = 900; // it began, and its time has lost its meaning
    assert_true(operation_waits_for_worker(&it, true, 1000));
    it = frozen;
    it.rate = 0;
    assert_false(operation_waits_for_worker(&it, true, 1000));
    it.action = ACTION_DISCARD;
    assert_true(operation_waits_for_worker(&it, false, 1000));
    it.plan.begin.at = 1001;
    assert_false(operation_waits_for_worker(&it, false, 1000));
    it = frozen;
    for (int at = OPERATION_FREEZING; at <= OPERATION_HALTED; at++) {
        it.state = (enum operation_state)at;
        bool waits = at == OPERATION_FROZEN || at == OPERATION_RUNNING || at == OPERATION_WAITING;
        assert_int_equal(operation_waits_for_worker(&it, true, 1000), waits);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_waits_for_a_worker),
        cmocka_unit_test(knows_whether_anybody_works),
        cmocka_unit_test(test_steps_are_read),
        cmocka_unit_test(test_wrong_steps_are_refused),
        cmocka_unit_test(test_shares_are_read),
        cmocka_unit_test(test_what_follows_a_recipe_has_words),
        cmocka_unit_test(test_steps_have_a_share),
    };
    return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
