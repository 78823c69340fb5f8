// core/alerts and settings/alerts_file: what a file of alerts may say, the sentence for each mistake, and
// what people read about a rule and its value.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/alerts.h"
#include "settings/alerts_file.h"

static char path[200];

static void
write_file(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    chmod(path, 0600);
}

static struct alerts_file
read_text(const char *text)
{
    struct alerts_file file;
    struct err err = {0};
    write_file(text);
    if (!alerts_file_read(path, &file, &err))
        fail_msg("%s", err.text);
    return file;
}

static void
test_words(void **state)
{
    static const struct {
        const char *text, *words;
        double value;
        const char *of, *summary;
    } rows[] = {
        {"when = \"pending\" above = 1000 for = \"5m\"", "pending above 1,000 for 5m", 1204, NULL,
         "1,204 events are pending"},
        {"when = \"pending\" category = \"data\" above = 1", "pending of category data above 1", 1, "data",
         "1 event is pending: data"},
        {"when = \"rate\" above = \"0.1/s\" window = \"10m\"", "rate above 6/min within 10m", 10.5, NULL,
         "10.5 events a minute arrive"},
        {"when = \"oldest\" above = \"1d\"", "oldest above 1d", 4 * 86400, NULL,
         "the oldest pending event is 4d old"},
        {"when = \"share\" of = \"group\" above = \"50%\"", "share of a group above 50%", 62.5, "A (1)",
         "62.5% of the pending events have the same group: A (1)"},
        {"when = \"growth\" above = 500 window = \"2h\"", "growth above 500 within 2h", 501, NULL,
         "501 events more are pending than 2h ago"},
        {"when = \"group\" above = 100", "group above 100 within 10m", 1, "A (1)",
         "1 event arrived within 10m: A (1)"},
        {"when = \"success\" below = \"80%\" clear = 90", "success below 80% within 1h", 50, NULL,
         "50% of the reprocessed events stayed away within 1h"},
        {"when = \"halted\"", "halted", 1, "operation 4 (reprocess) halted",
         "operation 4 (reprocess) halted"},
        {"when = \"no-worker\" for = \"5m\"", "no-worker above 0 for 5m", 2, NULL,
         "2 operations wait, and no worker that publishes is running"},
        {"when = \"publish-failures\" above = 0", "publish-failures above 0 within 1h", 3, NULL,
         "3 events could not be republished within 1h"},
        {"when = \"retries\" above = 2.5", "retries above 2.5 within 1h", 3, NULL,
         "3 retries an arrival on average within 1h"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        (void)snprintf(text, sizeof text, "alert \"a\" { %s }\n", rows[i].text);
        struct alerts_file file = read_text(text);
        struct strbuf words = {0}, summary = {0};
        assert_int_equal(file.rule_count, 1);
        alert_rule_words(&file.rules[0], &words);
        alert_summary(&file.rules[0], rows[i].value, rows[i].of, &summary);
        assert_string_equal(strbuf_text(&words), rows[i].words);
        assert_string_equal(strbuf_text(&summary), rows[i].summary);
        strbuf_release(&words);
        strbuf_release(&summary);
        alerts_file_release(&file);
    }
}

static void
test_whole_rule(void **state)
{
    (void)state;
    struct alerts_file file =
        read_text("# ours\nalert \"too many\" {\n  when = \"pending\"\n  above = 1000\n  clear = 800\n"
                  "  for = \"5m\"\n  severity = \"page\"\n  labels = { \"team=orders\", \"x=a=b\" }\n"
                  "  description = \"look\"\n  runbook = \"https://wiki/dlq\"\n}\n"
                  "alert \"off\" { when = \"pending\" above = 1 enabled = \"no\" }\n");
    const struct alert_rule *rule = &file.rules[0];
    assert_int_equal(file.rule_count, 1);
    assert_int_equal(file.disabled, 1);
    assert_string_equal(rule->name, "too many");
    assert_true(rule->limit == 1000 && rule->clear == 800 && !rule->is_below);
    assert_int_equal(rule->for_us, 300 * US_PER_SECOND);
    assert_string_equal(rule->severity, "page");
    assert_string_equal(rule->description, "look");
    assert_string_equal(rule->runbook, "https://wiki/dlq");
    assert_int_equal(rule->label_count, 2);
    assert_string_equal(rule->labels[1].name, "x");
    assert_string_equal(rule->labels[1].value, "a=b");
    alerts_file_release(&file);
}

static void
test_built_in(void **state)
{
    struct alerts_file file;
    struct err err = {0};
    (void)state;
    if (!alerts_file_read(NULL, &file, &err))
        fail_msg("%s", err.text);
    assert_int_equal(file.rule_count, 17);
    assert_int_equal(file.disabled, 2);
    assert_int_equal(file.destination_count, 0);
    for (size_t i = 0; i < file.rule_count; i++)
        assert_non_null(file.rules[i].description);
    alerts_file_release(&file);
}

static void
test_mistakes(void **state)
{
    static const struct {
        const char *text, *sentence; // behind the file's name
    } rows[] = {
        {"alert \"a\" {\n when = \"pendin\"\n above = 1\n}\n",
         ":2: alert \"a\": there is no condition \"pendin\"; did you mean pending?"},
        {"alert \"a\" {\n above = 1\n}\n", "alert \"a\": it needs a condition"},
        {"alert \"a\" {\n when = \"pending\"\n}\n", ":2: alert \"a\": it needs a threshold"},
        {"alert \"a\" {\n when = \"pending\"\n above = lots\n}\n",
         ":3: alert \"a\": \"lots\" is not a number of events"},
        {"alert \"a\" {\n when = \"rate\"\n above = \"10/y\"\n}\n",
         ":3: alert \"a\": \"10/y\" is not events per time"},
        {"alert \"a\" {\n when = \"pending\"\n above = 0x10\n}\n", ":3: "},
        {"alert \"a\" {\n when = \"pending\"\n above = nan\n}\n", ":3: "},
        {"alert \"a\" {\n when = \"success\"\n below = \"120%\"\n}\n", ":3: "},
        {"alert \"a\" {\n when = \"pending\"\n above = 10\n clear = 20\n}\n",
         ":4: alert \"a\": clear is above the threshold"},
        {"alert \"a\" {\n when = \"pending\"\n above = 10\n below = 5\n}\n",
         ":4: alert \"a\": it has above and below"},
        {"alert \"a\" {\n when = \"pending\"\n above = 10\n window = \"5m\"\n}\n",
         ":4: alert \"a\": pending has no window"},
        {"alert \"a\" {\n when = \"group\"\n above = 10\n window = \"2h\"\n}\n",
         ":4: alert \"a\": the window of group is 1m to 1h long"},
        {"alert \"a\" {\n when = \"pending\"\n above = 10\n for = soon\n}\n", ":4: "},
        {"alert \"a\" {\n when = \"share\"\n above = 10\n}\n", "share needs a part"},
        {"alert \"a\" {\n when = \"share\"\n above = 10\n category = \"odd\"\n}\n",
         ":4: alert \"a\": a category is transient"},
        {"alert \"a\" {\n when = \"rate\"\n above = 10\n type = \"t\"\n}\n",
         ":4: alert \"a\": only pending and share"},
        {"alert \"a\" {\n when = \"pending\"\n above = 10\n labels = { \"a b=c\" }\n}\n",
         ":4: \"a b=c\" is no label"},
        {"alert \"a\" {\n when = \"pending\"\n abov = 10\n}\n", "abov"},
        {"alert \"a\" { when = \"pending\" above = 1 }\nalert \"a\" { when = \"pending\" above = 2 }\n", "a"},
        {"destination \"irc\" {\n url = \"http://x\"\n}\n", "there is no destination \"irc\""},
        {"destination \"slack\" {\n}\n", "it needs a url"},
        {"destination \"slack\" {\n url = \"file:///etc/passwd\"\n}\n",
         ":2: destination \"slack\": a url begins with https://"},
        {"destination \"pagerduty\" {\n}\n", "PagerDuty needs the integration's key"},
        {"destination \"command\" {\n command = { \"sendmail\" }\n}\n",
         ":2: destination \"command\": it needs a command with its whole path"},
        {"destination \"slack\" {\n url = \"http://a\"\n}\ndestination \"slack\" {\n url = \"http://b\"\n}\n",
         "another destination has this name"},
        {"destination \"command\" {\n command = { \"/bin/true\" }\n to = \"a\nBcc: b\"\n}\n",
         "an address is one line"},
        {"destination \"command\" {\n command = { \"/bin/true\" }\n from = \"Jörg <j@example.com>\"\n}\n",
         ":3: destination \"command\": an address is one line of ASCII"},
        {"destination \"slack\" {\n url.file = \"/nowhere/at/all\"\n}\n", ":2: destination \"slack\": "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct alerts_file file;
        struct err err = {0};
        write_file(rows[i].text);
        if (alerts_file_read(path, &file, &err))
            fail_msg("taken: %s", rows[i].text);
        if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, rows[i].sentence))
            fail_msg("%s\nsays: %s", rows[i].text, err.text);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void
test_destinations(void **state)
{
    char text[600], secret[220];
    (void)state;
    (void)snprintf(secret, sizeof secret, "%s.url", path);
    FILE *out = fopen(secret, "w");
    assert_non_null(out);
    fputs("https://hooks.example/T0/B0/xyz\n", out);
    fclose(out);
    chmod(secret, 0600);
    (void)snprintf(text, sizeof text,
                   "destination \"slack\" { url.file = \"%s\" severity = { \"page\" } }\n"
                   "destination \"alertmanager\" { url = \"http://127.0.0.1:9093\" name = \"am\" }\n"
                   "destination \"command\" { command = { \"/bin/cat\", \"-n\" } to = \"a@b\" }\n",
                   secret);
    struct alerts_file file = read_text(text);
    assert_int_equal(file.destination_count, 3);
    assert_string_equal(file.destinations[0].url, "https://hooks.example/T0/B0/xyz");
    assert_string_equal(file.destinations[0].severities[0], "page");
    assert_string_equal(file.destinations[1].name, "am");
    assert_string_equal(file.destinations[2].argv[1], "-n");
    assert_null(file.destinations[2].argv[2]);
    alerts_file_release(&file);

    // One that others can read is no secret.
    chmod(secret, 0644);
    struct err err = {0};
    assert_false(alerts_file_read(path, &file, &err));
    assert_non_null(strstr(err.text, "chmod"));
    assert_null(strstr(err.text, "xyz"));
    unlink(secret);
}

int
main(void)
{
    (void)snprintf(path, sizeof path, "/tmp/redrive-alerts.%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_whole_rule),   cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_destinations),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
