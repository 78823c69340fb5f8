// What a team says of its topics: the rows of the setting `consumers`.
#include "core/topic_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
    assert_null(rule->moved);
    assert_null(topic_rule_of(rules, "unknown"));
    assert_false(topic_rule_awaits(NULL, "billing"));
    assert_null(topic_rule_of(NULL, "orders"));
    assert_non_null(topic_rules_read(NULL, &arena, &err));
    arena_release(&arena);
}

static void
rows_say_what_became_of_a_topic_and_what_dead_letters_are(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    const struct topic_rules *rules = topic_rules_read(
        "orders.v1: billing, moved orders.v2\nfailures-dlq: of orders, format dlq-wrapper", &arena, &err);
    assert_non_null(rules);
    const struct topic_rule *rule = topic_rule_of(rules, "orders.v1");
    assert_string_equal(rule->moved, "orders.v2");
    assert_true(topic_rule_awaits(rule, "billing"));
    rule = topic_rule_of(rules, "failures-dlq");
    assert_string_equal(rule->of, "orders");
    assert_string_equal(envelope_format_name(rule->format), "dlq-wrapper");
    assert_int_equal(rule->awaited_count, 0);
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
        {"orders: moved", "a topic is missing behind `moved`"},
        {"orders: moved a b", "`moved` takes one topic"},
        {"orders: moved a-dlq", "dead letter queue"},
        {"a-dlq: key", "a place is missing behind `key`"},
        {"a-dlq: key key key", "a place is missing behind `key`"},
        {"a-dlq: key ticket_id", "`key` takes one place"},
        {"a-dlq: type header:", "`type` takes one place"},
        {"a-dlq: source $.a $.b", "`source` takes one place"},
        {"a-dlq: of", "a topic is missing behind `of`"},
        {"a-dlq: format", "a format is missing behind `format`"},
        {"a-dlq: format sprung", "sprung is no format; man redrive-config lists them"},
        {"a-dlq: format sqs beam", "`format` takes one format"},
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

// A name that cannot be looked up cannot be set.
static void
the_manual_lists_all_formats(void **state)
{
    (void)state;
    char page[40000], name[80];
    FILE *file = fopen("src/commands/manual/redrive-config.5", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; envelope_format_at(i); i++) {
        size_t len = 0;
        for (const char *c = envelope_format_name(envelope_format_at(i)); *c; c++)
            len += (size_t)snprintf(name + len, sizeof name - len, *c == '-' ? "\\-" : "%c", *c);
        if (!strstr(page, name))
            fail_msg("%s is missing", name);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_say_who_and_where),
        cmocka_unit_test(rows_say_what_became_of_a_topic_and_what_dead_letters_are),
        cmocka_unit_test(the_manual_lists_all_formats),
        cmocka_unit_test(mistakes_name_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
