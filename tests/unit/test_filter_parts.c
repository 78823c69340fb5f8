// The parts of the filter language by themselves: ranges, what a term is answered from and decided by, words.
#include <stdlib.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/filter/parse.h"
#include "tests/unit/cases.h"

static const int64_t BASE = 1795132800LL * US_PER_SECOND; // 2026-11-20T00:00:00 as wall time

static bool
is_said(const char *what, struct strbuf *said, const char *expected)
{
    bool is_same = strcmp(strbuf_text(said), expected) == 0;
    if (!is_same)
        print_error("%s: %s, not %s\n", what, strbuf_text(said), expected);
    strbuf_release(said);
    return is_same;
}

static void
say_end(struct strbuf *said, int64_t value, int64_t base)
{
    if (value == INT64_MIN || value == INT64_MAX)
        strbuf_add_text(said, value == INT64_MIN ? "lowest" : "highest");
    else
        strbuf_printf(said, "%lld", (long long)(value - base));
}

// `kind text => low high`, or where it is wrong and a part of what is said.
static bool
check_range(char *text, const char *expected)
{
    struct err err = {0};
    struct strbuf said = {0};
    struct filter_range range;
    size_t bad;
    const char *blank = strchr(text, ' ');
    struct bytes value = bytes_of(blank ? blank + 1 : "");
    enum filter_kind kind = text[0] == 'a' ? KIND_AGE : text[0] == 'c' ? KIND_CREATED : KIND_NUMBER;
    if (filter_range_read(value, kind, &range, &bad, &err)) {
        int64_t base = kind == KIND_CREATED ? BASE : 0;
        say_end(&said, range.low, base);
        strbuf_add_char(&said, ' ');
        say_end(&said, range.high, base);
        return is_said(text, &said, expected);
    }
    char *words;
    size_t column = strtoul(expected, &words, 10);
    bool is_same = column == bad && *words == ' ' && strstr(err.text, words + 1);
    if (!is_same)
        print_error("%s: at %zu: %s, not %s\n", text, bad, err.text, expected);
    return is_same;
}

static void
ranges_are_read(void **state)
{
    (void)state;
    each_case("tests/cases/filter/range.txt", check_range);
}

static const char *const froms[] = {[FILTER_FROM_ROW] = "row",
                                    [FILTER_FROM_ERROR] = "error",
                                    [FILTER_FROM_STACK] = "stack",
                                    [FILTER_FROM_PAYLOAD] = "payload",
                                    [FILTER_FROM_EVENT] = "event"};

// For an event of which only its second and nothing but blank short texts are known.
static bool
check_terms(char *text, const char *expected)
{
    static const char *const verdicts[] = {"no", "yes", "undecided"};
    const struct filter_context context = {.now = BASE + 3600 * US_PER_SECOND, .new_after = TIME_ABSENT};
    const struct event event = {
        .id = 7, .created_at = BASE, .created_wall = TIME_ABSENT, .group = UINT64_C(0xab) << 56};
    struct err err = {0};
    struct strbuf said = {0};
    struct filter *filter;
    if (!filter_parse(&filter, bytes_of(text), &context, &err)) {
        print_error("%s: %s\n", text, err.text);
        return false;
    }
    for (size_t i = 0; i < filter_terms(filter); i++) {
        enum filter_verdict verdict;
        enum filter_from from = filter_term_from(filter, i);
        strbuf_printf(&said, "%s%s", i ? ", " : "", froms[from]);
        if (from == FILTER_FROM_ROW)
            strbuf_printf(&said, " %s",
                          filter_match_second(filter, i, &event, &verdict) ? verdicts[verdict] : "open");
        if (filter_term_pattern(filter, i))
            strbuf_add_text(&said, " pattern");
        if (filter_term_is_inverted(filter, i))
            strbuf_add_text(&said, " inverted");
    }
    filter_destroy(filter);
    return is_said(text, &said, expected);
}

static void
terms_know_what_answers_them(void **state)
{
    (void)state;
    each_case("tests/cases/filter/terms.txt", check_terms);
}

static void
say_term(struct strbuf *said, const struct filter *filter, size_t term)
{
    const struct pattern *pattern = filter_term_pattern(filter, term);
    struct bytes holds = pattern ? pattern_holds(pattern) : filter_term_exact(filter, term);
    strbuf_printf(said, "%s%s", filter_term_is_inverted(filter, term) ? "!" : "",
                  filter_term_name(filter, term));
    if (holds.len)
        strbuf_printf(said, "[%.*s]", BYTES_ARGS(holds));
}

static void
say_outline(struct strbuf *said, const struct filter *filter)
{
    struct filter_row row;
    int depth = 0;
    for (size_t i = 0; filter_row(filter, i, &row); i++) {
        for (; depth > row.depth; depth--)
            strbuf_add_char(said, ')');
        if (said->len && said->data[said->len - 1] != '(')
            strbuf_add_char(said, ' ');
        if (row.join == JOIN_NONE)
            say_term(said, filter, row.term);
        else
            strbuf_add_text(said, row.join == JOIN_ALL ? "all(" : "any(");
        depth += row.join != JOIN_NONE;
    }
    for (; depth > 0; depth--)
        strbuf_add_char(said, ')');
}

static bool
check_outline(char *text, const char *expected)
{
    const struct filter_context context = {0};
    struct err err = {0};
    struct strbuf said = {0};
    struct filter *filter;
    if (!filter_parse(&filter, bytes_of(text), &context, &err)) {
        print_error("%s: %s\n", text, err.text);
        return false;
    }
    say_outline(&said, filter);
    filter_destroy(filter);
    return is_said(text, &said, expected);
}

static void
what_joins_terms_is_told_from_text(void **state)
{
    (void)state;
    each_case("tests/cases/filter/outline.txt", check_outline);
}

// Thousands of brackets that hold nothing, and some that hold too many, are read at once.
static void
many_brackets_are_read_in_no_time(void **state)
{
    (void)state;
    static const char *const rows[] = {"( ",        "(a ",        "(a) ", "((a) ",
                                       "(topic:x ", "(topic:x) ", "not ", "(x or "};
    const struct filter_context context = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf line = {0};
        struct filter *filter = NULL;
        while (line.len < 60000)
            strbuf_add_text(&line, rows[i]);
        int64_t began = clock_mono();
        if (filter_parse(&filter, strbuf_bytes(&line), &context, NULL))
            filter_destroy(filter);
        assert_true(clock_mono() - began < 5 * US_PER_SECOND);
        strbuf_release(&line);
    }
}

static bool
check_words(char *text, const char *expected)
{
    struct strbuf said = {0};
    const char *word = strchr(text, ' ');
    assert_non_null(word);
    struct bytes typed = bytes_of(word + 1);
    enum filter_field field;
    unsigned value;
    if (text[0] == 'n') {
        const char *near = filter_field_near(typed);
        strbuf_add_text(&said, near ? near : "-");
    } else if (text[0] == 'f') {
        strbuf_add_text(&said, filter_field_find(typed, &field) ? "a field" : "-");
    } else if (text[0] == 'v') {
        strbuf_add_text(&said, filter_value_find(FIELD_IS, typed, &value) ? "a value" : "-");
    } else {
        const char *candidate;
        for (size_t i = 0; (candidate = filter_complete(typed, i)) != NULL; i++)
            strbuf_printf(&said, "%s%s", i ? " " : "", candidate);
        if (said.len == 0)
            strbuf_add_char(&said, '-');
    }
    return is_said(text, &said, expected);
}

static void
words_are_known(void **state)
{
    (void)state;
    each_case("tests/cases/filter/words.txt", check_words);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(terms_know_what_answers_them),
        cmocka_unit_test(words_are_known),
        cmocka_unit_test(what_joins_terms_is_told_from_text),
        cmocka_unit_test(many_brackets_are_read_in_no_time),
    };
    return cmocka_run_group_tests_name("filter_parts", tests, NULL, NULL);
}
