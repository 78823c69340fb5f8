#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "core/filter/required_literals.h"
#include "core/filter/pattern.h"
#include "tests/unit/cpu_time.h"

static struct pattern *
compile(const char *text)
{
    struct err err = {0};
    struct pattern *pattern;
    if (!pattern_compile(&pattern, bytes_of(text), &err))
        fail_msg("%s: column %d: %s", text, err.column, err.text);
    return pattern;
}

static enum pattern_verdict
find(const char *expression, struct bytes text)
{
    struct pattern *pattern = compile(expression);
    enum pattern_verdict verdict = pattern_find(pattern, text, 0, NULL, NULL);
    pattern_destroy(pattern);
    return verdict;
}

static void
a_capital_makes_it_exact(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        enum pattern_verdict verdict;
    } rows[] = {
        {"needle", "a NEEDLE", PATTERN_YES},
        {"Needle", "needle", PATTERN_NO},
        {"Needle", "Needle", PATTERN_YES},
        {"\\Sx", "aX", PATTERN_YES},           // the capital of an escape is none
        {"\\x4Eeedle", "NEEDLE", PATTERN_YES}, // nor are its digits
        {"\\x{4E}eedle", "nEEDLE", PATTERN_YES},
        {"\\\\Needle", "\\needle", PATTERN_NO}, // behind an escaped backslash it is one
        {"\\p{Lu}", "needle", PATTERN_NO},      // asks for capitals
        {"\xc3\xa9tat", "\xc3\x89TAT", PATTERN_YES},
        {"\xc3\x89tat", "\xc3\xa9tat", PATTERN_NO}, // É
        {"\xc3\x89tat", "\xc3\x89tat", PATTERN_YES},
        {"\xce\xa3\xce\xb1", "\xcf\x83\xce\xb1", PATTERN_NO}, // Σ
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (find(rows[i].pattern, bytes_of(rows[i].text)) != rows[i].verdict)
            fail_msg("%s in %s: not %d", rows[i].pattern, rows[i].text, rows[i].verdict);
}

static void
a_mistake_has_its_column_in_characters(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        int column;
        const char *words;
    } rows[] = {
        {"(oops", 6, "( is not closed"},
        {"\xc3\xa9(", 3, "( is not closed"},
        {"a)", 2, ") closes nothing"},
        {"[a", 3, "[ is not closed"},
        {"a**", 3, "repeat"},
        {"\\C", 3, "\\C"},
        {"(?C1", 5, "closing parenthesis"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        struct pattern *pattern;
        if (pattern_compile(&pattern, bytes_of(rows[i].pattern), &err))
            fail_msg("%s was read", rows[i].pattern);
        if (err.column != rows[i].column || !strstr(err.text, rows[i].words))
            fail_msg("%s: column %d: %s", rows[i].pattern, err.column, err.text);
    }
}

static void
length_and_nesting_end(void **state)
{
    (void)state;
    struct err err = {0};
    struct pattern *pattern;
    char text[1100];
    memset(text, 'a', sizeof text);
    assert_true(pattern_compile(&pattern, (struct bytes){text, 1024}, NULL));
    pattern_destroy(pattern);
    assert_false(pattern_compile(&pattern, (struct bytes){text, 1025}, &err));
    assert_int_equal(err.column, 1025);

    memset(text, '(', 60);
    memset(text + 60, ')', 60);
    assert_false(pattern_compile(&pattern, (struct bytes){text, 120}, NULL));
    assert_true(pattern_compile(&pattern, (struct bytes){text + 20, 80}, NULL));
    pattern_destroy(pattern);
}

// Latin-1 among UTF-8, and payloads that are no text at all.
static void
bad_bytes_are_characters_like_others(void **state)
{
    (void)state;
    struct pattern *pattern = compile("needle");
    size_t start;
    size_t len;
    assert_int_equal(pattern_find(pattern, BYTES("\xff\xfe NEEDLE \x80"), 0, &start, &len), PATTERN_YES);
    assert_int_equal(start, 3);
    assert_int_equal(len, 6);
    assert_int_equal(pattern_find(pattern, BYTES("needle"), 1, NULL, NULL), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, BYTES("needle"), 7, NULL, NULL), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, BYTES(""), 0, NULL, NULL), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, BYTES_ABSENT, 0, NULL, NULL), PATTERN_NO);
    pattern_destroy(pattern);

    assert_int_equal(find("connect.*failed", BYTES("connect \xe9\xff failed")), PATTERN_YES);
    assert_int_equal(find("^a.{3}b$", BYTES("a\xe2\x82\xc0"
                                            "b")),
                     PATTERN_YES); // three bad bytes, three characters
    assert_int_equal(find("\xc3\xa9", BYTES("\xff\xc3\xa9")), PATTERN_YES);
    assert_int_equal(find("a\\x00b", BYTES("a\0b")), PATTERN_YES);
}

static void
a_start_within_a_character_is_moved_on(void **state)
{
    (void)state;
    struct pattern *pattern = compile(".");
    size_t start;
    size_t len;
    struct bytes text = BYTES("\xe2\x82\xac!");
    assert_int_equal(pattern_find(pattern, text, 1, &start, &len), PATTERN_YES);
    assert_int_equal(start, 3);
    assert_int_equal(pattern_find(pattern, text, 0, &start, &len), PATTERN_YES);
    assert_int_equal(len, 3);
    pattern_destroy(pattern);
}

static void
what_every_match_holds_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *holds;
    } rows[] = {
        {"timed out", "timed out"},
        {"host\\.name", "host.name"},
        {"timed out after \\d+", "timed out after "},
        {"pay-(1|2):443x", ":443x"},
        {"^abc$", "abc"},
        {"abcd?e", "abc"},
        {"ab+c", "ab"},
        {"abc{2}", "abc"},
        {"abc{0,2}de", "ab"},
        {"a*b", "b"},
        {"[]x]abc[^]y]", "abc"},
        {"[[:alpha:]]]abc", "]abc"},
        {"\\p{Lu}abc\\x{41}", "abc"},
        {"\\x41bc", "bc"},
        {"a(?:b)cd", "cd"},
        {"(?=abc)de(?!f)", "de"},
        {"\xc3\xa9t\xc3\xa9?", "\xc3\xa9t"},
        {"a|b", ""},
        {"(?i)abc", ""},
        {"((?x)a#)\n)bcd", ""},
        {"(?#abc)de", ""},
        {"abc(*ACCEPT)d", ""},
        {"\\Qa|b\\E", ""},
        {"abc\\Kd", ""},
        {"(a)bc\\1", ""},
        {"(?:a{2}){0}bc", "bc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern = compile(rows[i].pattern);
        if (!bytes_equal_text(pattern_holds(pattern), rows[i].holds))
            fail_msg("%s holds \"%.*s\"", rows[i].pattern, BYTES_ARGS(pattern_holds(pattern)));
        pattern_destroy(pattern);
    }
}

// For reading: … is anything, · one character.
static void
the_outline_of_every_match_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *required;
        bool is_all; // what fits matches
    } rows[] = {
        {"timed out", "timed out", true},
        {"Disk full", "Disk full", true},
        {"disk full", "di… full", false},
        {"Ol\xc3\xa1 Rui", "Ol\xc3\xa1 Rui", true},
        {"ol\xc3\xa1 rui", "ol… rui", false},
        {"after 1\\d+ ms", "after 1·… m", false},
        {"After 1\\d+ ms", "After 1·… ms", false},
        {"4\\d1.7", "4·1·7", false},
        {"a\\bb^c$d", "abcd", false},
        {"a\\Rb\\Xc", "a…b…c", false},
        {"x(y|z)w", "x…w", false},
        {"x[yz]?w", "x…w", false},
        {"x[yz]{2}w", "x·…w", false},
        {"xy?w+v", "x…w…v", false},
        {".*ab.*", "ab", false},
        {"timed out|refu[cs]ed", "timed out|refu·ed", false},
        {"^ab|", "ab|", false},
        {"a|(?i)b", "", false},
        {"a{x}bc", "bc", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern = compile(rows[i].pattern);
        struct strbuf required = {0};
        required_print(pattern_required(pattern), &required);
        if (strcmp(strbuf_text(&required), rows[i].required) != 0 ||
            pattern_is_required(pattern) != rows[i].is_all)
            fail_msg("%s: \"%s\"", rows[i].pattern, strbuf_text(&required));
        strbuf_release(&required);
        pattern_destroy(pattern);
    }
}

static void
texts_fit_an_outline(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool fits;
    } rows[] = {
        {"timed out", "it TIMED OUT", true},
        {"Timed out", "it timed out", false},
        {"ab.cd.*ef", "ab.cd ef", true},
        {"ab.cd.*ef", "abcd ef", false},
        {"ab.cd.*ef",
         "ab\xed\x95\x9c"
         "cdef",
         true},
        {"ab..cd",
         "ab\xed\x95\x9c"
         "cd",
         false},
        {"ab.*..cd",
         "ab\xed\x95\x9c"
         "cd",
         false},
        {"ab.*ab", "ab", false},
        {"ab.*ab", "abab", true},
        {"abc|ef", "the ef", true},
        {"abc|ef", "ab e f", false},
        {"abc|", "", true},
        {"a.*bc", "abbbc", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern = compile(rows[i].pattern);
        if (required_fits(pattern_required(pattern), pattern_is_caseless(pattern), bytes_of(rows[i].text)) !=
            rows[i].fits)
            fail_msg("%s: %s", rows[i].pattern, rows[i].text);
        pattern_destroy(pattern);
    }
    assert_int_equal(required_weight(BYTES("abc")), 3);
    assert_int_equal(required_weight(BYTES("ab\xff"
                                           "c\xfe"
                                           "d")),
                     2);
    assert_int_equal(required_weight(BYTES("abc\xfd"
                                           "e")),
                     1);
    assert_int_equal(required_weight(BYTES("")), 0);
}

static void
held_text_is_found_in_any_case_where_the_pattern_has_none(void **state)
{
    (void)state;
    struct pattern *pattern = compile("socket\\d");
    // LONG S and KELVIN SIGN are s and k in another case.
    assert_int_equal(pattern_find_held(pattern, BYTES("a SOCKET"), 0), 2);
    assert_int_equal(pattern_find_held(pattern,
                                       BYTES("\xc5\xbfoc\xe2\x84\xaa"
                                             "et"),
                                       0),
                     0);
    assert_int_equal(pattern_find_held(pattern, BYTES("a SOCKET"), 3), SIZE_MAX);
    pattern_destroy(pattern);
    pattern = compile("Socket\\d");
    assert_int_equal(pattern_find_held(pattern, BYTES("a SOCKET"), 0), SIZE_MAX);
    pattern_destroy(pattern);
}

// A text without what every match holds is no match, however costly the pattern.
static void
a_costly_pattern_is_decided_where_its_literal_is_missing(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 30000; i++)
        strbuf_add_char(&text, 'a');
    assert_int_equal(find("(a+)+needle", strbuf_bytes(&text)), PATTERN_NO);
    assert_int_equal(find("(a+)+[bc]", strbuf_bytes(&text)), PATTERN_LIMIT);
    strbuf_release(&text);
}

// Ten thousand hostile texts come to an end too.
static void
patience_runs_out(void **state)
{
    (void)state;
    struct pattern *pattern = compile("^(a+)+[bc]$");
    char text[300];
    memset(text, 'a', sizeof text);
    int64_t began = cpu_time();
    for (int i = 0; i < 2000; i++)
        assert_int_equal(pattern_find(pattern, (struct bytes){text, sizeof text}, 0, NULL, NULL),
                         PATTERN_LIMIT);
    assert_true(cpu_time() - began < 60 * SECOND_SPENT);
    pattern_destroy(pattern);
}

// Each would take minutes or more, some of them although no limit of pcre2 is ever touched.
static void
hostile_texts_end_undecided_in_bounded_time(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *fill;
        size_t len;
        enum pattern_verdict verdict;
    } rows[] = {
        {"(a+)+$", "a", 30000, PATTERN_LIMIT},
        {"(a+)+$", "a", 1000000, PATTERN_LIMIT},
        {"(a|b)*x\\d", "ab", 30000, PATTERN_LIMIT},
        {"a.*b.*x\\d", "ab", 300000, PATTERN_LIMIT},
        {"(*NO_JIT)a*[bc]x", "a", 100000, PATTERN_LIMIT},
        {"(*NO_JIT)[ab]*x\\d", "ab", 1000000, PATTERN_LIMIT},
        {"(x+x+)+[yz]!", "x", 60, PATTERN_LIMIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf text = {0};
        while (text.len < rows[i].len)
            strbuf_add_text(&text, rows[i].fill);
        strbuf_add_text(&text, "x! y"); // each pattern ends just before it could match
        int64_t began = cpu_time();
        enum pattern_verdict verdict = find(rows[i].pattern, strbuf_bytes(&text));
        int64_t took = cpu_time() - began;
        if (verdict != rows[i].verdict || took > SECOND_SPENT)
            fail_msg("%s on %zu bytes: %d after %lld ms", rows[i].pattern, text.len, (int)verdict,
                     (long long)took / 1000000);
        strbuf_release(&text);
    }
}

// Where a harmless match lies beyond many slices, it is found, once and in its place.
static void
long_texts_are_searched_to_their_end(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 2000; i++)
        strbuf_add_text(&text, "order \xe2\x82\xac 12, timed out; ");
    strbuf_add_text(&text, "NEEDLE 77\n");
    static const struct {
        const char *pattern;
        size_t from_end, len;
    } rows[] = {{"needle", 10, 6},           {"(*NO_JIT)needle", 10, 6}, {"e{2}d.e \\d+", 9, 8},
                {"(?<=; )needle.*$", 10, 9}, {"77\\n\\z", 3, 3},         {"[0-9]{2}\\s*$", 3, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern = compile(rows[i].pattern);
        size_t start = 0;
        size_t len = 0;
        if (pattern_find(pattern, strbuf_bytes(&text), 0, &start, &len) != PATTERN_YES ||
            start != text.len - rows[i].from_end || len < rows[i].len)
            fail_msg("%s: found at %zu of %zu, %zu bytes", rows[i].pattern, start, text.len, len);
        pattern_destroy(pattern);
    }
    assert_int_equal(find("^needle", strbuf_bytes(&text)), PATTERN_NO);
    assert_int_equal(find("\\Gneedle", strbuf_bytes(&text)), PATTERN_NO);
    // The steps of a long line are more than it begins with.
    assert_int_equal(find("order.*needle", strbuf_bytes(&text)), PATTERN_YES);
    strbuf_release(&text);
}

// All matches in their order, with what each group took, in a text that is looked at as a whole.
static void
groups_are_found(void **state)
{
    (void)state;
    struct pattern *pattern;
    struct pattern_group groups[4];
    assert_true(pattern_compile(&pattern, BYTES("(a)|(b+)(?=c)"), NULL));
    assert_int_equal(pattern_group_count(pattern), 2);
    struct bytes text = BYTES("xaxbbc");
    assert_int_equal(pattern_find_groups(pattern, text, 0, groups, 4), PATTERN_YES);
    assert_int_equal(groups[0].from, 1);
    assert_int_equal(groups[0].len, 1);
    assert_true(groups[1].is_set && groups[1].from == 1 && groups[1].len == 1);
    assert_false(groups[2].is_set || groups[3].is_set);
    assert_int_equal(pattern_find_groups(pattern, text, 2, groups, 4), PATTERN_YES);
    assert_int_equal(groups[0].from, 3);
    assert_true(!groups[1].is_set && groups[2].is_set && groups[2].from == 3 && groups[2].len == 2);
    assert_int_equal(pattern_find_groups(pattern, text, 5, groups, 4), PATTERN_NO);
    assert_int_equal(pattern_find_groups(pattern, text, 7, groups, 4), PATTERN_NO);
    assert_int_equal(pattern_find_groups(pattern, BYTES_ABSENT, 0, groups, 4), PATTERN_NO);
    pattern_destroy(pattern);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capital_makes_it_exact),
        cmocka_unit_test(a_mistake_has_its_column_in_characters),
        cmocka_unit_test(length_and_nesting_end),
        cmocka_unit_test(bad_bytes_are_characters_like_others),
        cmocka_unit_test(a_start_within_a_character_is_moved_on),
        cmocka_unit_test(what_every_match_holds_is_known),
        cmocka_unit_test(the_outline_of_every_match_is_known),
        cmocka_unit_test(texts_fit_an_outline),
        cmocka_unit_test(held_text_is_found_in_any_case_where_the_pattern_has_none),
        cmocka_unit_test(a_costly_pattern_is_decided_where_its_literal_is_missing),
        cmocka_unit_test(patience_runs_out),
        cmocka_unit_test(hostile_texts_end_undecided_in_bounded_time),
        cmocka_unit_test(long_texts_are_searched_to_their_end),
        cmocka_unit_test(groups_are_found),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
