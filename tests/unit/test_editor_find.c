// Searching and replacing in an editor.
#include "ui/editor/find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "editor_fixture.h"

static struct editor *
searched(struct bytes text, const char *expression, bool is_regex)
{
    struct editor *editor = editor_create(text, false);
    assert_true(editor_set_search(editor, bytes_of(expression), is_regex, NULL));
    return editor;
}

// In slices that are as small as can be.
static enum find_state
find_all_round(struct editor *editor, size_t from, bool is_forward, struct find_run *run)
{
    enum find_state state;
    editor_find_begin(editor, run, from, is_forward);
    while ((state = editor_find(editor, run, 1)) == FIND_MORE)
        continue;
    return state;
}

static struct find_count
count_all(struct editor *editor)
{
    struct find_count count;
    do
        count = editor_count_matches(editor, 1 + editor_len(editor) / 64);
    while (!count.is_complete);
    return count;
}

static void
matches_are_found_all_round(void **state)
{
    (void)state;
    struct find_run run;
    struct editor *editor = searched(BYTES("foo\nbar Foo\r\nfoo"), "foo", false);
    assert_int_equal(find_all_round(editor, 0, true, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 0);
    assert_int_equal(find_all_round(editor, 1, true, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 8);
    assert_int_equal(run.match.to, 11);
    assert_int_equal(find_all_round(editor, 14, true, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 0);
    assert_true(run.is_wrapped);
    assert_int_equal(find_all_round(editor, 8, false, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 0);
    assert_false(run.is_wrapped);
    assert_int_equal(find_all_round(editor, 0, false, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 13);
    assert_true(run.is_wrapped);

    struct find_count count = count_all(editor);
    assert_int_equal(count.count, 3);
    assert_int_equal(count.at, 1);
    editor_go_to_match(editor, (struct find_match){8, 11});
    assert_int_equal(count_all(editor).at, 2);
    editor_set_cursor(editor, 9, false);
    assert_int_equal(count_all(editor).at, 0);

    // A capital letter makes it exact; what is typed is plain text.
    assert_true(editor_set_search(editor, BYTES("Foo"), false, NULL));
    assert_int_equal(count_all(editor).count, 1);
    assert_true(editor_set_search(editor, BYTES("f.o"), false, NULL));
    assert_int_equal(count_all(editor).count, 0);
    assert_int_equal(find_all_round(editor, 5, true, &run), FIND_NONE);
    assert_int_equal(find_all_round(editor, 5, false, &run), FIND_NONE);
    assert_true(editor_set_search(editor, BYTES("f.o$"), true, NULL));
    assert_int_equal(count_all(editor).count, 3);
    assert_true(editor_set_search(editor, BYTES("x*"), true, NULL));
    assert_int_equal(count_all(editor).count, 0);

    struct err err = {0};
    assert_false(editor_set_search(editor, BYTES("ab(c"), true, &err));
    assert_int_equal(err.column, 5);
    assert_true(editor_has_search(editor));
    assert_true(editor_set_search(editor, BYTES(""), true, NULL));
    assert_false(editor_has_search(editor));
    assert_int_equal(find_all_round(editor, 5, true, &run), FIND_NONE);
    editor_destroy(editor);
}

static void
long_lines_are_searched_in_parts(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 30000; i++)
        strbuf_printf(&text, "%d,日 ", i);
    struct editor *editor = searched(strbuf_bytes(&text), "29999,", false);
    struct find_run run;
    size_t place = bytes_find(strbuf_bytes(&text), BYTES(" 29999,"), 0) + 1;
    assert_int_equal(find_all_round(editor, 5, true, &run), FIND_FOUND);
    assert_int_equal(run.match.from, place);
    assert_int_equal(find_all_round(editor, 5, false, &run), FIND_FOUND);
    assert_int_equal(run.match.from, place);
    assert_true(editor_set_search(editor, BYTES("日 "), true, NULL));
    assert_int_equal(count_all(editor).count, 30000);
    editor_set_cursor(editor, place + 6, false);
    assert_int_equal(count_all(editor).at, 30000);
    // The beginning and the end of a part are none of the line.
    assert_true(editor_set_search(editor, BYTES("^\\d|日 $|\\b0,"), true, NULL));
    assert_int_equal(count_all(editor).count, 2);
    assert_true(editor_set_search(editor, BYTES("0,.*"), true, NULL));
    assert_int_equal(find_all_round(editor, 0, true, &run), FIND_FOUND);
    assert_int_equal(run.match.from, 0);
    assert_int_equal(run.match.to, text.len);
    struct find_match matches[4];
    assert_true(editor_set_search(editor, BYTES("00,"), true, NULL));
    assert_int_equal(editor_matches(editor, place - 2000, text.len, matches, 4), 2);
    editor_destroy(editor);
    strbuf_release(&text);
}

// Literal matches of random texts, counted, found and replaced as a plain loop does.
static void
random_texts_agree_with_a_plain_loop(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct dice dice = {seed};
        struct strbuf text = {0}, wanted = {0};
        size_t pieces = 1 + dice_roll(&dice, 400);
        random_text(&dice, pieces, &text);
        struct bytes needle = dice_roll(&dice, 2) ? BYTES("a") : BYTES("word");
        struct editor *editor = searched(strbuf_bytes(&text), needle.data, dice_roll(&dice, 2));
        size_t middle = dice_roll(&dice, text.len);
        (void)editor_replace(editor, middle, middle, BYTES("a"), 0);
        strbuf_splice(&text, middle, 0, BYTES("a"));

        size_t count = 0;
        size_t copied = 0;
        size_t cursor = dice_roll(&dice, text.len);
        size_t next = SIZE_MAX;
        size_t first = SIZE_MAX;
        size_t before = SIZE_MAX;
        for (size_t at = 0; (at = bytes_find(strbuf_bytes(&text), needle, at)) != SIZE_MAX;
             at += needle.len) {
            first = first == SIZE_MAX ? at : first;
            next = next == SIZE_MAX && at >= cursor ? at : next;
            before = at < cursor ? at : before;
            strbuf_add(&wanted, bytes_slice(strbuf_bytes(&text), copied, at - copied));
            strbuf_add_text(&wanted, "<日>");
            copied = at + needle.len;
            count++;
        }
        strbuf_add(&wanted, bytes_slice(strbuf_bytes(&text), copied, SIZE_MAX));

        struct find_run run;
        assert_int_equal(count_all(editor).count, count);
        assert_int_equal(find_all_round(editor, cursor, true, &run), count ? FIND_FOUND : FIND_NONE);
        if (count)
            assert_int_equal(run.match.from, next == SIZE_MAX ? first : next);
        if (before != SIZE_MAX) {
            assert_int_equal(find_all_round(editor, cursor, false, &run), FIND_FOUND);
            assert_int_equal(run.match.from, before);
        }
        struct find_replace replace = {.to = SIZE_MAX};
        enum find_state end;
        while ((end = editor_replace_all(editor, &replace, BYTES("<日>"), 1, 1)) == FIND_MORE)
            expect_text(editor, strbuf_bytes(&text));
        assert_int_equal(end, count ? FIND_FOUND : FIND_NONE);
        assert_int_equal(replace.count, count);
        expect_text(editor, strbuf_bytes(&wanted));
        find_replace_release(&replace);
        editor_destroy(editor);
        strbuf_release(&text);
        strbuf_release(&wanted);
    }
}

static void
replacing_is_one_step(void **state)
{
    (void)state;
    struct editor *editor = searched(BYTES("aXbX\nXc"), "X", false);
    assert_false(editor_replace_match(editor, BYTES("-"), 0));
    editor_set_cursor(editor, 1, false);
    assert_true(editor_replace_match(editor, BYTES("XX"), 0));
    assert_int_equal(editor_cursor(editor), 3);
    expect_text(editor, BYTES("aXXbX\nXc"));

    struct find_replace replace = {.from = 2, .to = SIZE_MAX};
    assert_int_equal(editor_replace_all(editor, &replace, BYTES(""), SIZE_MAX, 0), FIND_FOUND);
    assert_int_equal(replace.count, 3);
    expect_text(editor, BYTES("aXb\nc"));
    find_replace_release(&replace);
    assert_true(editor_undo(editor));
    expect_text(editor, BYTES("aXXbX\nXc"));

    // An edit in between ends it, and nothing was changed.
    replace = (struct find_replace){.to = SIZE_MAX};
    assert_int_equal(editor_replace_all(editor, &replace, BYTES(""), 1, 0), FIND_MORE);
    assert_true(editor_replace(editor, 0, 0, BYTES("."), 0));
    assert_int_equal(editor_replace_all(editor, &replace, BYTES(""), SIZE_MAX, 0), FIND_NONE);
    expect_text(editor, BYTES(".aXXbX\nXc"));
    find_replace_release(&replace);
    struct find_run run;
    editor_find_begin(editor, &run, 0, true);
    assert_true(editor_undo(editor));
    assert_int_equal(editor_find(editor, &run, SIZE_MAX), FIND_NONE);
    editor_destroy(editor);
}

// An expression that backtracks without end comes to an end, and says that it may have missed something.
static void
limits_are_told(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < 3000; i++)
        strbuf_add_char(&text, 'a');
    strbuf_add_text(&text, "\nb");
    struct editor *editor = searched(strbuf_bytes(&text), "^(a+)+$|b", true);
    struct strbuf longer = {0};
    assert_true(editor_replace(editor, 3000, 3000, BYTES("!"), 0));
    struct find_count count = count_all(editor);
    assert_true(count.is_limited);
    assert_int_equal(count.count, 1);
    editor_destroy(editor);
    strbuf_release(&text);
    strbuf_release(&longer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_are_found_all_round),
        cmocka_unit_test(long_lines_are_searched_in_parts),
        cmocka_unit_test(random_texts_agree_with_a_plain_loop),
        cmocka_unit_test(replacing_is_one_step),
        cmocka_unit_test(limits_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
