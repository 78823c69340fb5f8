// The editor's reader of JSON says what core/json says, from any place and after any edit.
#include "ui/editor/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"
#include "editor_fixture.h"
#include "ui/editor/check.h"
#include "ui/editor/place.h"
#include "ui/editor/private.h"

// Points of the tree so close that every state comes to be kept.
static struct editor *
editor_of(struct bytes text, size_t stride)
{
    struct editor *editor = editor_create(text, true);
    editor->tree.stride = stride;
    tree_begin(&editor->tree, editor->buffer);
    return editor;
}

static void
check_all(struct editor *editor)
{
    while (editor_check(editor, 100) == CHECK_RUNNING)
        continue;
}

// The end of the last token before the first error.
static size_t
valid_end(struct bytes text, const char **expected, size_t *error)
{
    struct json_scan scan;
    size_t end = 0;
    json_begin(&scan, text);
    for (;;) {
        struct json_token token = json_next(&scan);
        *expected = token.kind == JSON_ERROR ? scan.expected : NULL;
        *error = token.from;
        if (token.kind == JSON_END)
            return SIZE_MAX;
        if (token.kind == JSON_ERROR)
            return end;
        end = token.from + token.len;
    }
}

static void
same_path(struct editor *editor, struct bytes text, size_t at)
{
    struct strbuf is = {0}, wanted = {0};
    (void)json_path_at(text, at, &wanted);
    assert_true(editor_path_at(editor, at, &is));
    assert_string_equal(strbuf_text(&is), strbuf_text(&wanted));
    strbuf_release(&is);
    strbuf_release(&wanted);
}

static void
same_as_core(struct editor *editor, struct bytes text, struct dice *dice, bool everywhere)
{
    const char *expected;
    size_t error;
    size_t end = valid_end(text, &expected, &error);
    if (dice_roll(dice, 2))
        check_all(editor);
    for (size_t at = 0; everywhere && at <= text.len && at < end; at++)
        same_path(editor, text, at);
    for (int i = 0; !everywhere && i < 5; i++) {
        size_t at = dice_roll(dice, text.len + 1);
        if (at < end)
            same_path(editor, text, at);
    }
    check_all(editor);
    assert_int_equal(editor_errors(editor) == 0, expected == NULL);
    if (!expected)
        return;
    struct check_finding first = editor_error(editor, 0);
    assert_int_equal(first.at, error);
    assert_string_equal(first.expected, expected);
}

static void
paths_are_those_of_core(void **state)
{
    (void)state;
    struct dice dice = {11};
    for (int i = 0; i < 120; i++) {
        struct strbuf text = {0};
        random_json(&dice, 300, &text);
        assert_true(json_check(strbuf_bytes(&text), NULL));
        struct editor *editor = editor_of(strbuf_bytes(&text), 1 + dice_roll(&dice, 60));
        same_as_core(editor, strbuf_bytes(&text), &dice, true);
        editor_destroy(editor);
        strbuf_release(&text);
    }
}

// Errors behind the first, classes and folds are those of an editor that was opened with the text as it is
// now.
static void
same_as_anew(struct editor *editor, struct bytes text)
{
    enum { SPANS = 4096 };
    static struct syntax_span is[SPANS], wanted[SPANS];
    struct editor *anew = editor_create(text, true);
    check_all(editor);
    check_all(anew);
    assert_int_equal(editor_errors(editor), editor_errors(anew));
    for (size_t i = 0; i < editor_errors(anew); i++) {
        assert_int_equal(editor_error(editor, i).at, editor_error(anew, i).at);
        assert_string_equal(editor_error(editor, i).expected, editor_error(anew, i).expected);
        assert_true(i == 0 || editor_error(anew, i).at >= editor_error(anew, i - 1).at);
    }
    size_t count = editor_classes(anew, 0, text.len, wanted, SPANS);
    assert_int_equal(editor_classes(editor, 0, text.len, is, SPANS), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(is[i].from, wanted[i].from);
        assert_int_equal(is[i].len, wanted[i].len);
        assert_int_equal(is[i].class, wanted[i].class);
        assert_true(i == 0 || is[i].from >= is[i - 1].from + is[i - 1].len);
    }
    editor_destroy(anew);
}

// The class of a byte does not depend on the range that is asked for.
static void
ranges_agree(struct editor *editor, struct bytes text, struct dice *dice)
{
    enum { SPANS = 4096 };
    static struct syntax_span spans[SPANS];
    unsigned char *classes = calloc(text.len + 1, 1);
    size_t count = editor_classes(editor, 0, text.len, spans, SPANS);
    for (size_t i = 0; i < count; i++)
        memset(classes + spans[i].from, (int)spans[i].class + 1, spans[i].len);
    for (int turn = 0; turn < 8; turn++) {
        size_t from = dice_roll(dice, text.len + 1);
        size_t to = from + dice_roll(dice, text.len + 1 - from);
        count = editor_classes(editor, from, to, spans, SPANS);
        size_t at = from;
        for (size_t i = 0; i < count; i++) {
            for (; at < spans[i].from; at++)
                assert_int_equal(classes[at], 0);
            for (; at < spans[i].from + spans[i].len; at++)
                assert_int_equal(classes[at], (int)spans[i].class + 1);
        }
        assert_true(at <= to);
    }
    free(classes);
}

static void
edits_are_read_again(void **state)
{
    (void)state;
    struct dice dice = {23};
    for (int i = 0; i < 60; i++) {
        struct strbuf text = {0}, typed = {0};
        random_json(&dice, 200, &text);
        struct editor *editor = editor_of(strbuf_bytes(&text), 1 + dice_roll(&dice, 60));
        for (int j = 0; j < 40; j++) {
            size_t at = dice_roll(&dice, text.len + 1);
            size_t len = dice_roll(&dice, text.len - at < 5 ? text.len - at + 1 : 5);
            strbuf_reset(&typed);
            random_text(&dice, dice_roll(&dice, 3), &typed);
            (void)editor_replace(editor, at, at + len, strbuf_bytes(&typed), j);
            strbuf_splice(&text, at, len, strbuf_bytes(&typed));
            same_as_core(editor, strbuf_bytes(&text), &dice, false);
            same_as_anew(editor, strbuf_bytes(&text));
            ranges_agree(editor, strbuf_bytes(&text), &dice);
        }
        expect_text(editor, strbuf_bytes(&text));
        editor_destroy(editor);
        strbuf_release(&text);
        strbuf_release(&typed);
    }
}

// Each text with all its errors: offset and what was expected.
static const struct {
    const char *text;
    struct {
        int at;
        const char *expected;
    } errors[4];
} broken[] = {
    {"[1 2 3]", {{3, "a comma or ]"}, {5, "a comma or ]"}}},
    {"[1,]", {{3, "a value"}}},
    {"{\"a\":1,}", {{7, "a name in quotes"}}},
    {"{\"a\" 1, \"b\":2}", {{5, "a colon"}}},
    {"{\"a\":1 \"b\":2 \"c\":3}", {{7, "a comma or }"}, {13, "a comma or }"}}},
    {"{'a': True, 'b': 2}", {{1, "a name in quotes, or }"}, {6, "a value"}, {12, "a name in quotes"}}},
    {"{a: 1, b: 2}", {{1, "a name in quotes, or }"}, {7, "a name in quotes"}}},
    {"{\"a\": \"open,\n\"b\": 2}",
     {{12, "an escape such as \\n: a control character is not allowed in a string"}, {13, "a comma or }"}}},
    {"[\"\\q\", \"\\u12\", 01, 1., -]",
     {{2, "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"},
      {8, "an escape: one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"},
      {16, "no digit after a leading 0"},
      {21, "a digit after the point"}}},
    {"[{\"a\":1]", {{7, "a comma or }"}}},
    {"[1}", {{2, "a comma or ]"}, {3, "a comma or ]"}}},
    {"{\"a\":[1,2}", {{9, "a comma or ]"}}},
    {"1 2", {{2, "nothing more after the value"}}},
    {"", {{0, "a value"}}},
    {"[", {{1, "a value"}}},
    {"{", {{1, "a name in quotes"}}},
    {"-", {{1, "a digit"}}},
    {"1e", {{2, "a digit of the exponent"}}},
    {"\"a", {{2, "the quote that ends the string"}}},
    {"[nul]", {{1, "a value"}}},
    {"[trueX]", {{5, "a comma or ]"}}},
    {"# word word\n{}", {{0, "a value"}}},
    {"\xef\xbb\xbf{}", {{0, "a value: an invisible byte order mark (EF BB BF) precedes it"}}},
};

static void
errors_behind_the_first_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct editor *editor = editor_of(bytes_of(broken[i].text), 3);
        check_all(editor);
        for (size_t j = 0; j < 4 && broken[i].errors[j].expected; j++) {
            if (j >= editor_errors(editor))
                fail_msg("%s: error %zu is missing", broken[i].text, j);
            struct check_finding error = editor_error(editor, j);
            if ((int)error.at != broken[i].errors[j].at ||
                strcmp(error.expected, broken[i].errors[j].expected) != 0)
                fail_msg("%s: error %zu is at %zu, expected %s", broken[i].text, j, error.at, error.expected);
        }
        size_t known = 0;
        while (known < 4 && broken[i].errors[known].expected)
            known++;
        if (known < 4)
            assert_int_equal(editor_errors(editor), known);
        editor_destroy(editor);
    }
}

static void
deep_and_long_documents_are_read(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < JSON_DEPTH + 1; i++)
        strbuf_add_char(&text, '[');
    struct editor *editor = editor_create(strbuf_bytes(&text), true);
    check_all(editor);
    assert_int_equal(editor_errors(editor), 1);
    assert_int_equal(editor_error(editor, 0).at, JSON_DEPTH);
    assert_string_equal(editor_error(editor, 0).expected, "less nesting: it is more than 512 levels deep");
    editor_destroy(editor);

    strbuf_reset(&text);
    strbuf_add_char(&text, '"');
    for (int i = 0; i < 100000; i++)
        strbuf_add_text(&text, "x\\n");
    strbuf_add_char(&text, '"');
    editor = editor_create(strbuf_bytes(&text), true);
    struct syntax_span spans[8];
    assert_int_equal(editor_classes(editor, 200001, 200005, spans, 8), 3);
    assert_int_equal(spans[0].class, SYNTAX_ESCAPE);
    assert_int_equal(spans[1].class, SYNTAX_STRING);
    editor_destroy(editor);
    strbuf_release(&text);
}

static void
value_is(const char *text, size_t at, const char *value)
{
    struct editor *editor = editor_of(bytes_of(text), 4);
    size_t from;
    size_t to;
    bool is_found = editor_value_at(editor, at, &from, &to);
    if (is_found != (value != NULL) ||
        (value && (strlen(value) != to - from || strncmp(text + from, value, to - from) != 0)))
        fail_msg("%s at %zu: %.*s", text, at, is_found ? (int)(to - from) : 0, text + (is_found ? from : 0));
    editor_destroy(editor);
}

static void
the_value_at_the_cursor(void **state)
{
    (void)state;
    const char *text = "{\"a\": [1, {\"b\": \"x\\ny\"}, -2.5], \"c\": {}}";
    value_is(text, 0, text);
    value_is(text, 2, "[1, {\"b\": \"x\\ny\"}, -2.5]");
    value_is(text, 4, "[1, {\"b\": \"x\\ny\"}, -2.5]");
    value_is(text, 6, "[1, {\"b\": \"x\\ny\"}, -2.5]");
    value_is(text, 7, "1");
    value_is(text, 8, "1");
    value_is(text, 9, "{\"b\": \"x\\ny\"}");
    value_is(text, 10, "{\"b\": \"x\\ny\"}");
    value_is(text, 12, "\"x\\ny\"");
    value_is(text, 18, "\"x\\ny\"");
    value_is(text, 22, "{\"b\": \"x\\ny\"}");
    value_is(text, 27, "-2.5");
    value_is(text, 38, "{}");
    value_is(text, 40, text);
    value_is("{\"a\"", 2, NULL);
    value_is("{\"a\":", 5, NULL);
    value_is("[1,", 3, NULL);
    value_is("[1, ]", 3, NULL);
    value_is("[1, ]", 4, "[1, ]");
    value_is("[tru]", 2, "tru");
    value_is(" 7 ", 0, "7");
    value_is("", 0, NULL);

    struct strbuf copied = {0};
    struct editor *editor = editor_of(bytes_of(text), 4);
    assert_true(editor_copy_value_at(editor, 18, &copied));
    assert_string_equal(strbuf_text(&copied), "x\ny");
    size_t from;
    size_t to;
    assert_true(editor_name_at(editor, 18, &from, &to));
    assert_int_equal(from, 11);
    assert_int_equal(to, 14);
    assert_false(editor_name_at(editor, 8, &from, &to));
    editor_destroy(editor);
    strbuf_release(&copied);
}

// The values that json_path_find finds, and paths that lead nowhere.
static void
paths_lead_to_their_values(void **state)
{
    (void)state;
    struct dice dice = {5};
    for (int i = 0; i < 60; i++) {
        struct strbuf text = {0};
        random_json(&dice, 400, &text);
        struct editor *editor = editor_of(strbuf_bytes(&text), 1 + dice_roll(&dice, 90));
        for (int j = 0; j < 20; j++) {
            struct strbuf name = {0};
            struct json_path *path;
            struct json_token value;
            size_t from = 0;
            size_t to = 0;
            (void)json_path_at(strbuf_bytes(&text), dice_roll(&dice, text.len), &name);
            assert_true(json_path_parse(&path, strbuf_bytes(&name), NULL));
            bool leads = json_path_find(path, strbuf_bytes(&text), &value);
            struct err err = {0};
            assert_int_equal(editor_find_path(editor, strbuf_bytes(&name), &from, &to, &err), leads);
            assert_int_equal(err_is_set(&err), !leads);
            if (leads) {
                assert_int_equal(from, value.from);
                assert_int_equal(to, value.from + value.len);
            }
            json_path_destroy(path);
            strbuf_release(&name);
        }
        editor_destroy(editor);
        strbuf_release(&text);
    }
    struct editor *editor = editor_of(BYTES("{\"a\": {\"b\": [1, 2]}, \"a\": {\"c\": [3"), 4);
    size_t from;
    size_t to;
    size_t steps;
    struct err err = {0};
    assert_false(editor_find_path(editor, BYTES("$.a.c[1]"), &from, &to, &err));
    assert_string_equal(err.text, "no element [1] at step 3 of the path");
    err_clear(&err);
    assert_false(editor_find_path(editor, BYTES("$.a["), &from, &to, &err));
    assert_int_equal(err.column, 5);
    assert_true(editor_find_nearest(editor, BYTES("$.a.c[1]"), &from, &to, &steps));
    assert_int_equal(steps, 2);
    assert_int_equal(from, 32);
    editor_destroy(editor);
}

static void
paths_are_completed(void **state)
{
    (void)state;
    struct editor *editor =
        editor_of(BYTES("{\"order\": {\"lines\": [1, 2], \"line\": 0, \"odd key\": 1}, \"other\": 2"), 4);
    static const struct {
        const char *partial;
        const char *candidates[4];
    } cases[] = {
        {"$", {"$.order", "$.other"}},
        {"$.o", {"$.order", "$.other"}},
        {"$.or", {"$.order"}},
        {"$.order", {"$.order"}},
        {"$.order.", {"$.order.lines", "$.order.line"}},
        {"$.order.li", {"$.order.lines", "$.order.line"}},
        {"$.order['", {"$.order['odd key']"}},
        {"$.order.lines[", {"$.order.lines[0]", "$.order.lines[1]"}},
        {"$.order['lines'][", {"$.order['lines'][0]", "$.order['lines'][1]"}},
        {"$.order.lines[1]", {NULL}},
        {"$.x.", {NULL}},
        {"o", {NULL}},
        {"", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct bytes found[4];
        size_t count = editor_complete_path(editor, bytes_of(cases[i].partial), &arena, found, 4);
        for (size_t j = 0; j < 4 && cases[i].candidates[j]; j++)
            if (j >= count || !bytes_equal_text(found[j], cases[i].candidates[j]))
                fail_msg("%s: %s", cases[i].partial, j < count ? found[j].data : "none");
        assert_true(count == 4 || !cases[i].candidates[count]);
        arena_release(&arena);
    }
    editor_destroy(editor);
}

static void
findings_move_with_edits(void **state)
{
    (void)state;
    struct editor *editor = editor_of(BYTES("{\"a\": 1,\n\"a\": 2,\n\"b\": 12345678901234567890}"), 4);
    struct check_finding finding;
    char sentence[CHECK_SENTENCE];
    check_all(editor);
    assert_int_equal(editor_check_state(editor), CHECK_VALID);
    assert_true(editor_find_warnings(editor));
    assert_false(editor_find_warnings(editor));
    assert_int_equal(editor_warnings(editor), 2);
    assert_false(editor_finding_of_line(editor, 0, &finding));
    assert_true(editor_finding_of_line(editor, 1, &finding));
    assert_int_equal(finding.risk, JSON_RISK_DUPLICATE);
    assert_true(editor_finding_of_line(editor, 2, &finding));
    assert_string_equal(editor_finding_sentence(editor, &finding, sentence),
                        "line 3, column 6: readers that keep doubles change this number");

    assert_true(editor_replace(editor, 8, 8, BYTES("\n"), 1));
    assert_int_equal(editor_check_state(editor), CHECK_RUNNING);
    assert_true(editor_finding_of_line(editor, 2, &finding));
    assert_true(editor_next_finding(editor, 0, true, &finding));
    assert_int_equal(finding.at, 10);
    assert_true(editor_next_finding(editor, finding.at, true, &finding));
    assert_int_equal(finding.at, 23);
    assert_true(editor_next_finding(editor, finding.at, true, &finding));
    assert_int_equal(finding.at, 10);
    assert_true(editor_next_finding(editor, finding.at, false, &finding));
    assert_int_equal(finding.at, 23);

    // An error comes before warnings.
    assert_true(editor_replace(editor, 4, 5, BYTES(""), 2));
    check_all(editor);
    assert_int_equal(editor_check_state(editor), CHECK_INVALID);
    assert_true(editor_next_finding(editor, 0, true, &finding));
    assert_string_equal(editor_finding_sentence(editor, &finding, sentence),
                        "line 1, column 6: expected a colon");
    assert_true(editor_undo(editor));
    check_all(editor);
    assert_int_equal(editor_check_state(editor), CHECK_VALID);

    editor_set_json(editor, false);
    assert_int_equal(editor_check(editor, 100), CHECK_OFF);
    struct strbuf path = {0};
    assert_false(editor_path_at(editor, 3, &path));
    editor_destroy(editor);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_those_of_core),
        cmocka_unit_test(edits_are_read_again),
        cmocka_unit_test(errors_behind_the_first_are_found),
        cmocka_unit_test(deep_and_long_documents_are_read),
        cmocka_unit_test(the_value_at_the_cursor),
        cmocka_unit_test(paths_lead_to_their_values),
        cmocka_unit_test(paths_are_completed),
        cmocka_unit_test(findings_move_with_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
