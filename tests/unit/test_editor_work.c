// What a key costs, counted in bytes that are moved, read and scanned: a document of one line of 1 MB costs
// no more than the same document in short lines. And the memory of it all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/json/content.h"
#include "core/json/json.h"
#include "editor_fixture.h"
#include "tests/lib/jansson.h"
#include "tests/unit/cpu_time.h"
#include "ui/editor/check.h"
#include "ui/editor/fold.h"
#include "ui/editor/motion.h"
#include "ui/editor/place.h"
#include "ui/editor/private.h"
#include "ui/editor/syntax.h"

enum { MEGABYTE = 1 << 20, KEYS = 400 };

// The same members, each on a line of its own or all on one.
static void
members(struct strbuf *text, size_t size, const char *line_end)
{
    strbuf_add_text(text, "[");
    for (int i = 0; text->len < size; i++)
        strbuf_printf(text, "{\"sku\": \"A%d日\", \"amount\": %d.50, \"ok\": true},%s", i, i % 977, line_end);
    strbuf_add_text(text, "0]");
}

static struct editor *
document(size_t size, const char *line_end)
{
    struct strbuf text = {0};
    members(&text, size, line_end);
    struct editor *editor = editor_create(strbuf_bytes(&text), true);
    strbuf_release(&text);
    while (editor_check(editor, MEGABYTE) == CHECK_RUNNING)
        continue;
    return editor;
}

// What a view asks after each key: the classes and the first column of what it shows, the path.
static void
look(struct editor *editor)
{
    struct buffer *buffer = editor_buffer(editor);
    struct syntax_span spans[100];
    struct strbuf path = {0};
    size_t line;
    size_t column;
    size_t cursor = editor_cursor(editor);
    size_t cell = buffer_cell_at(buffer, cursor);
    buffer_position(buffer, cursor, &line, &column);
    size_t left = buffer_at_cell(buffer, line - 1, cell > 40 ? cell - 40 : 0, NULL);
    size_t right = buffer_at_cell(buffer, line - 1, cell + 40, NULL);
    (void)editor_classes(editor, left, right, spans, 100);
    (void)editor_path_at(editor, cursor, &path);
    assert_true(path.len > 0);
    strbuf_release(&path);
}

// Keys around a place within a string: the document stays JSON.
static uint64_t
work_of_keys(struct editor *editor, size_t place)
{
    struct dice dice = {1};
    place = bytes_find(editor_text(editor), BYTES("\"A"), place) + 2;
    editor_set_cursor(editor, place, false);
    assert_true(editor_type(editor, BYTES("7"), 0)); // the gap comes from where it was
    look(editor);
    uint64_t before = editor_work(editor);
    for (int i = 0; i < KEYS; i++) {
        static const enum motion motions[] = {MOTION_LEFT,         MOTION_WORD_RIGHT,       MOTION_UP,
                                              MOTION_NEXT_SIBLING, MOTION_PREVIOUS_SIBLING, MOTION_PARENT,
                                              MOTION_LINE_TEXT,    MOTION_LINE_END,         MOTION_BRACKET};
        editor_set_cursor(editor, place, false);
        if (dice_roll(&dice, 2))
            (void)editor_move(editor, motions[dice_roll(&dice, 9)], 1 + dice_roll(&dice, 3), false);
        else if (i % 2)
            assert_true(editor_type(editor, BYTES("7"), i));
        else
            assert_true(editor_delete_left(editor, i) && editor_type(editor, BYTES("x"), i));
        look(editor);
    }
    return editor_work(editor) - before;
}

static void
a_long_line_costs_what_short_ones_do(void **state)
{
    (void)state;
    static const size_t places[] = {100, MEGABYTE / 2, MEGABYTE - 1000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct editor *lines = document(MEGABYTE, "\n");
        struct editor *line = document(MEGABYTE, "");
        uint64_t of_lines = work_of_keys(lines, places[i]);
        uint64_t of_line = work_of_keys(line, places[i]);
        print_message("a key at %zu: %llu bytes in short lines, %llu in one line\n", places[i],
                      (unsigned long long)of_lines / KEYS, (unsigned long long)of_line / KEYS);
        // A few blocks more: counts of cells and states of the scan are kept for 4 KiB and 8 KiB.
        assert_true(of_line < 2 * of_lines + (uint64_t)KEYS * 16384);
        editor_destroy(lines);
        editor_destroy(line);
    }
}

// Every level of a deep path has a name that is looked up.
static void
a_deep_path_costs_its_names(void **state)
{
    (void)state;
    struct strbuf text = {0}, path = {0};
    for (int i = 0; i < 500; i++)
        strbuf_printf(&text, "{\"%s\": 0, \"name\": ", i == 250 ? "x" : "filler that nobody reads again");
    struct editor *editor = editor_create(strbuf_bytes(&text), true);
    assert_true(editor_path_at(editor, text.len, &path));
    uint64_t before = editor_work(editor);
    strbuf_reset(&path);
    assert_true(editor_path_at(editor, text.len, &path));
    assert_int_equal(path.len, 1 + 500 * 5);
    assert_true(editor_work(editor) - before < 2 * TREE_STRIDE);
    editor_destroy(editor);
    strbuf_release(&text);
    strbuf_release(&path);
}

// Four times the document costs a key no more.
static void
a_long_document_costs_what_a_short_one_does(void **state)
{
    (void)state;
    struct editor *small = document(MEGABYTE, "");
    struct editor *large = document(4 * MEGABYTE, "");
    uint64_t of_small = work_of_keys(small, MEGABYTE / 2);
    uint64_t of_large = work_of_keys(large, MEGABYTE * 2);
    print_message("a key: %llu bytes in 1 MB, %llu in 4 MB\n", (unsigned long long)of_small / KEYS,
                  (unsigned long long)of_large / KEYS);
    assert_true(of_large < 2 * of_small);
    editor_destroy(small);
    editor_destroy(large);
}

// A new element near the beginning changes the index of every one behind it, but nothing there is read again.
static void
what_stands_behind_an_edit_is_known_again(void **state)
{
    (void)state;
    struct editor *editor = document(4 * MEGABYTE, "\n");
    struct strbuf before = {0}, path = {0};
    assert_true(editor_path_at(editor, editor_len(editor) - 2, &before));
    unsigned long index = strtoul(strbuf_text(&before) + 2, NULL, 10);
    assert_true(editor_replace(editor, 1, 1, BYTES("7, "), 0));
    uint64_t work = editor_work(editor);
    assert_true(editor_path_at(editor, editor_len(editor) - 2, &path));
    assert_true(editor_work(editor) - work < 65536);
    assert_int_equal(strtoul(strbuf_text(&path) + 2, NULL, 10), index + 1);
    assert_int_equal(editor_check(editor, 65536), CHECK_VALID);

    // Each key keeps some states more; they do not add up.
    for (int i = 0; i < 3000; i++) {
        assert_true(editor_replace(editor, 1, 1, BYTES("7, "), i));
        assert_int_equal(editor_check(editor, 65536), CHECK_VALID);
    }
    assert_true(editor->tree.known.point_count <= editor_len(editor) / (TREE_STRIDE / 2) + 1);
    editor_destroy(editor);
    strbuf_release(&before);
    strbuf_release(&path);
}

static void
memory_is_below_three_documents(void **state)
{
    (void)state;
    static const char *const line_ends[] = {"", "\n"};
    for (size_t i = 0; i < 2; i++) {
        struct editor *editor = document(MEGABYTE, line_ends[i]);
        size_t len = editor_len(editor);
        assert_true(editor_memory(editor) < len * 3 / 2);
        (void)work_of_keys(editor, MEGABYTE / 2);
        while (editor_undo(editor))
            continue;
        assert_true(editor_format(editor, 0, NULL));
        (void)editor_fold_all(editor);
        (void)editor_find_warnings(editor);
        while (editor_check(editor, MEGABYTE) == CHECK_RUNNING)
            continue;
        assert_true(editor_memory(editor) < editor_len(editor) * 2);
        assert_true(editor_undo(editor));
        assert_true(editor_memory(editor) < len * 2);
        editor_destroy(editor);
    }
    // Nesting costs most, and lines of one byte.
    struct strbuf text = {0};
    strbuf_add_text(&text, "[");
    while (text.len < MEGABYTE) {
        for (int i = 0; i < 500; i++)
            strbuf_add_text(&text, "[\n");
        for (int i = 0; i < 500; i++)
            strbuf_add_text(&text, "\n]");
        strbuf_add_text(&text, ",");
    }
    strbuf_add_text(&text, "0]");
    struct editor *editor = editor_create(strbuf_bytes(&text), true);
    while (editor_check(editor, MEGABYTE) == CHECK_RUNNING)
        continue;
    assert_int_equal(editor_check_state(editor), CHECK_VALID);
    (void)editor_fold_all(editor);
    (void)editor_rows(editor);
    assert_true(editor_replace(editor, 0, 0, BYTES(" "), 0));
    while (editor_check(editor, MEGABYTE) == CHECK_RUNNING)
        continue;
    print_message("nested: %zu bytes for a document of %zu\n", editor_memory(editor), text.len);
    assert_true(editor_memory(editor) < text.len * 3);
    editor_destroy(editor);
    strbuf_release(&text);
}

// As the view opens it: what it is, the text with its lines, and the end of the check.
static void
open_to_read(struct bytes text, struct editor **editor)
{
    struct content content;
    content_of(text, &content);
    assert_int_equal(content.kind, CONTENT_JSON);
    assert_false(content.is_editable);
    *editor = editor_create(text, true);
    editor_set_read_only(*editor, true);
    while (editor_check(*editor, MEGABYTE) == CHECK_RUNNING)
        continue;
}

struct reading {
    int64_t opened, read; // the shortest of each
};

// One attempt of jansson and the editor. Other programs slow the one or the other, so a single one says
// little.
static void
read_by_both(struct bytes text, struct reading *shortest, struct editor **editor)
{
    int64_t began = cpu_time();
    assert_true(jansson_reads(text));
    int64_t read = cpu_time() - began;
    began = cpu_time();
    open_to_read(text, editor);
    int64_t opened = cpu_time() - began;
    shortest->read = read < shortest->read ? read : shortest->read;
    shortest->opened = opened < shortest->opened ? opened : shortest->opened;
}

// 20 MB cannot be edited, and open no later than jansson has read them, in less than three times their size.
static void
twenty_megabytes_open_to_be_read(void **state)
{
    (void)state;
    static const char *const line_ends[] = {"", "\n"};
    for (size_t i = 0; i < 2; i++) {
        struct strbuf text = {0};
        members(&text, (size_t)20 * MEGABYTE, line_ends[i]);
        struct editor *editor = NULL;
        struct reading shortest = {INT64_MAX, INT64_MAX};
        for (int attempt = 0; attempt < 5 && (attempt == 0 || shortest.opened >= shortest.read); attempt++) {
            if (editor)
                editor_destroy(editor);
            read_by_both(strbuf_bytes(&text), &shortest, &editor);
        }
        print_message("20 MB: opened in %.2f of jansson's time, %.2f times its size\n",
                      (double)shortest.opened / (double)shortest.read,
                      (double)editor_memory(editor) / (double)text.len);
        assert_int_equal(editor_check_state(editor), CHECK_VALID);
        assert_true(shortest.opened < shortest.read);
        assert_true(editor_memory(editor) < text.len * 3);
        assert_false(editor_type(editor, BYTES("x"), 0));
        assert_int_equal(editor_len(editor), text.len);
        editor_destroy(editor);
        strbuf_release(&text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_line_costs_what_short_ones_do),
        cmocka_unit_test(a_deep_path_costs_its_names),
        cmocka_unit_test(a_long_document_costs_what_a_short_one_does),
        cmocka_unit_test(what_stands_behind_an_edit_is_known_again),
        cmocka_unit_test(memory_is_below_three_documents),
        cmocka_unit_test(twenty_megabytes_open_to_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
