// What became of an operation's events: the parts add up, and the sentence tells the worst of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/outcomes.h"

#define SENT(...) .action = ACTION_REPROCESS, .sent.taken = {.count = -1}, __VA_ARGS__

static void
every_end_has_its_sentence(void **state)
{
    (void)state;
    static const struct {
        struct operation operation;
        enum outcome_severity severity;
        const char *sentence;
    } ends[] = {
        {{SENT(.state = OPERATION_DONE, .total = 2011, .done = 2011, .returned = 2011)},
         OUTCOME_RETURNED,
         "DONE, BUT 2,011 OF 2,011 RETURNED"},
        {{SENT(.state = OPERATION_DONE, .total = 1500, .done = 1500, .returned = 750, .sent.watched = 750)},
         OUTCOME_RETURNED,
         "DONE, BUT 750 OF 1,500 RETURNED"},
        {{SENT(.state = OPERATION_DONE, .total = 1012, .done = 1010, .returned = 96, .refused = 2)},
         OUTCOME_FAILED,
         "DONE, BUT 96 OF 1,010 RETURNED, 2 REFUSED"},
        {{SENT(.state = OPERATION_DONE, .total = 5, .refused = 5)},
         OUTCOME_FAILED,
         "NOTHING SENT: 5 refused"},
        {{SENT(.state = OPERATION_DONE, .total = 0)}, OUTCOME_INCOMPLETE, "NOTHING SENT"},
        {{SENT(.state = OPERATION_DONE, .total = 12, .done = 12)}, OUTCOME_WELL, "done, all 12 stayed away"},
        {{SENT(.state = OPERATION_DONE, .total = 1, .done = 1)}, OUTCOME_WELL, "done, 1 stayed away"},
        {{SENT(.state = OPERATION_DONE, .total = 12, .done = 12, .sent.watched = 3)},
         OUTCOME_OPEN,
         "done, watching 3 for returns"},
        {{SENT(.state = OPERATION_CANCELLED, .total = 2000, .done = 310, .cancelled = 1690)},
         OUTCOME_INCOMPLETE,
         "CANCELLED after 310 of 2,000"},
        {{SENT(.state = OPERATION_CANCELLED, .total = 2000, .done = 310, .cancelled = 1690, .returned = 5)},
         OUTCOME_RETURNED,
         "CANCELLED after 310 of 2,000: 5 of 310 returned"},
        {{SENT(.state = OPERATION_CANCELLED, .total = 12, .cancelled = 12)},
         OUTCOME_INCOMPLETE,
         "CANCELLED, nothing sent"},
        {{SENT(.state = OPERATION_HALTED, .total = 880, .done = 9, .refused = 1, .queued = 870,
               .state_note = "5 of 10 failed, more than 20%")},
         OUTCOME_FAILED,
         "HALTED after 9 of 880: 5 of 10 failed, more than 20%"},
        {{SENT(.state = OPERATION_RUNNING, .total = 12, .done = 2, .queued = 10)}, OUTCOME_OPEN, NULL},
        {{SENT(.state = OPERATION_RUNNING, .total = 12, .done = 2, .returned = 1, .queued = 10)},
         OUTCOME_RETURNED,
         NULL},
        {{.action = ACTION_DISCARD, .state = OPERATION_DONE, .total = 84, .done = 84},
         OUTCOME_WELL,
         "done, 84 discarded"},
        {{.action = ACTION_DISCARD, .state = OPERATION_DONE, .total = 2, .skipped = 2},
         OUTCOME_FAILED,
         "NOTHING DISCARDED: 2 skipped"},
        {{.action = ACTION_RESTORE, .state = OPERATION_DONE, .total = 3, .done = 2, .skipped = 1},
         OUTCOME_FAILED,
         "DONE, BUT 1 SKIPPED"},
        {{.action = ACTION_CORRECT,
          .state = OPERATION_DONE,
          .total = 2114,
          .done = 2112,
          .refused = 2,
          .recipe = {.unchanged = 81, .not_applicable = 22}},
         OUTCOME_FAILED,
         "DONE, BUT 2 REFUSED, 2,009 corrected, 81 unchanged, 22 not applicable"},
        {{.action = ACTION_CORRECT,
          .state = OPERATION_DONE,
          .total = 81,
          .done = 81,
          .recipe = {.unchanged = 81}},
         OUTCOME_INCOMPLETE,
         "NOTHING CORRECTED, 81 unchanged"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct operation *operation = &ends[i].operation;
        const char *sentence = outcome_sentence(operation, &arena);
        if (ends[i].sentence)
            assert_string_equal(sentence, ends[i].sentence);
        else
            assert_null(sentence);
        struct outcomes outcomes = outcomes_of(operation);
        if (outcomes.severity != ends[i].severity)
            fail_msg("%s: severity %d", sentence ? sentence : "live", (int)outcomes.severity);
        int64_t sum = 0;
        for (int part = 0; part < OUTCOME_PARTS; part++)
            sum += outcomes.parts[part];
        assert_int_equal(sum, operation->total);
    }
    arena_release(&arena);
}

// What the consumer has read is a part of what is watched, once it is known.
static void
taken_ones_are_told_from_watched_ones(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct operation operation = {
        SENT(.state = OPERATION_DONE, .total = 100, .done = 100, .sent.watched = 40)};
    struct outcomes outcomes = outcomes_of(&operation);
    assert_int_equal(outcomes.parts[PART_WATCHING], 40);
    assert_int_equal(outcomes.parts[PART_TAKEN], 0);
    operation.sent.taken = (struct taken){.count = 90, .of = 100, .note = "billing has read 90 of 100"};
    outcomes = outcomes_of(&operation);
    assert_int_equal(outcomes.parts[PART_TAKEN], 30);
    assert_int_equal(outcomes.parts[PART_WATCHING], 10);
    assert_int_equal(outcomes.parts[PART_STAYED], 60);
    assert_string_equal(outcome_sentence(&operation, &arena), "done, billing has read 90 of 100");
    operation.sent.taken = (struct taken){.count = 100, .of = 100};
    outcomes = outcomes_of(&operation);
    assert_int_equal(outcomes.parts[PART_TAKEN], 40);
    arena_release(&arena);
}

// 100% is said when nothing is left, and never before; a rest that was cancelled is left.
static void
progress_ends_at_a_hundred(void **state)
{
    (void)state;
    static const struct {
        struct operation operation;
        int percent;
    } cases[] = {
        {{.total = 3, .queued = 3}, 0},
        {{.total = 3, .done = 2, .queued = 1}, 66},
        {{.total = 3, .done = 2, .refused = 1}, 100},
        {{.total = 1000000, .done = 999999, .claimed = 1}, 99},
        {{.total = 5, .cancelled = 5}, 0},
        {{.total = 0}, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcomes outcomes = outcomes_of(&cases[i].operation);
        assert_int_equal(outcomes_percent(&outcomes), cases[i].percent);
    }
}

static void
the_end_is_told_to_those_who_were_not_there(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct operation operation = {.no = 7, SENT(.state = OPERATION_DONE, .total = 5, .refused = 5)};
    assert_string_equal(operation_end_sentence(&operation, &arena), "operation 7: NOTHING SENT: 5 refused");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_has_its_sentence),
        cmocka_unit_test(taken_ones_are_told_from_watched_ones),
        cmocka_unit_test(progress_ends_at_a_hundred),
        cmocka_unit_test(the_end_is_told_to_those_who_were_not_there),
    };
    return cmocka_run_group_tests_name("outcomes", tests, NULL, NULL);
}
