// core/runbook, settings/runbook_file and core/people: what a runbook may say, the sentence for each mistake,
// which entry counts; and the times that people type.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/people.h"
#include "settings/runbook_file.h"

static char path[200];

static void
write_file(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static struct runbook *
read_text(const char *text)
{
    struct runbook *runbook;
    struct err err = {0};
    write_file(text);
    if (!runbook_file_read(path, &runbook, &err))
        fail_msg("%s", err.text);
    return runbook;
}

static const char *
cause_of(struct runbook *runbook, const struct runbook_subject *subject)
{
    const struct advice *advice = runbook_find(runbook, subject);
    return advice ? advice->cause : "";
}

static void
test_matches(void **state)
{
    struct runbook *runbook = read_text(
        "cause \"narrow\" { class = \"Timeout\" category = \"transient\" filter = \"topic:payments\" }\n"
        "cause \"slow\" { class = \"timeout|TIMEOUT\" first = \"check it\" link = \"https://w.example/a\" }\n"
        "cause \"filtered\" { filter = \"type:order.created !class:Timeout schema\" }\n"
        "cause \"data\" { category = \"data\" }\n");
    (void)state;
    static const struct {
        const char *error_class, *message, *topic, *type;
        enum category category;
        const char *cause;
    } rows[] = {
        {"java.net.SocketTimeoutException", "x", "payments", NULL, CATEGORY_TRANSIENT, "narrow"},
        // A capital letter makes a pattern exact.
        {"java.net.SocketTimeoutException", "x", NULL, NULL, CATEGORY_DATA, "data"},
        {"TIMEOUT", "x", NULL, NULL, CATEGORY_UNKNOWN, "slow"},
        {NULL, "TIMEOUT of the shop", NULL, NULL, CATEGORY_UNKNOWN, "slow"},
        {"Odd", "TIMEOUT of the shop", NULL, NULL, CATEGORY_UNKNOWN, ""},
        {"Odd", "no schema", NULL, "order.created", CATEGORY_UNKNOWN, "filtered"},
        {"Odd", "no schema", NULL, NULL, CATEGORY_DATA, "data"},
        {NULL, NULL, NULL, NULL, CATEGORY_SYSTEM, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct runbook_subject subject = {.category = rows[i].category,
                                                .error_class = bytes_of(rows[i].error_class),
                                                .message = bytes_of(rows[i].message),
                                                .topic = bytes_of(rows[i].topic),
                                                .event_type = bytes_of(rows[i].type)};
        assert_string_equal(cause_of(runbook, &subject), rows[i].cause);
    }
    struct arena arena = {0};
    assert_string_equal(advice_words(runbook_at(runbook, 1), &arena), "slow: check it · https://w.example/a");
    assert_int_equal(runbook_count(runbook), 4);
    arena_release(&arena);
    runbook_destroy(runbook);
}

static void
test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"cause \"a\" {\n first = \"x\"\n}\n", ":2: cause \"a\": it matches nothing"},
        {"cause \"a\" {\n category = \"date\"\n}\n", ":2: cause \"a\": a category is transient"},
        {"cause \"a\" {\n class = \"(\"\n}\n", ":2: cause \"a\": "},
        {"cause \"a\" {\n\n filter = \"payload:x\"\n}\n", ":3: cause \"a\": a filter here is about error"},
        {"cause \"a\" {\n filter = \"topik:x\"\n}\n", ":2: cause \"a\": "},
        {"cause \"a\" {\n class = \"x\"\n link = \"javascript:alert(1)\"\n}\n",
         ":3: cause \"a\": a link begins"},
        {"cause \"a\" {\n class = \"x\"\n link = \"https://a b\"\n}\n", ":3: cause \"a\": a link begins"},
        {"cause \"a\" {\n class = \"x\"\n link = \"https://\"\n}\n", ":3: cause \"a\": a link begins"},
        {"cause \"\" {\n class = \"x\"\n}\n", "a cause needs words"},
        {"cause \"a\" {\n clas = \"x\"\n}\n", ":2: "},
        {"because \"a\" { }\n", ":1: "},
        {"cause \"a\" {\n", ":"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct runbook *runbook = NULL;
        struct err err = {0};
        write_file(rows[i].text);
        assert_false(runbook_file_read(path, &runbook, &err));
        assert_null(runbook);
        if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, rows[i].sentence))
            fail_msg("%s", err.text);
        assert_int_equal(err.kind, ERR_USAGE);
    }
    struct runbook *runbook = NULL;
    struct err err = {0};
    assert_false(runbook_file_read("/nowhere/runbook", &runbook, &err));
    assert_non_null(strstr(err.text, "/nowhere/runbook"));
    assert_true(runbook_file_read(NULL, &runbook, &err));
    assert_int_equal(runbook_count(runbook), 0);
    runbook_destroy(runbook);
}

// The shipped example is sound and knows the errors that every table has.
static void
test_example(void **state)
{
    struct runbook *runbook;
    struct err err = {0};
    (void)state;
    if (!runbook_file_read("monitoring/runbook.conf", &runbook, &err))
        fail_msg("%s", err.text);
    static const struct {
        const char *error_class;
        enum category category;
        const char *cause;
    } rows[] = {
        {"java.net.SocketTimeoutException", CATEGORY_TRANSIENT, "a slow or absent dependency"},
        {"com.acme.ValidationException", CATEGORY_DATA, "a payload that breaks a rule"},
        {"DATA_ERROR", CATEGORY_UNKNOWN, "a payload that breaks a rule"},
        {"TIMEOUT", CATEGORY_UNKNOWN, "a slow or absent dependency"},
        {"POISON_PILL", CATEGORY_UNKNOWN, "an event that the consumer cannot survive"},
        {"AuthorizationException", CATEGORY_UNKNOWN, "the consumer may not do this"},
        {"com.acme.ParseException", CATEGORY_DATA, "the schema differs from what the producer wrote"},
        {"com.acme.Odd", CATEGORY_PERMANENT, "will never succeed"},
        {"com.acme.Odd", CATEGORY_UNKNOWN, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct runbook_subject subject = {.category = rows[i].category,
                                                .error_class = bytes_of(rows[i].error_class)};
        assert_string_equal(cause_of(runbook, &subject), rows[i].cause);
    }
    runbook_destroy(runbook);
}

#define MINUTES (60 * US_PER_SECOND)

static void
test_times(void **state)
{
    const int64_t now = 1763647331 * US_PER_SECOND; // 2025-11-20 14:02:11 UTC
    (void)state;
    static const struct {
        const char *text;
        int64_t length; // in seconds; 0: refused
    } rows[] = {{"2h", 7200},      {"14:30", 1669}, {"14:02", 86389}, {"9:05", 68569},
                {"24:00", 0},      {"14:60", 0},    {"1430:", 0},     {"2025-11-20T15:02:11", 3600},
                {"2025-11-20", 0}, {"0", 0},        {"-2h", 0},       {"tomorrow", 0},
                {"", 0},           {" 30m ", 1800}, {"a:30", 0},      {"2025-11-21 14:02:11", 86400}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t length = 0;
        struct err err = {0};
        bool ok = until_parse(bytes_of(rows[i].text), now, &length, &err);
        if (ok != (rows[i].length > 0) || (ok && length != rows[i].length * US_PER_SECOND))
            fail_msg("%s: %lld %s", rows[i].text, (long long)length, err.text);
    }
    char text[TIME_TEXT];
    assert_string_equal(until_text(now + 28 * MINUTES, now, text), "14:30");
    assert_string_equal(until_text(now + 1440 * MINUTES, now, text), "2025-11-21 14:02");
}

static void
test_care(void **state)
{
    const struct group_care care = {.group = 7,
                                    .taken = {.who = "anna", .at = 1, .until = 100},
                                    .snooze = {.who = "ben", .at = 1, .until = 50, .above = 10}};
    const struct people people = {.cares = (struct group_care *)(uintptr_t)&care, .care_count = 1};
    (void)state;
    assert_true(care_is_taken(&care, 99));
    assert_false(care_is_taken(&care, 100));
    assert_false(care_is_taken(NULL, 0));
    assert_true(care_is_snoozed(&care, 49, 10));
    assert_false(care_is_snoozed(&care, 49, 11));
    assert_false(care_is_snoozed(&care, 50, 1));
    assert_int_equal(snooze_above(880), 8800);
    assert_int_equal(snooze_above(0), 10);
    assert_ptr_equal(people_care(&people, 7), &care);
    assert_null(people_care(&people, 8));
    assert_null(people_care(NULL, 7));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches), cmocka_unit_test(test_mistakes), cmocka_unit_test(test_example),
        cmocka_unit_test(test_times),   cmocka_unit_test(test_care),
    };
    setenv("TZ", "UTC", 1);
    snprintf(path, sizeof path, "/tmp/redrive-runbook-%d", (int)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
