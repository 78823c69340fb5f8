#include "core/fingerprint/writers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/fingerprint/rules.h"

#define SENDER                                                                                               \
    "com.acme.dlq.DlqException: sent\n\tat com.acme.dlq.Sender.send(Sender.java:10)\n"                       \
    "\tat com.acme.Consumer.on(Consumer.java:33)"

static const char *const causes[] = {"age is out of range", "tax number is not valid", "employee is unknown",
                                     "no answer within the time", "hired after the date of dismissal"};

static void
add(struct writer_survey *survey, const char *message, const char *stack, const struct group_rules *rules)
{
    struct fingerprint_input input = {.message = bytes_of(message), .stack = bytes_of(stack), .rules = rules};
    writer_survey_add(survey, &input);
}

static void
add_causes(struct writer_survey *survey, size_t count, const struct group_rules *rules)
{
    for (size_t i = 0; i < 4 * count; i++)
        add(survey, causes[i % count], SENDER, rules);
}

static void
one_stack_under_many_messages_is_the_writers(void **state)
{
    (void)state;
    struct writer_survey *survey = writer_survey_create();
    add_causes(survey, WRITERS_MESSAGES, NULL);
    size_t count = 0;
    const struct writer_found *found = writer_survey_found(survey, &count);
    assert_int_equal(count, 1);
    assert_string_equal(found[0].frame, "com.acme.dlq.Sender.send");
    assert_int_equal(found[0].records, 4 * WRITERS_MESSAGES);
    assert_int_equal(found[0].messages, WRITERS_MESSAGES);
    writer_survey_destroy(survey);
}

static void
few_messages_teach_nothing(void **state)
{
    (void)state;
    struct writer_survey *survey = writer_survey_create();
    add_causes(survey, WRITERS_MESSAGES - 1, NULL);
    for (unsigned i = 0; i < 100; i++) { // the same cause with other numbers
        char message[64];
        snprintf(message, sizeof message, "employee %u is unknown", i);
        add(survey, message, "com.acme.NotFound: nobody\n\tat com.acme.Staff.find(Staff.java:1)", NULL);
    }
    size_t count = 0;
    writer_survey_found(survey, &count);
    assert_int_equal(count, 0);
    writer_survey_destroy(survey);
}

static void
a_stack_that_shares_the_message_teaches_nothing(void **state)
{
    (void)state;
    struct writer_survey *survey = writer_survey_create();
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        char message[256];
        snprintf(message, sizeof message, "%s: no tariff for the region", causes[i]);
        add(survey, message, "com.acme.Tariff: no tariff for the region\n\tat com.acme.Rate.of(Rate.java:1)",
            NULL);
    }
    size_t count = 0;
    writer_survey_found(survey, &count);
    assert_int_equal(count, 0);
    writer_survey_destroy(survey);
}

// What was learned parts the group, is part of the version, and is not learned again.
static void
what_was_learned_parts_the_group(void **state)
{
    (void)state;
    struct group_rules *rules = group_rules_create();
    group_rules_add_writer(rules, "com.acme.dlq.Sender.send");
    struct err err = {0};
    assert_true(group_rules_seal(rules, &err));
    struct fingerprint_input a = {.message = bytes_of(causes[0]), .stack = bytes_of(SENDER)};
    struct fingerprint_input b = {.message = bytes_of(causes[1]), .stack = bytes_of(SENDER)};
    assert_true(fingerprint_key(&a) == fingerprint_key(&b));
    a.rules = b.rules = rules;
    assert_true(fingerprint_key(&a) != fingerprint_key(&b));
    a.message = BYTES("failed"); // names nothing, so the stack decides as before
    b.message = BYTES("error");
    assert_true(fingerprint_key(&a) == fingerprint_key(&b));
    assert_int_not_equal(group_rules_number(rules), FINGERPRINT_VERSION);

    struct writer_survey *survey = writer_survey_create();
    add_causes(survey, WRITERS_MESSAGES, rules);
    size_t count = 1;
    writer_survey_found(survey, &count);
    assert_int_equal(count, 0);
    writer_survey_destroy(survey);
    group_rules_destroy(rules);
}

static void
many_stacks_are_counted_each(void **state)
{
    (void)state;
    struct writer_survey *survey = writer_survey_create();
    for (unsigned i = 0; i < 1000; i++) {
        char stack[256];
        snprintf(stack, sizeof stack, "com.acme.Sent: away\n\tat com.acme.s%c%c.Out.send(Out.java:1)",
                 'a' + (int)(i % 20), 'a' + (int)(i / 20 % 10));
        add(survey, causes[i % WRITERS_MESSAGES], stack, NULL);
    }
    add_causes(survey, WRITERS_MESSAGES, NULL);
    size_t count = 0;
    const struct writer_found *found = writer_survey_found(survey, &count);
    assert_int_equal(count, 1); // each of the others had one message
    assert_string_equal(found[0].frame, "com.acme.dlq.Sender.send");
    writer_survey_destroy(survey);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stack_under_many_messages_is_the_writers),
        cmocka_unit_test(few_messages_teach_nothing),
        cmocka_unit_test(a_stack_that_shares_the_message_teaches_nothing),
        cmocka_unit_test(what_was_learned_parts_the_group),
        cmocka_unit_test(many_stacks_are_counted_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
