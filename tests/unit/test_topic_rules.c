// What a team says of its topics: the rows of the setting `consumers`.
#include "core/topic_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void
rows_say_who_and_where(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    const struct topic_rules *rules = topic_rules_read(
        "orders: billing\n\npayments: billing, ledger not audit search to payments.retry\nempty:\n"
        "customers: crm, check-newer, not audit, to customers.retry",
        &arena, &err);
    assert_non_null(rules);
    const struct topic_rule *rule = topic_rule_of(rules, "orders");
    assert_true(topic_rule_awaits(rule, "billing"));
    assert_false(topic_rule_awaits(rule, "audit"));
    assert_null(rule->to);
    rule = topic_rule_of(rules, "payments");
    assert_int_equal(rule->awaited_count, 2);
    assert_true(topic_rule_awaits(rule, "ledger"));
    assert_true(topic_rule_spares(rule, "audit"));
    assert_true(topic_rule_spares(rule, "search"));
    assert_false(topic_rule_spares(rule, "billing"));
    assert_string_equal(rule->to, "payments.retry");
    assert_int_equal(topic_rule_of(rules, "empty")->awaited_count, 0);
    assert_false(rule->checks_newer);
    rule = topic_rule_of(rules, "customers");
    assert_true(rule->checks_newer);
    assert_true(topic_rule_awaits(rule, "crm"));
    assert_false(topic_rule_awaits(rule, "check-newer"));
    assert_true(topic_rule_spares(rule, "audit"));
    assert_null(topic_rule_of(rules, "unknown"));
    assert_false(topic_rule_awaits(NULL, "billing"));
    assert_null(topic_rule_of(NULL, "orders"));
    assert_non_null(topic_rules_read(NULL, &arena, &err));
    arena_release(&arena);
}

static void
mistakes_name_their_row(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *text;
    } cases[] = {
        {"orders", "consumers, row 1 (orders): a row is TOPIC"},
        {"a: b\n two words: x", "consumers, row 2 ( two words: x): a row is TOPIC"},
        {"orders: billing not audit", "`not` needs a topic to send to instead: to TOPIC"},
        {"orders: to", "a topic is missing behind `to`"},
        {"orders: to a b", "`to` takes one topic"},
        {"orders: to a/b", "the name of a topic has letters"},
        {"or/ders: billing", "consumers, row 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct arena arena = {0};
        assert_null(topic_rules_read(cases[i].rows, &arena, &err));
        arena_release(&arena);
        if (!strstr(err.text, cases[i].text))
            fail_msg("%s: %s", cases[i].rows, err.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_say_who_and_where),
        cmocka_unit_test(mistakes_name_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
