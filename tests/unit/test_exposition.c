// exposition and metrics: the text that Prometheus reads, in both of its forms.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "watch/exposition.h"
#include "watch/metrics.h"

#define assert_has(text, words)                                                                              \
    do {                                                                                                     \
        if (!strstr(text, words))                                                                            \
            fail_msg("\"%s\" is not in:\n%s", words, text);                                                  \
    } while (0)
#define assert_lacks(text, words)                                                                            \
    do {                                                                                                     \
        if (strstr(text, words))                                                                             \
            fail_msg("\"%s\" is in:\n%s", words, text);                                                      \
    } while (0)

static void
test_accept(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        enum exposition_form form;
    } cases[] = {
        {NULL, FORM_TEXT},
        {"", FORM_TEXT},
        {"*/*", FORM_TEXT},
        {"text/html,application/xml;q=0.9,*/*;q=0.8", FORM_TEXT},
        // what Prometheus 2 sends
        {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         FORM_OPENMETRICS},
        {"application/openmetrics-text", FORM_OPENMETRICS},
        {"Application/OpenMetrics-Text ; q=0.5 , text/plain;q=0.4", FORM_OPENMETRICS},
        {"application/openmetrics-text;q=0.3, text/plain", FORM_TEXT},
        {"application/openmetrics-text;q=0", FORM_TEXT},
        {"application/openmetrics-texts", FORM_TEXT},
        {";;;,,,q=;q", FORM_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(exposition_wanted(cases[i].accept), cases[i].form);
}

static void
test_families(void **state)
{
    (void)state;
    static const struct metric counter = {"a_seconds_total", METRIC_COUNTER, "seconds", "Said \"so\"\n\\."};
    static const struct metric unknown = {"b_total", METRIC_UNKNOWN, NULL, "B."};
    struct strbuf out = {0};
    struct exposition e = {.out = &out, .form = FORM_TEXT};
    exposition_family(&e, &counter);
    exposition_sample(&e, "", NULL, 0, 12);
    exposition_family(&e, &unknown);
    exposition_end(&e);
    assert_string_equal(strbuf_text(&out), "# HELP a_seconds_total Said \"so\"\\n\\\\.\n"
                                           "# TYPE a_seconds_total counter\n"
                                           "a_seconds_total 12\n"
                                           "# HELP b_total B.\n# TYPE b_total untyped\n");
    strbuf_reset(&out);
    e.form = FORM_OPENMETRICS;
    exposition_family(&e, &counter);
    exposition_sample(&e, "", NULL, 0, 0.5);
    exposition_family(&e, &unknown);
    exposition_end(&e);
    assert_string_equal(strbuf_text(&out), "# HELP a_seconds Said \\\"so\\\"\\n\\\\.\n"
                                           "# TYPE a_seconds counter\n# UNIT a_seconds seconds\n"
                                           "a_seconds_total 0.5\n"
                                           "# HELP b_total B.\n# TYPE b_total unknown\n# EOF\n");
    strbuf_release(&out);
}

// A hostile event type or error class stays within its quotes and its line.
static void
test_label_values(void **state)
{
    (void)state;
    static const struct metric gauge = {"g", METRIC_GAUGE, NULL, "G."};
    static const struct {
        const char *value, *line;
    } cases[] = {
        {"plain", "g{l=\"plain\"} 1\n"},
        {"", "g 1\n"},
        {NULL, "g 1\n"},
        {"a\"} 9\ng{l=\"b", "g{l=\"a\\\"} 9\\\\ng{l=\\\"b\"} 1\n"},
        {"back\\slash", "g{l=\"back\\\\slash\"} 1\n"},
        {"\x1b]0;owned\a", "g{l=\"\\\\e]0;owned\\\\x07\"} 1\n"},
        {"caf\xc3\xa9 \xff", "g{l=\"caf\xc3\xa9 \\\\xff\"} 1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        struct exposition e = {.out = &out, .metric = &gauge};
        exposition_sample(&e, "", &(struct metric_label){"l", cases[i].value}, 1, 1);
        assert_string_equal(strbuf_text(&out), cases[i].line);
        strbuf_release(&out);
    }
    char *longest = malloc(100001);
    memset(longest, 'x', 100000);
    longest[100000] = '\0';
    struct strbuf out = {0};
    struct exposition e = {.out = &out, .metric = &gauge};
    exposition_sample(&e, "", &(struct metric_label){"l", longest}, 1, 1);
    assert_true(out.len < 300);
    strbuf_release(&out);
    free(longest);
}

static struct watch_sums
some_sums(void)
{
    static struct watch_group groups[] = {
        {.key = 0x8f3a, .error_class = "java.io.IOException", .category = CATEGORY_TRANSIENT, .pending = 7},
        {.key = 1, .category = CATEGORY_UNKNOWN, .pending = 2}};
    static struct watch_operations operations[] = {
        {.action = "discard", .done = 3},
        {.action = "reprocess", .done = 9, .refused = 2, .refused_by_check = 1, .returned = 4}};
    struct watch_sums sums = {
        .as_of = 1700000000 * US_PER_SECOND,
        .arrived = 4711,
        .statuses = {.pending = 1, .resolved = 5, .discarded = 6, .counted_at = 1700000000 * US_PER_SECOND},
        .rollup = {.is_counted = true, .is_kept = true, .exact_at = TIME_ABSENT},
        .resolution = {.bounds = {60, 300, 0}, .counts = {1, 2, 4}, .count = 3, .sum = 1234.5},
        .operations = operations,
        .operation_count = 2,
    };
    sums.pending = (struct watch_pending){
        .count = 12, .oldest_at = TIME_ABSENT, .groups = groups, .group_count = 2, .in_other_groups = 3};
    return sums;
}

static const char *
page_of(enum exposition_form form, const struct metrics_table *tables, size_t count, struct strbuf *out)
{
    const struct metrics_process process = {.version = "1.2", .started_at = US_PER_SECOND, .memory = 42};
    strbuf_reset(out);
    metrics_write(form, &process, tables, count, out);
    return strbuf_text(out);
}

static void
test_page(void **state)
{
    (void)state;
    struct watch_sums sums = some_sums();
    const struct metrics_table table = {
        .table = "public.dlq_events", .sums = &sums, .is_up = true, .looks = 2};
    struct strbuf out = {0};
    const char *page = page_of(FORM_TEXT, &table, 1, &out);
    assert_has(page, "# TYPE dlq_events_total untyped\n"
                     "dlq_events_total{table=\"public.dlq_events\",status=\"pending\"} 12\n"
                     "dlq_events_total{table=\"public.dlq_events\",status=\"resolved\"} 5\n");
    assert_has(page, "# TYPE dlq_events gauge\n");
    assert_has(page, "\ndlq_pending_messages{table=\"public.dlq_events\"} 12\n");
    assert_has(page, "\ndlq_messages_total{table=\"public.dlq_events\"} 4711\n");
    assert_has(page, "\ndlq_reprocess_success_total{table=\"public.dlq_events\"} 9\n");
    assert_has(page, "\ndlq_reprocess_failure_total{table=\"public.dlq_events\",why=\"returned\"} 4\n");
    assert_has(page, "error_type=\"refused\"} 1\n");
    assert_has(page, "{table=\"public.dlq_events\",group=\"0000000000008f3a\",category=\"transient\","
                     "error_class=\"java.io.IOException\"} 7\n");
    assert_has(page, "{table=\"public.dlq_events\",group=\"other\"} 3\n");
    assert_has(page, "dlq_resolution_time_seconds_bucket{table=\"public.dlq_events\",le=\"60.0\"} 1\n"
                     "dlq_resolution_time_seconds_bucket{table=\"public.dlq_events\",le=\"300.0\"} 3\n"
                     "dlq_resolution_time_seconds_bucket{table=\"public.dlq_events\",le=\"+Inf\"} 7\n"
                     "dlq_resolution_time_seconds_sum{table=\"public.dlq_events\"} 1234.5\n"
                     "dlq_resolution_time_seconds_count{table=\"public.dlq_events\"} 7\n");
    assert_lacks(page, "dlq_oldest_pending_timestamp_seconds{");
    assert_lacks(page, "# EOF");
    page = page_of(FORM_OPENMETRICS, &table, 1, &out);
    assert_has(page, "# TYPE dlq_messages counter\ndlq_messages_total{");
    assert_has(page, "# UNIT dlq_resolution_time_seconds seconds\n");
    assert_has(page, "# TYPE dlq_events_total unknown\n");
    strbuf_release(&out);
}

// A topic, or a type, that is called as the rest is: one sample for both, since two of the same labels are
// none.
static void
test_page_of_topics(void **state)
{
    (void)state;
    struct watch_letters letters[] = {
        {.topic = "orders-dlq", .is_read = true, .is_known = true, .behind = 40},
        {.topic = "other", .is_known = true, .behind = 5},
        {.topic = "new-dlq", .is_read = true}};
    struct watch_type types[] = {{.event_type = "other", .pending = 3}, {.event_type = "paid", .pending = 2}};
    struct watch_sums sums = some_sums();
    struct topic_share shares[] = {{.topic = "orders", .written = 4000, .arrived = 50, .covered = 3540},
                                   {.topic = "quiet", .covered = 3540},
                                   {.topic = "hidden", .note = "no right to Describe it"}};
    sums.shares = (struct topic_shares){.topics = shares, .count = 3};
    sums.letters = letters;
    sums.letters_count = 3;
    sums.in_other_letters = 7;
    sums.pending.types = types;
    sums.pending.type_count = 2;
    sums.pending.in_other_types = 4;
    const struct metrics_table table = {.table = "a", .sums = &sums, .is_up = true};
    struct strbuf out = {0};
    const char *page = page_of(FORM_TEXT, &table, 1, &out);
    assert_has(page, "# TYPE redrive_ingest_lag_messages gauge\n"
                     "redrive_ingest_lag_messages{table=\"a\",topic=\"orders-dlq\"} 40\n"
                     "redrive_ingest_lag_messages{table=\"a\",topic=\"other\"} 12\n#");
    assert_has(page, "redrive_ingest_topic_read{table=\"a\",topic=\"orders-dlq\"} 1\n"
                     "redrive_ingest_topic_read{table=\"a\",topic=\"other\"} 0\n"
                     "redrive_ingest_topic_read{table=\"a\",topic=\"new-dlq\"} 1\n");
    assert_has(page, "redrive_topic_messages{table=\"a\",topic=\"orders\"} 4000\n"
                     "redrive_topic_messages{table=\"a\",topic=\"quiet\"} 0\n#");
    assert_has(page, "redrive_topic_dead_letters{table=\"a\",topic=\"orders\"} 50\n");
    assert_has(page, "redrive_topic_dead_letter_ratio{table=\"a\",topic=\"orders\"} 0.0125\n#");
    assert_has(page, "dlq_event_type_pending_events{table=\"a\",event_type=\"paid\"} 2\n"
                     "dlq_event_type_pending_events{table=\"a\",event_type=\"other\"} 7\n#");
    strbuf_release(&out);
}

// Before the first count of the rollup is over its groups are incomplete; without a look nothing is known.
static void
test_page_of_what_is_not_known(void **state)
{
    (void)state;
    struct watch_sums sums = some_sums();
    sums.rollup.is_counted = false;
    struct metrics_table tables[] = {{.table = "a", .sums = &sums, .is_up = true}, {.table = "b"}};
    struct strbuf out = {0};
    const char *page = page_of(FORM_TEXT, tables, 2, &out);
    assert_has(page, "\ndlq_pending_messages{table=\"a\"} 1\n"); // of the count of all rows
    assert_lacks(page, "dlq_group_pending_events{");
    assert_lacks(page, "dlq_messages_total{table=\"b\"}");
    assert_has(page, "\nredrive_up{table=\"a\"} 1\nredrive_up{table=\"b\"} 0\n");
    sums.statuses.counted_at = TIME_ABSENT;
    page = page_of(FORM_TEXT, tables, 2, &out);
    assert_lacks(page, "dlq_pending_messages{");
    assert_lacks(page, "dlq_events{");
    strbuf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept),         cmocka_unit_test(test_families),
        cmocka_unit_test(test_label_values),   cmocka_unit_test(test_page),
        cmocka_unit_test(test_page_of_topics), cmocka_unit_test(test_page_of_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
