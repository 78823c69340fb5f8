// Edits, undo, cut text, motions and folds of an editor.
#include "ui/editor/editor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"
#include "editor_fixture.h"
#include "ui/editor/fold.h"
#include "ui/editor/motion.h"
#include "ui/editor/place.h"

// A document with | where the cursor is, and ^ where a selection begins.
static struct editor *
marked(const char *text)
{
    struct strbuf plain = {0};
    size_t cursor = 0;
    size_t anchor = SIZE_MAX;
    for (const char *c = text; *c; c++) {
        if (*c == '|')
            cursor = plain.len;
        else if (*c == '^')
            anchor = plain.len;
        else
            strbuf_add_char(&plain, *c);
    }
    struct editor *editor = editor_create(strbuf_bytes(&plain), true);
    editor_set_cursor(editor, cursor, false);
    if (anchor != SIZE_MAX)
        editor_select(editor, anchor, cursor);
    strbuf_release(&plain);
    return editor;
}

static void
expect_marked(struct editor *editor, const char *wanted)
{
    struct strbuf text = {0};
    size_t from;
    size_t to;
    size_t cursor = editor_cursor(editor);
    bool is_selected = editor_selection(editor, &from, &to);
    strbuf_add(&text, editor_text(editor));
    strbuf_splice(&text, cursor, 0, BYTES("|"));
    if (is_selected)
        strbuf_splice(&text, from == cursor ? to + 1 : from, 0, BYTES("^"));
    if (strcmp(strbuf_text(&text), wanted) != 0)
        fail_msg("\"%s\" instead of \"%s\"", strbuf_text(&text), wanted);
    strbuf_release(&text);
}

static void
type(struct editor *editor, const char *text, int64_t now)
{
    for (; *text; text++)
        assert_true(editor_type(editor, (struct bytes){text, 1}, now));
}

static void
typing_is_undone_by_word_and_pause(void **state)
{
    (void)state;
    struct editor *editor = marked("|");
    type(editor, "one two", 0);
    type(editor, "er", EDITOR_PAUSE + 1);
    assert_true(editor_is_modified(editor));
    assert_true(editor_undo(editor));
    expect_marked(editor, "one two|");
    assert_true(editor_undo(editor));
    expect_marked(editor, "one |");
    assert_true(editor_undo(editor));
    expect_marked(editor, "|");
    assert_false(editor_is_modified(editor));
    assert_false(editor_undo(editor));
    assert_true(editor_redo(editor));
    assert_true(editor_redo(editor));
    assert_true(editor_redo(editor));
    expect_marked(editor, "one twoer|");
    assert_false(editor_redo(editor));

    // A motion, the other way of deleting, a line end: each begins a step.
    assert_true(editor_move(editor, MOTION_LEFT, 1, false));
    assert_true(editor_move(editor, MOTION_RIGHT, 1, false));
    type(editor, "x", 2 * EDITOR_PAUSE);
    assert_true(editor_delete_left(editor, 2 * EDITOR_PAUSE));
    assert_true(editor_delete_left(editor, 2 * EDITOR_PAUSE));
    assert_true(editor_enter(editor, 2 * EDITOR_PAUSE));
    expect_marked(editor, "one twoe\n|");
    assert_true(editor_undo(editor));
    assert_true(editor_undo(editor));
    expect_marked(editor, "one twoerx|");
    editor_destroy(editor);
}

// What is typed may take the character behind it into one with itself.
static void
typing_goes_on_behind_a_mark(void **state)
{
    (void)state;
    struct editor *editor = marked("|\u0301");
    type(editor, "ex", 0);
    expect_marked(editor, "e\u0301x|");
    assert_true(editor_undo(editor));
    expect_marked(editor, "|\u0301");
    editor_destroy(editor);
    editor = marked("|\n");
    assert_true(editor_type(editor, BYTES("\r"), 0));
    expect_marked(editor, "\r\n|");
    editor_destroy(editor);
}

static void
deleting_is_undone_by_word(void **state)
{
    (void)state;
    struct editor *editor = marked("one two|");
    for (int i = 0; i < 6; i++)
        assert_true(editor_delete_left(editor, 0));
    expect_marked(editor, "o|");
    assert_true(editor_undo(editor));
    expect_marked(editor, "one|");
    assert_true(editor_undo(editor));
    expect_marked(editor, "one two|");
    editor_set_cursor(editor, 0, false);
    for (int i = 0; i < 5; i++)
        assert_true(editor_delete_right(editor, 0));
    assert_true(editor_undo(editor));
    expect_marked(editor, "|two");
    assert_true(editor_undo(editor));
    expect_marked(editor, "|one two");
    editor_destroy(editor);
}

static void
what_is_saved_is_known_again(void **state)
{
    (void)state;
    struct editor *editor = marked("|");
    assert_false(editor_is_modified(editor));
    type(editor, "a", 0);
    editor_set_saved(editor);
    type(editor, "b", 0);
    assert_true(editor_is_modified(editor));
    assert_true(editor_undo(editor));
    expect_marked(editor, "a|");
    assert_false(editor_is_modified(editor));
    assert_true(editor_undo(editor));
    assert_true(editor_is_modified(editor));
    assert_true(editor_redo(editor));
    assert_false(editor_is_modified(editor));
    // The saved state is lost with what could be redone.
    assert_true(editor_undo(editor));
    type(editor, "c", 0);
    assert_true(editor_is_modified(editor));
    assert_true(editor_undo(editor));
    assert_true(editor_is_modified(editor));
    editor_destroy(editor);
}

static void
steps_restore_the_selection(void **state)
{
    (void)state;
    struct editor *editor = marked("a ^bcd| e");
    type(editor, "xy", 0);
    expect_marked(editor, "a xy| e");
    assert_true(editor_undo(editor));
    expect_marked(editor, "a ^bcd| e");
    assert_true(editor_redo(editor));
    expect_marked(editor, "a xy| e");
    assert_true(editor_paste(editor, BYTES("1 2\n3"), 0));
    assert_true(editor_undo(editor));
    expect_marked(editor, "a xy| e");

    editor_begin_step(editor, 0);
    assert_true(editor_delete(editor, 0, 2, 0));
    assert_true(editor_enter(editor, 0));
    assert_true(editor_type(editor, BYTES("z"), 0));
    editor_end_step(editor);
    expect_marked(editor, "\nz|xy e");
    assert_true(editor_undo(editor));
    expect_marked(editor, "a xy| e");
    editor_destroy(editor);
}

// An edit and what it makes of a marked document.
static const struct {
    const char *before;
    char key;          // e Enter, t Tab, b back Tab, d Delete, D Backspace, k cut line, f format, m minify
    const char *after; // NULL: refused
} keys[] = {
    {"{|}", 'e', "{\n  |\n}"},
    {"  [|1]", 'e', "  [\n    |1]"},
    {"  \"a\": 1,|", 'e', "  \"a\": 1,\n  |"},
    {"  {|  }", 'e', "  {\n    |\n    }"},
    {"a\r\nb|", 'e', "a\r\nb\r\n|"},
    {"a|\r\nb", 'e', "a\r\n|\r\nb"},
    {"^x|", 'e', "\n|"},
    {"a|", 't', "a |"},
    {"ab|", 't', "ab  |"},
    {"a\n^b\n\nc|\nd", 't', "a\n^  b\n\n  c|\nd"},
    {"^a\n|b", 't', "^  a|\nb"},
    {"   a|", 'b', " a|"},
    {"  |  a", 'b', "|  a"},
    {"a|", 'b', NULL},
    {"e\u0301|", 'D', "|"},
    {"|e\u0301x", 'd', "|x"},
    {"a\r\n|b", 'D', "a|b"},
    {"a|\r\nb", 'd', "a|b"},
    {"a|", 'd', NULL},
    {"|a", 'D', NULL},
    {"a\nb|c\nd", 'k', "a\n|d"},
    {"a\nb|c", 'k', "|a"},
    {"ab|c", 'k', "|"},
    {"{\"a\":[1,|2]}", 'f', "{\n  \"a\": [\n    1,\n    |2\n  ]\n}"},
    {"{\"a\":tr|ue}", 'f', "{\n  \"a\": tr|ue\n}"},
    {"{ \"a\" : 1.50 }|", 'm', "{\"a\":1.50}|"},
    {"{\"a\":|1}", 'm', NULL},
    {"{\"a\":|}", 'f', NULL},
};

static bool
press(struct editor *editor, char key)
{
    switch (key) {
    case 'e':
        return editor_enter(editor, 0);
    case 't':
        return editor_indent(editor, false, 0);
    case 'b':
        return editor_indent(editor, true, 0);
    case 'd':
        return editor_delete_right(editor, 0);
    case 'D':
        return editor_delete_left(editor, 0);
    case 'k':
        return editor_cut_line(editor, 0);
    case 'f':
        return editor_format(editor, 0, NULL);
    default:
        return editor_minify(editor, 0, NULL);
    }
}

static void
keys_change_the_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct editor *editor = marked(keys[i].before);
        bool is_done = press(editor, keys[i].key);
        if (is_done != (keys[i].after != NULL))
            fail_msg("%s %c: %d", keys[i].before, keys[i].key, is_done);
        expect_marked(editor, keys[i].after ? keys[i].after : keys[i].before);
        if (is_done) {
            assert_true(editor_undo(editor));
            expect_marked(editor, keys[i].before);
            assert_true(editor_redo(editor));
            assert_true(editor_undo(editor));
            editor_set_read_only(editor, true);
            assert_false(press(editor, keys[i].key));
            expect_marked(editor, keys[i].before);
        }
        editor_destroy(editor);
    }
}

static void
formatting_says_why_not(void **state)
{
    (void)state;
    struct err err = {0};
    struct editor *editor = marked("{\"a\":\n1,}");
    assert_false(editor_format(editor, 0, &err));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 3);
    editor_destroy(editor);
    editor = marked("[1]");
    err_clear(&err);
    assert_false(editor_minify(editor, 0, &err));
    assert_false(err_is_set(&err));
    editor_set_json(editor, false);
    assert_false(editor_format(editor, 0, &err));
    assert_true(err_is_set(&err));
    editor_destroy(editor);
}

static void
cut_text_comes_back(void **state)
{
    (void)state;
    struct editor *editor = marked("one\ntw|o\nthree\n");
    assert_true(editor_cut_line(editor, 0));
    assert_true(editor_cut_line(editor, 0));
    expect_marked(editor, "one\n|");
    bool is_lines;
    assert_true(bytes_equal_text(editor_cut_text(editor, &is_lines), "two\nthree\n"));
    assert_true(is_lines);
    assert_true(editor_move(editor, MOTION_UP, 1, false));
    assert_true(editor_put(editor, true, 0));
    expect_marked(editor, "one\n|two\nthree\n");
    assert_true(editor_put(editor, false, 0));
    expect_marked(editor, "one\n|two\nthree\ntwo\nthree\n");
    // A motion ends the collecting.
    assert_true(editor_cut_line(editor, 0));
    assert_true(editor_move(editor, MOTION_DOWN, 1, false));
    assert_true(editor_cut_line(editor, 0));
    assert_true(bytes_equal_text(editor_cut_text(editor, NULL), "two\n"));
    editor_destroy(editor);

    editor = marked("a\nb|");
    size_t from;
    size_t to;
    editor_line_range(editor, 1, &from, &to);
    assert_true(editor_copy(editor, from, to, true, false));
    assert_true(editor_put(editor, true, 0));
    expect_marked(editor, "a\nb\n|b");
    editor_select(editor, 0, 3);
    assert_true(editor_cut_selection(editor, 0));
    expect_marked(editor, "|\nb");
    assert_false(editor_copy_selection(editor));
    assert_true(editor_move(editor, MOTION_DOCUMENT_END, 1, false));
    assert_true(editor_put(editor, false, 0));
    expect_marked(editor, "\nba\nb|");
    editor_set_cursor(editor, 1, false);
    editor_set_cut_text(editor, BYTES("X"), false);
    assert_true(editor_put(editor, true, 0));
    expect_marked(editor, "\nbX|a\nb");
    editor_destroy(editor);
}

// Motions by their sign, `count` times.
static const struct {
    const char *before;
    enum motion motion;
    size_t count;
    const char *after;
} moves[] = {
    {"a|e\u0301b", MOTION_RIGHT, 1, "ae\u0301|b"},
    {"ae\u0301|b", MOTION_LEFT, 1, "a|e\u0301b"},
    {"a|\r\nb", MOTION_RIGHT, 1, "a\r\n|b"},
    {"a|\nb", MOTION_RIGHT_IN_LINE, 1, "a|\nb"},
    {"a\n|b", MOTION_LEFT_IN_LINE, 1, "a\n|b"},
    {"|one  two.three", MOTION_WORD_RIGHT, 1, "one  |two.three"},
    {"|one  two.three", MOTION_WORD_RIGHT, 2, "one  two|.three"},
    {"|one  two.three", MOTION_WORD_END, 2, "one  two|.three"},
    {"|one  two.three", MOTION_WORD_LAST, 1, "on|e  two.three"},
    {"on|e  two", MOTION_WORD_LAST, 1, "one  tw|o"},
    {"one  two.th|ree", MOTION_WORD_LEFT, 1, "one  two.|three"},
    {"one  two.|three", MOTION_WORD_LEFT, 3, "|one  two.three"},
    {"  ab|c", MOTION_LINE_HOME, 1, "  |abc"},
    {"  |abc", MOTION_LINE_HOME, 1, "|  abc"},
    {"|  abc", MOTION_LINE_HOME, 1, "  |abc"},
    {" |  \n x", MOTION_LINE_TEXT, 1, "   |\n x"},
    {"a|b\r\nc", MOTION_LINE_END, 1, "ab|\r\nc"},
    {"日本x|y\nabcdefg", MOTION_DOWN, 1, "日本xy\nabcde|fg"},
    {"日本xy\na|b", MOTION_UP, 1, "|日本xy\nab"},
    {"日本xy\nab|", MOTION_UP, 1, "日|本xy\nab"},
    {"[|1, [2, \"]\"]]", MOTION_BRACKET, 1, "[1, [2, \"]\"]|]"},
    {"|[1, [2, \"]\"]]", MOTION_BRACKET, 1, "[1, [2, \"]\"]|]"},
    {"[1, [2, \"]\"|]]", MOTION_BRACKET, 1, "[1, |[2, \"]\"]]"},
    {"[1, [2, \"|]\"]]", MOTION_BRACKET, 1, "[1, [2, \"]\"|]]"},
    {"[|1, [2], 3]", MOTION_NEXT_SIBLING, 1, "[1, |[2], 3]"},
    {"[|1, [2], 3]", MOTION_NEXT_SIBLING, 2, "[1, [2], |3]"},
    {"[1, [2], |3]", MOTION_NEXT_SIBLING, 1, "[1, [2], |3]"},
    {"[1, [2], |3]", MOTION_PREVIOUS_SIBLING, 1, "[1, |[2], 3]"},
    {"[1, [2], |3]", MOTION_PREVIOUS_SIBLING, 9, "[|1, [2], 3]"},
    {"{\"a\": {\"x\": [1, 2]}, \"b\": |2}", MOTION_PREVIOUS_SIBLING, 1,
     "{|\"a\": {\"x\": [1, 2]}, \"b\": 2}"},
    {"{\"a\"|: {\"x\": [1, 2]}, \"b\": 2}", MOTION_NEXT_SIBLING, 1, "{\"a\": {\"x\": [1, 2]}, |\"b\": 2}"},
    {"{\"a\": [1, |2]}", MOTION_PARENT, 1, "{\"a\": |[1, 2]}"},
    {"{\"a\": [1, |2]}", MOTION_PARENT, 2, "|{\"a\": [1, 2]}"},
    {"|{\"a\": [1, 2]}", MOTION_PARENT, 1, "|{\"a\": [1, 2]}"},
    {"|{\"a\": [1, 2]}", MOTION_CHILD, 1, "{|\"a\": [1, 2]}"},
    {"{\"a\": |[1, 2]}", MOTION_CHILD, 1, "{\"a\": [|1, 2]}"},
    {"|[]", MOTION_CHILD, 1, "|[]"},
};

static void
motions_lead_where_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        struct editor *editor = marked(moves[i].before);
        (void)editor_move(editor, moves[i].motion, moves[i].count, false);
        expect_marked(editor, moves[i].after);
        editor_destroy(editor);
    }
    // The cell is kept over lines that are too short, and ends with another motion.
    struct editor *editor = marked("abcd|\ne\nfghij");
    assert_true(editor_move(editor, MOTION_DOWN, 1, false));
    assert_true(editor_move(editor, MOTION_DOWN, 1, true));
    expect_marked(editor, "abcd\ne^\nfghi|j");
    assert_true(editor_move(editor, MOTION_UP, 1, false));
    assert_true(editor_move(editor, MOTION_LEFT, 1, false));
    assert_true(editor_move(editor, MOTION_DOWN, 1, false));
    expect_marked(editor, "abcd\ne\n|fghij");
    editor_destroy(editor);
}

// Siblings, children and parents of random documents are those that core/json tells.
static void
motions_follow_the_tokens(void **state)
{
    (void)state;
    struct dice dice = {3};
    for (int i = 0; i < 30; i++) {
        struct strbuf text = {0};
        random_json(&dice, 20000, &text);
        struct editor *editor = editor_create(strbuf_bytes(&text), true);
        size_t at = 0;
        size_t end;
        assert_true(editor_find_path(editor, BYTES("$"), &at, &end, NULL));
        for (int j = 0; j < 200; j++) {
            size_t next = editor_target(editor, MOTION_NEXT_SIBLING, at, 1);
            if (next != at)
                assert_int_equal(editor_target(editor, MOTION_PREVIOUS_SIBLING, next, 1), at);
            size_t up = editor_target(editor, MOTION_PARENT, at, 1);
            size_t partner;
            if (up != at) {
                assert_true(editor_partner(editor, up, &partner));
                assert_true(partner > at && up < at);
                size_t back;
                assert_true(editor_partner(editor, partner, &back));
                assert_int_equal(back, up);
                size_t first = editor_target(editor, MOTION_CHILD, up, 1);
                assert_int_equal(editor_target(editor, MOTION_PREVIOUS_SIBLING, at, SIZE_MAX), first);
            }
            size_t down = editor_target(editor, MOTION_CHILD, at, 1);
            at = dice_roll(&dice, 4) == 0 ? up : dice_roll(&dice, 2) && down != at ? down : next;
        }
        editor_destroy(editor);
        strbuf_release(&text);
    }
}

static void
folds_hide_lines(void **state)
{
    (void)state;
    //                             0    1           2     3      4       5    6        7
    struct editor *editor = marked("{\n  \"a\": [\n    1,\n    {\n    2\n    }\n  ],\n  \"b\": 3\n}");
    assert_true(editor_can_fold(editor, 0));
    assert_true(editor_can_fold(editor, 1));
    assert_false(editor_can_fold(editor, 2));
    assert_true(editor_can_fold(editor, 3));
    assert_false(editor_can_fold(editor, 7));
    editor_set_cursor(editor, 15, false); // on "1,"
    assert_true(editor_fold(editor, editor_cursor(editor)));
    assert_int_equal(editor_cursor(editor), 9);
    assert_int_equal(editor_rows(editor), 5);
    assert_int_equal(editor_folded_at(editor, 1), 4);
    assert_false(editor_is_hidden(editor, 1));
    assert_true(editor_is_hidden(editor, 2));
    assert_true(editor_is_hidden(editor, 5));
    assert_false(editor_is_hidden(editor, 6));
    assert_int_equal(editor_line_of(editor, 2), 6);
    assert_int_equal(editor_row_of(editor, 6), 2);
    assert_int_equal(editor_row_of(editor, 4), 1);
    assert_int_equal(editor_line_of(editor, 99), 8);
    assert_true(editor_move(editor, MOTION_DOWN, 1, false));
    assert_int_equal(buffer_line_at(editor_buffer(editor), editor_cursor(editor)), 6);

    // Lines before move it, an edit within opens it.
    assert_true(editor_replace(editor, 0, 0, BYTES("\n"), 0));
    assert_int_equal(editor_folded_at(editor, 2), 4);
    assert_true(editor_undo(editor));
    assert_int_equal(editor_folded_at(editor, 1), 4);
    assert_true(editor_replace(editor, 15, 16, BYTES("7"), 0));
    assert_false(editor_has_folds(editor));

    assert_int_equal(editor_fold_all(editor), 2);
    assert_int_equal(editor_rows(editor), 5);
    assert_true(editor_unfold(editor, 9));
    assert_int_equal(editor_rows(editor), 8);
    assert_int_equal(editor_folded_at(editor, 3), 1);
    assert_int_equal(editor_fold_all(editor), 2);
    // The cursor opens what it enters, all of it.
    editor_set_cursor(editor, 28, false);
    assert_int_equal(editor_rows(editor), 9);
    assert_false(editor_has_folds(editor));
    assert_false(editor_unfold(editor, 0));
    assert_true(editor_toggle_fold(editor, 0));
    assert_int_equal(editor_rows(editor), 2);
    assert_true(editor_toggle_fold(editor, 0));
    editor_destroy(editor);
}

// Rows and lines lead back to each other whatever is folded.
static void
rows_are_the_lines_that_are_shown(void **state)
{
    (void)state;
    struct dice dice = {17};
    for (int i = 0; i < 40; i++) {
        struct strbuf text = {0}, pretty = {0};
        random_json(&dice, 3000, &text);
        (void)json_format(strbuf_bytes(&text), &pretty);
        struct editor *editor = editor_create(strbuf_bytes(&pretty), true);
        if (dice_roll(&dice, 3) == 0)
            (void)editor_fold_all(editor);
        for (int j = 0; j < 12; j++) {
            (void)editor_toggle_fold(editor, dice_roll(&dice, pretty.len));
            size_t at = dice_roll(&dice, editor_len(editor));
            if (dice_roll(&dice, 3) == 0)
                (void)editor_replace(editor, at, at, dice_roll(&dice, 2) ? BYTES("\n") : BYTES(" "), 0);
            size_t lines = buffer_lines(editor_buffer(editor));
            size_t row = 0;
            for (size_t line = 0; line < lines; line++) {
                if (editor_is_hidden(editor, line))
                    continue;
                assert_int_equal(editor_row_of(editor, line), row);
                assert_int_equal(editor_line_of(editor, row), line);
                size_t hidden = editor_folded_at(editor, line);
                for (size_t k = 1; k <= hidden; k++)
                    assert_true(editor_is_hidden(editor, line + k));
                assert_false(line + hidden + 1 < lines && editor_is_hidden(editor, line + hidden + 1));
                row++;
            }
            assert_int_equal(editor_rows(editor), row);
            assert_false(
                editor_is_hidden(editor, buffer_line_at(editor_buffer(editor), editor_cursor(editor))));
        }
        editor_destroy(editor);
        strbuf_release(&text);
        strbuf_release(&pretty);
    }
}

// Random keys; undone one by one they give every earlier document back, redone every later one.
static void
everything_is_undone(void **state)
{
    (void)state;
    enum { KEYS = 120 };
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct dice dice = {seed};
        struct strbuf text = {0}, plain = {0}, texts[KEYS + 1] = {{0}};
        size_t cursors[KEYS + 1];
        random_text(&dice, 40, &text);
        struct editor *editor = editor_create(strbuf_bytes(&text), dice_roll(&dice, 2));
        size_t steps = 0;
        strbuf_add(&plain, strbuf_bytes(&text));
        for (int i = 0; i < KEYS; i++) {
            strbuf_reset(&text);
            random_text(&dice, 1 + dice_roll(&dice, 3), &text);
            size_t place = dice_roll(&dice, editor_len(editor) + 1);
            if (dice_roll(&dice, 3) == 0)
                editor_set_cursor(editor, place, dice_roll(&dice, 3) == 0);
            strbuf_reset(&texts[steps]);
            strbuf_add(&texts[steps], editor_text(editor));
            cursors[steps] = editor_cursor(editor);
            int64_t now = (int64_t)i * 2 * EDITOR_PAUSE; // each is a step
            static const char presses[] = "etbdDk";
            bool is_done = dice_roll(&dice, 2) ? editor_type(editor, strbuf_bytes(&text), now)
                                               : press(editor, presses[dice_roll(&dice, 6)]);
            if (dice_roll(&dice, 2))
                editor_set_saved(editor); // closes the step
            else
                editor_begin_step(editor, now), editor_end_step(editor);
            steps += is_done;
        }
        strbuf_reset(&texts[steps]);
        strbuf_add(&texts[steps], editor_text(editor));
        for (size_t i = steps; i > 0; i--) {
            assert_true(editor_undo(editor));
            expect_text(editor, strbuf_bytes(&texts[i - 1]));
            assert_int_equal(editor_cursor(editor), cursors[i - 1]);
        }
        assert_false(editor_undo(editor));
        for (size_t i = 0; i < steps; i++) {
            assert_true(editor_redo(editor));
            expect_text(editor, strbuf_bytes(&texts[i + 1]));
        }
        for (int i = 0; i <= KEYS; i++)
            strbuf_release(&texts[i]);
        editor_destroy(editor);
        strbuf_release(&text);
        strbuf_release(&plain);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typing_is_undone_by_word_and_pause),
        cmocka_unit_test(typing_goes_on_behind_a_mark),
        cmocka_unit_test(deleting_is_undone_by_word),
        cmocka_unit_test(what_is_saved_is_known_again),
        cmocka_unit_test(steps_restore_the_selection),
        cmocka_unit_test(keys_change_the_document),
        cmocka_unit_test(formatting_says_why_not),
        cmocka_unit_test(cut_text_comes_back),
        cmocka_unit_test(motions_lead_where_they_say),
        cmocka_unit_test(motions_follow_the_tokens),
        cmocka_unit_test(folds_hide_lines),
        cmocka_unit_test(rows_are_the_lines_that_are_shown),
        cmocka_unit_test(everything_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
