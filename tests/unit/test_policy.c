// core/schedule, core/policy and settings/policies_file: when a policy is due, which events rest, when one
// halts itself, and the sentence for each mistake in a file.
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
#include "core/policy.h"
#include "settings/policies_file.h"

static const int64_t HOUR = 3600 * US_PER_SECOND;

static char path[200];

// --- schedules ---

static int64_t
wall(const char *text)
{
    int64_t us;
    bool is_date;
    struct err err = {0};
    if (!time_parse_wall(bytes_of(text), &us, &is_date, &err))
        fail_msg("%s", err.text);
    return us;
}

static void
test_next(void **state)
{
    static const struct {
        const char *schedule, *window, *after, *next;
    } rows[] = {
        {"0 2 * * *", NULL, "2026-11-23T01:59:59", "2026-11-23T02:00"},
        {"0 2 * * *", NULL, "2026-11-23T02:00", "2026-11-24T02:00"},
        {"*/15 8-18 * * 1-5", NULL, "2026-11-20T18:45", "2026-11-23T08:00"}, // Friday to Monday
        {"0 0 29 2 *", NULL, "2026-11-23", "2028-02-29"},
        {"0 0 * * 7", NULL, "2026-11-23", "2026-11-29"},
        {"0 0 * * 0", NULL, "2026-11-23", "2026-11-29"},
        {"0 0 1 * 1", NULL, "2026-11-24", "2026-11-30"}, // either kind of day
        {"5,10-12/2 3/6 * * *", NULL, "2026-11-23T03:11", "2026-11-23T03:12"},
        {"0 12 31 * *", NULL, "2026-11-23", "2026-12-31T12:00"},
        {"0 * * * *", "22:00-02:00", "2026-11-23T12:00", "2026-11-23T22:00"},
        {"0 * * * *", "22:00-02:00", "2026-11-23T23:30", "2026-11-24T00:00"},
        {"0 * * * *", "22:00-02:00", "2026-11-24T01:00", "2026-11-24T22:00"},
        {"every 10m", NULL, "2026-11-23T12:03:04", "2026-11-23T12:13:04"},
        {"every 10m", "22:00-06:00", "2026-11-23T05:55", "2026-11-23T22:00"},
        {"every 1d", "22:00-06:00", "2026-11-23T23:00", "2026-11-24T23:00"},
        {"every 10m", "08:00-18:00", "2026-11-23T19:00", "2026-11-24T08:00"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_schedule schedule;
        struct day_window window = {0};
        struct err err = {0};
        char got[TIME_TEXT], wanted[TIME_TEXT];
        if (!schedule_parse(bytes_of(rows[i].schedule), &schedule, &err) ||
            (rows[i].window && !day_window_parse(bytes_of(rows[i].window), &window, &err)))
            fail_msg("%s: %s", rows[i].schedule, err.text);
        int64_t zone = 5 * HOUR + HOUR / 2; // the times above are those of a zone
        int64_t next = schedule_next(&schedule, &window, wall(rows[i].after) - zone, zone);
        time_rfc3339(next + zone, 0, got);
        time_rfc3339(wall(rows[i].next), 0, wanted);
        if (strcmp(got, wanted) != 0)
            fail_msg("%s after %s: %s instead of %s", rows[i].schedule, rows[i].after, got, wanted);
    }
}

static void
test_wrong_schedules(void **state)
{
    static const char *const wrong[] = {
        "",           "hourly",   "60 * * * *",  "* 24 * * *",  "* * 0 * *",    "* * 32 * *",  "* * * 13 *",
        "* * * * 8",  "* * * *",  "* * * * * *", "5-3 * * * *", "*/0 * * * *",  "1,, * * * *", "-1 * * * *",
        "1- * * * *", "every 0s", "every",       "every day",   "1000 * * * *", "* * * * MON"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct policy_schedule schedule;
        struct err err = {0};
        if (schedule_parse(bytes_of(wrong[i]), &schedule, &err) || !strstr(err.text, "is no schedule"))
            fail_msg("%s: %s", wrong[i], err.text);
    }
    struct policy_schedule schedule;
    struct day_window window;
    struct err err = {0};
    assert_false(schedule_parse(bytes_of("0 0 30 2 *"), &schedule, &err));
    assert_non_null(strstr(err.text, "never due"));
    static const char *const windows[] = {"22:00", "22:00-22:00", "25:00-26:00", "10:60-11:00", "1-2", "a-b"};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        assert_false(day_window_parse(bytes_of(windows[i]), &window, NULL));
}

// --- events and runs ---

static const struct policy again = {
    .name = "again",
    .action = POLICY_REPROCESS,
    .attempts = 3,
    .backoff = {.first = 60 * US_PER_SECOND, .most = 200 * US_PER_SECOND, .factor = 2},
    .limit = 100,
    .plan = {.halts = true, .halt_above = 20}};

static void
test_backoff(void **state)
{
    static const int64_t rests[] = {60, 120, 200}; // seconds: doubled, and 200 at most
    (void)state;
    int64_t spread = 0;
    for (int32_t attempts = 0; attempts < 3; attempts++)
        for (int64_t id = 1; id <= 1000; id++) {
            struct policy_event event = {.id = id, .attempts = attempts, .failed_at = HOUR};
            int64_t rest = policy_due(&again, &event) - HOUR, least = rests[attempts] * US_PER_SECOND;
            assert_true(rest >= least && rest <= least + least / 4);
            assert_int_equal(rest, policy_due(&again, &event) - HOUR);
            spread = rest - least > spread ? rest - least : spread;
        }
    assert_true(spread > 200 * US_PER_SECOND / 5); // they do not return together
    assert_true(policy_due(&again, &(struct policy_event){.id = 1, .attempts = 3}) == TIME_ABSENT);
}

static bool
judged(const struct policy_result *results, size_t count, const char *words)
{
    struct strbuf why = {0};
    bool is_halted = policy_judge(&again, results, count, &why);
    if (is_halted && (!words || !strstr(strbuf_text(&why), words)))
        fail_msg("halts: %s", strbuf_text(&why));
    strbuf_release(&why);
    return is_halted;
}

static void
test_judge(void **state)
{
    (void)state;
    struct policy_result good = {.no = 9, .state = OPERATION_DONE, .done = 10, .returned = 2};
    assert_false(judged(NULL, 0, NULL));
    assert_false(judged(&good, 1, NULL)); // 20% is not above 20%
    good.returned = 3;
    assert_true(judged(&good, 1, "operation 9: 30% of 10 were refused or returned, which is above 20%"));
    struct policy_result refused = {.no = 4, .state = OPERATION_DONE, .done = 6, .refused = 4};
    assert_true(judged(&refused, 1, "40% of 10"));
    struct policy_result halted = {
        .no = 5, .state = OPERATION_HALTED, .done = 10, .note = "30% returned: halted"};
    assert_true(judged(&halted, 1, "operation 5 halted: 30% returned"));
    struct policy_result cancelled = {.no = 6, .state = OPERATION_CANCELLED};
    assert_true(judged(&cancelled, 1, "operation 6 was cancelled"));

    struct policy_result vain[3] = {{.no = 8, .state = OPERATION_DONE, .skipped = 5},
                                    {.no = 7, .state = OPERATION_DONE, .skipped = 1},
                                    {.no = 6, .state = OPERATION_DONE, .skipped = 2}};
    assert_false(judged(vain, 2, NULL));
    assert_true(judged(vain, 3, "3 runs without effect"));
    vain[1].done = 1;
    assert_false(judged(vain, 3, NULL));
}

static void
test_room_and_rehearsal(void **state)
{
    (void)state;
    assert_int_equal(policy_room(&again, 0, false), 100);
    assert_int_equal(policy_room(&again, 99, false), 1);
    assert_int_equal(policy_room(&again, 100, false), 0);
    assert_int_equal(policy_room(&again, 140, true), 0);
    assert_int_equal(policy_room(&again, 3, true), 1);
    struct policy_day days[4] = {{.matched = 40}, {.matched = 250}, {.matched = 0}, {.matched = 10}};
    policy_rehearse(&again, days, 4);
    static const int64_t acted[] = {40, 100, 100, 60}, left[] = {0, 150, 50, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(days[i].acted, acted[i]);
        assert_int_equal(days[i].left, left[i]);
    }
}

// --- files ---

static void
write_file(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void
test_whole_policy(void **state)
{
    struct policies_file file;
    struct err err = {0};
    (void)state;
    write_file(
        "# mine\npolicy \"night shift\" {\n  group = \"00112233445566ff\"\n  category = \"transient\"\n"
        "  class = \"TimeoutException\"  filter = \"topic:a or topic:b\"  older_than = \"1d\"\n"
        "  action = \"REPROCESS\"\n  schedule = \"0 2 * * *\"  window = \"02:00-05:00\"\n"
        "  attempts = 2  backoff = \"1m\"  factor = 1.5  at_most = \"2h\"\n"
        "  rate = 20  canary = 5  settle_for = \"30s\"  halt_above = \"10%\"  limit = 500\n"
        "  target = \"retries\"  probe_after = \"1h\"  enabled = \"yes\"\n}\n"
        "policy \"plain\" { category = \"data\" action = \"alert\" }\n"
        "policy \"retention\" { older_than = \"90d\" action = \"archive\" schedule = \"0 4 * * *\" }\n");
    if (!policies_file_read(path, &file, &err))
        fail_msg("%s", err.text);
    assert_int_equal(file.count, 3);
    assert_null(file.policies[2].filter);
    assert_true(file.policies[2].older_than == 90 * 24 * HOUR);
    assert_string_equal(file.policies[2].words, "archive what was closed 90d ago, 0 4 * * *");
    const struct policy *policy = policies_file_find(&file, "night shift");
    assert_string_equal(policy->filter,
                        "(topic:a or topic:b) category:transient class:\"TimeoutException\" age:>1d");
    assert_string_equal(policy->group, "00112233445566ff");
    assert_int_equal(policy->attempts, 2);
    assert_true(policy->backoff.first == 60 * US_PER_SECOND && policy->backoff.most == 2 * HOUR);
    assert_true(policy->backoff.factor == 1.5 && policy->is_enabled);
    assert_int_equal(policy->plan.steps[0], 5);
    assert_int_equal(policy->plan.settle_for, 30 * US_PER_SECOND);
    assert_true(policy->plan.halts && policy->plan.halt_above == 10);
    assert_int_equal(policy->rate, 20);
    assert_int_equal(policy->limit, 500);
    assert_string_equal(policy->target, "retries");
    assert_string_equal(
        policy->words, "reprocess (topic:a or topic:b) category:transient class:\"TimeoutException\" age:>1d "
                       "of group 00112233445566ff, 0 2 * * * within 02:00-05:00, at most 500 a day");
    assert_false(policies_file_find(&file, "plain")->is_enabled); // nothing acts unless somebody says so
    assert_string_equal(file.policies[1].words, "alert category:data, every 10m");
    policies_file_release(&file);
}

static void
test_shipped(void **state)
{
    struct policies_file file;
    struct err err = {0};
    (void)state;
    if (!policies_file_read("monitoring/policies.conf", &file, &err))
        fail_msg("%s", err.text);
    assert_true(file.count >= 4);
    for (size_t i = 0; i < file.count; i++)
        assert_false(file.policies[i].is_enabled);
    policies_file_release(&file);
    assert_true(policies_file_read(NULL, &file, &err));
    assert_int_equal(file.count, 0);
    policies_file_release(&file);
}

static void
test_mistakes(void **state)
{
    static const struct {
        const char *body, *words;
    } rows[] = {
        {"category = \"data\"",
         ":2: policy \"p\": action is reprocess, alert, discard, manual_review, archive or purge"},
        {"action = \"retry\" category = \"data\"", "action is reprocess"},
        {"action = \"alert\"", "which events"},
        {"action = \"archive\"", "archive needs an age: older_than"},
        {"action = \"purge\" older_than = \"0s\"", "purge needs an age"},
        {"action = \"archive\" older_than = \"90d\" category = \"data\"", "older_than alone chooses"},
        {"action = \"archive\" older_than = \"90d\" limit = 5", "limit is for actions on pending"},
        {"action = \"archive\" older_than = \"90d\" rate = 5", "rate is for action"},
        {"action = \"alert\" category = \"dat\"", "a category is transient"},
        {"action = \"alert\" group = \"12\"", "16 digits"},
        {"action = \"alert\" filter = \"topik:a\"", "topic"},
        {"action = \"alert\" filter = \"status:all\"", "leave status: out"},
        {"action = \"alert\" category = \"data\" schedule = \"daily\"", "is no schedule"},
        {"action = \"alert\" category = \"data\" window = \"10-12\"", "no part of a day"},
        {"action = \"alert\" category = \"data\" schedule = \"0 2 * * *\" window = \"10:00-12:00\"",
         "never due within the window"},
        {"action = \"alert\" category = \"data\" rate = 5", "rate is for action \"reprocess\""},
        {"action = \"reprocess\" category = \"data\" rate = 0", "rate is a number from 1"},
        {"action = \"reprocess\" category = \"data\" attempts = 11", "attempts is a number from 1 to 10"},
        {"action = \"reprocess\" category = \"data\" factor = 0.5", "factor is a number"},
        {"action = \"reprocess\" category = \"data\" backoff = \"2h\"", "at_most is below backoff"},
        {"action = \"reprocess\" category = \"data\" halt_above = \"many\"", "many"},
        {"action = \"reprocess\" category = \"data\" target = \"a b\"", "the name of a topic"},
        {"action = \"reprocess\" category = \"data\" recipe = \"none.recipe\"", "none.recipe cannot be read"},
        {"action = \"reprocess\" category = \"data\" enabled = \"on\"", "enabled is yes or no"},
        {"action = \"reprocess\" categroy = \"data\"", "category"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        struct policies_file file;
        struct err err = {0};
        (void)snprintf(text, sizeof text, "policy \"p\" {\n %s }\n", rows[i].body);
        write_file(text);
        if (policies_file_read(path, &file, &err))
            fail_msg("%s is sound", rows[i].body);
        if (!strstr(err.text, rows[i].words) || strncmp(err.text, path, strlen(path)) != 0)
            fail_msg("%s: %s", rows[i].body, err.text);
    }
}

int
main(void)
{
    (void)snprintf(path, sizeof path, "/tmp/redrive-policies.%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_wrong_schedules),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_room_and_rehearsal),
        cmocka_unit_test(test_whole_policy),
        cmocka_unit_test(test_shipped),
        cmocka_unit_test(test_mistakes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
