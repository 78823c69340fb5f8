#include "core/fingerprint/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "settings/rules_file.h"
#include "core/fingerprint/fingerprint.h"

// The rules of a file with this text, or NULL and the sentence in err.
static struct group_rules *
read_text(const char *text, struct err *err)
{
    char path[] = "/tmp/redrive-rules-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    struct group_rules *rules = NULL;
    bool ok = rules_file_read(path, &rules, err);
    unlink(path);
    assert_int_equal(ok, rules != NULL);
    return rules;
}

static struct group_rules *
read_good(const char *text)
{
    struct err err = {0};
    struct group_rules *rules = read_text(text, &err);
    if (rules == NULL)
        fail_msg("%s", err.text);
    return rules;
}

static uint64_t
key_with(const struct group_rules *rules, const char *message)
{
    struct fingerprint_input input = {.message = bytes_of(message), .rules = rules};
    return fingerprint_key(&input);
}

static void
test_merge_takes_the_smallest_key(void **state)
{
    (void)state;
    uint64_t a = key_with(NULL, "first thing");
    uint64_t b = key_with(NULL, "second thing");
    char text[200];
    snprintf(text, sizeof text, "merge \"one\" { groups = { \"%016llx\", \"%016llx\" } }",
             (unsigned long long)b, (unsigned long long)a);
    struct group_rules *rules = read_good(text);
    assert_true(key_with(rules, "first thing") == (a < b ? a : b));
    assert_true(key_with(rules, "second thing") == (a < b ? a : b));
    assert_true(key_with(rules, "third thing") == key_with(NULL, "third thing"));

    struct arena arena = {0};
    struct fingerprint_input input = {.message = BYTES("second thing"), .rules = rules};
    struct fingerprint print = fingerprint_explain(&input, &arena);
    assert_true(print.text_key == b);
    if (a < b)
        assert_true(print.key == a);
    assert_string_equal(print.rule, "one");
    arena_release(&arena);
    group_rules_destroy(rules);
}

static void
test_longest_text_merges(void **state)
{
    (void)state;
    struct group_rules *rules = read_good("merge \"a\" { text = \"legacy\" }\n"
                                          "merge \"b\" { text = \"legacy import\" }\n");
    assert_true(key_with(rules, "x: legacy import broke") == key_with(rules, "y and legacy import 7"));
    assert_true(key_with(rules, "x: legacy broke") == key_with(rules, "legacy: y"));
    assert_true(key_with(rules, "x: legacy import") != key_with(rules, "legacy: y"));
    group_rules_destroy(rules);
}

static void
test_split_by_word(void **state)
{
    (void)state;
    uint64_t key = key_with(NULL, "no stock for 'BR'");
    char text[200];
    snprintf(text, sizeof text, "split \"by country\" { group = \"%016llx\" keep = { \"BR\", \"KR\" } }",
             (unsigned long long)key);
    struct group_rules *rules = read_good(text);
    assert_true(key_with(NULL, "no stock for 'KR'") == key);
    assert_true(key_with(rules, "no stock for 'KR'") != key_with(rules, "no stock for 'BR'"));
    assert_true(key_with(rules, "no stock for 'US'") == key);
    assert_true(key_with(rules, "no stock for 'BRA'") == key); // a whole word
    group_rules_destroy(rules);
}

static void
test_own_prefix_chooses_the_frame(void **state)
{
    (void)state;
    struct group_rules *rules = read_good("own = { \"org.springframework.samples.\" }");
    struct fingerprint_input input = {
        .message = BYTES("null"),
        .stack = BYTES("java.lang.NullPointerException\n"
                       "\tat org.springframework.util.Assert.notNull(Assert.java:1)\n"
                       "\tat org.springframework.samples.Clinic.save(Clinic.java:2)\n")};
    struct arena arena = {0};
    assert_false(bytes_present(fingerprint_explain(&input, &arena).frame));
    input.rules = rules;
    struct bytes frame = fingerprint_explain(&input, &arena).frame;
    assert_true(bytes_equal_text(frame, "org.springframework.samples.Clinic.save"));
    arena_release(&arena);
    group_rules_destroy(rules);
}

static void
test_version_follows_what_the_rules_say(void **state)
{
    (void)state;
    static const char one[] = "merge \"a\" { text = \"legacy\" }\nown = {\"a.\", \"b.\"}\n";
    static const char other_order[] =
        "# the same\nown = {\"b.\", \"a.\"}\nmerge \"a\" { text = \"legacy\" }\n";
    static const char more[] = "merge \"a\" { text = \"legacy \" }\nown = {\"a.\", \"b.\"}\n";
    struct group_rules *rules[] = {read_good(one), read_good(other_order), read_good(more), read_good("")};
    char versions[4][GROUP_RULES_VERSION];
    for (int i = 0; i < 4; i++)
        group_rules_version(rules[i], versions[i]);
    char plain[GROUP_RULES_VERSION];
    snprintf(plain, sizeof plain, "%d", FINGERPRINT_VERSION);
    assert_string_equal(versions[0], versions[1]);
    assert_string_not_equal(versions[0], versions[2]);
    assert_string_equal(versions[3], plain);
    assert_int_equal(group_rules_number(rules[0]), group_rules_number(rules[1]));
    assert_int_not_equal(group_rules_number(rules[0]), group_rules_number(rules[2]));
    assert_int_equal(group_rules_number(NULL), FINGERPRINT_VERSION);
    for (int i = 0; i < 4; i++)
        group_rules_destroy(rules[i]);
}

static void
test_faults_have_a_place_and_a_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"\nmerg \"a\" { }", ":2: there is no option \"merg\"; did you mean merge?"},
        {"merge \"a\" {\n group = {\"x\"} }", ":2: there is no option \"group\"; did you mean groups?"},
        {"merge \"a\" {\n groups = {\"17\"} }", ":2: \"17\" is no group"},
        {"# a remark\n/* and\nanother */\nmerg \"a\" { }", ":4: there is no option"},
        {"own = {\"a.\"", "ends too early"},
        {"merge \"a\" { groups = {\"00c7918f6f1b7231\"} }", "it takes two to merge"},
        {"merge \"a\" { text = \"abc\" }", "would merge too much"},
        {"merge \"a\" { }", "needs either groups or a text"},
        {"split \"a\" { keep = {\"x\"} }", ":1: split \"a\" needs a group"},
        {"split \"a\" { group = \"00c7918f6f1b7231\" }", "needs the words to keep"},
        {"merge \"a\" { groups = {\"00c7918f6f1b7231\", \"10c7918f6f1b7231\"} }\n"
         "merge \"b\" { groups = {\"00c7918f6f1b7231\", \"20c7918f6f1b7231\"} }",
         "group 00c7918f6f1b7231 is merged by \"a\" and by \"b\"; leave one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err err = {0};
        assert_null(read_text(rows[i].text, &err));
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%s\nsays: %s", rows[i].text, err.text);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_takes_the_smallest_key),
        cmocka_unit_test(test_longest_text_merges),
        cmocka_unit_test(test_split_by_word),
        cmocka_unit_test(test_own_prefix_chooses_the_frame),
        cmocka_unit_test(test_version_follows_what_the_rules_say),
        cmocka_unit_test(test_faults_have_a_place_and_a_way_out),
    };
    return cmocka_run_group_tests_name("group_rules", tests, NULL, NULL);
}
