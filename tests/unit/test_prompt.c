// The line that is typed: editing, completion, mistakes, history.
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
#include "tests/unit/canvas_fixture.h"
#include "ui/widgets/prompt.h"

static const char *
complete_field(struct app *app, void *state, struct bytes text, size_t i)
{
    static const char *const words[] = {"topic:", "type:"};
    (void)app;
    (void)state;
    return bytes_ends(text, "t") && i < 2 ? words[i] : NULL;
}

static void
a_line_is_edited_by_characters(void **state)
{
    (void)state;
    struct line_edit edit = {0};
    // NOLINTNEXTLINE(misc-misleading-bidirectional)
    line_edit_insert(&edit, bytes_of("aä漢e\u0301\033[3m\u202e"));
    assert_string_equal(strbuf_text(&edit.text), "aä漢e\u0301[3m");
    assert_true(line_edit_handle(&edit, DO_LINE_START));
    assert_true(line_edit_handle(&edit, DO_CHAR_RIGHT));
    assert_true(line_edit_handle(&edit, DO_DELETE_RIGHT));
    assert_true(line_edit_handle(&edit, DO_CHAR_RIGHT));
    assert_true(line_edit_handle(&edit, DO_DELETE_LEFT));
    assert_string_equal(strbuf_text(&edit.text), "ae\u0301[3m");
    line_edit_set(&edit, bytes_of("one two  three"));
    assert_true(line_edit_handle(&edit, DO_DELETE_WORD));
    assert_string_equal(strbuf_text(&edit.text), "one two  ");
    assert_true(line_edit_handle(&edit, DO_WORD_LEFT));
    assert_true(line_edit_handle(&edit, DO_DELETE_TO_END));
    assert_string_equal(strbuf_text(&edit.text), "one ");
    assert_false(line_edit_handle(&edit, DO_OPEN));

    line_edit_set(&edit, bytes_of("0123456789abcdef"));
    line_edit_draw(&edit, &canvas, 0, 5, 10, ROLE_PROMPT, true);
    assert_string_equal(drawn_row(0), "     789abcdef");
    assert_int_equal(canvas.caret_col, 14);
    assert_true(line_edit_handle(&edit, DO_LINE_START));
    line_edit_draw(&edit, &canvas, 0, 5, 10, ROLE_PROMPT, true);
    assert_string_equal(drawn_row(0), "     0123456789");
    assert_int_equal(canvas.caret_col, 5);
    line_edit_release(&edit);
}

static void
words_are_completed_in_turn(void **state)
{
    (void)state;
    struct prompt prompt = {0};
    prompt_open(&prompt, &(struct prompt_request){.label = "/", .text = "abc t", .complete = complete_field},
                NULL);
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_COMPLETE));
    assert_string_equal(strbuf_text(&prompt.edit.text), "abc topic:");
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_COMPLETE));
    assert_string_equal(strbuf_text(&prompt.edit.text), "abc type:");
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_COMPLETE));
    assert_string_equal(strbuf_text(&prompt.edit.text), "abc t");
    assert_true(prompt_type(&prompt, bytes_of("x")));
    assert_false(prompt_handle(&prompt, NULL, NULL, DO_COMPLETE));
    prompt_release(&prompt);
}

static void
a_mistake_is_shown_at_its_column(void **state)
{
    (void)state;
    struct prompt prompt = {0};
    prompt_open(&prompt, &(struct prompt_request){.label = "filter ", .text = "ä (b"}, NULL);
    prompt.error = (struct err){.kind = ERR_USAGE, .column = 3, .text = "no closing )"};
    prompt_draw(&prompt, &canvas, (struct area){22, 0, 2, 80});
    assert_string_equal(drawn_row(22), "         no closing )");
    assert_string_equal(drawn_row(23), "filter ä (b");
    assert_int_equal(canvas_cell(&canvas, 23, 9)->role, ROLE_PROMPT_ERROR);
    assert_int_equal(canvas.caret_row, 23);
    assert_int_equal(canvas.caret_col, 11);
    prompt_release(&prompt);
}

static void
history_is_kept_and_private(void **state)
{
    (void)state;
    char folder[] = "/tmp/redrive-history-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct prompt_request request = {.label = "/", .history = "filter"};
    struct prompt prompt = {0};
    static const char *const lines[] = {"one", "two", "two", ""};
    for (size_t i = 0; i < 4; i++) {
        prompt_open(&prompt, &request, folder);
        (void)prompt_type(&prompt, bytes_of(lines[i]));
        prompt_remember(&prompt, folder);
    }
    prompt_open(&prompt, &request, folder);
    (void)prompt_type(&prompt, bytes_of("new"));
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_HISTORY_PREVIOUS));
    assert_string_equal(strbuf_text(&prompt.edit.text), "two");
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_HISTORY_PREVIOUS));
    assert_string_equal(strbuf_text(&prompt.edit.text), "one");
    (void)prompt_handle(&prompt, NULL, NULL, DO_HISTORY_PREVIOUS);
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_HISTORY_NEXT));
    assert_true(prompt_handle(&prompt, NULL, NULL, DO_HISTORY_NEXT));
    assert_string_equal(strbuf_text(&prompt.edit.text), "new");
    prompt_release(&prompt);

    char path[100];
    struct stat stat_of;
    snprintf(path, sizeof path, "%s/history-filter", folder);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    unlink(path);
    rmdir(folder);
}

static bool
explain_row(size_t i, const char **name, const char **sentence)
{
    *name = "topic:";
    *sentence = "the Kafka topic";
    return i < 13;
}

static void
type_text(struct prompt *prompt, const char *text)
{
    (void)prompt_type(prompt, bytes_of(text));
}

// On a filter line the deletion of a blank takes the term before it, with what is quoted in it.
static void
a_term_is_taken_away(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *left;
    } rows[] = {{"timeout topic:orders ", "timeout "},
                {"timeout", "timeou"},
                {"timeout ", ""},
                {"a error:\"b c\" ", "a "},
                {"a  b  ", "a  "},
                {" ", ""},
                {"\"a \\\" b\" ", ""},
                {"x $.a=\"b c", "x $.a=\"b "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prompt prompt = {0};
        prompt_open(&prompt, &(struct prompt_request){.label = "/", .has_terms = true}, NULL);
        type_text(&prompt, rows[i].typed);
        (void)prompt_handle(&prompt, NULL, NULL, DO_DELETE_LEFT);
        assert_string_equal(strbuf_text(&prompt.edit.text), rows[i].left);
        prompt_release(&prompt);
    }
}

// A question mark where a word begins lists the fields; within a word it is a letter like any other.
static void
fields_are_explained(void **state)
{
    (void)state;
    struct prompt prompt = {0};
    prompt_open(&prompt, &(struct prompt_request){.label = "/", .hint = "hint", .explain = explain_row},
                NULL);
    type_text(&prompt, "?");
    assert_true(prompt.is_explaining);
    assert_int_equal(prompt.edit.text.len, 0);
    type_text(&prompt, "?");
    assert_int_equal(prompt.explained, 12);
    type_text(&prompt, "?");
    assert_false(prompt.is_explaining);
    type_text(&prompt, "?");
    type_text(&prompt, "a");
    assert_false(prompt.is_explaining);
    type_text(&prompt, "?");
    assert_string_equal(strbuf_text(&prompt.edit.text), "a?");
    prompt_release(&prompt);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        DRAWS(a_line_is_edited_by_characters),   cmocka_unit_test(words_are_completed_in_turn),
        cmocka_unit_test(a_term_is_taken_away),  cmocka_unit_test(fields_are_explained),
        DRAWS(a_mistake_is_shown_at_its_column), cmocka_unit_test(history_is_kept_and_private),
    };
    return cmocka_run_group_tests_name("prompt", tests, NULL, NULL);
}
