// Table, pager, prompt, dialog, bars and charts, each drawn into a canvas.
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
#include "ui/widgets/dialog.h"
#include "ui/widgets/pager.h"
#include "ui/widgets/prompt.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"
#include "ui/widgets/table.h"

static struct canvas canvas;

static int
make_canvas(void **state)
{
    (void)state;
    canvas_init(&canvas, 24, 80, false);
    return 0;
}

static int
release_canvas(void **state)
{
    (void)state;
    canvas_release(&canvas);
    return 0;
}

static struct strbuf picture;

static const char *
drawn(void)
{
    strbuf_reset(&picture);
    canvas_to_text(&canvas, &picture);
    return strbuf_text(&picture);
}

static const char *
drawn_row(int row)
{
    const char *at = drawn();
    for (; row > 0; row--)
        at = strchr(at, '\n') + 1;
    static char line[800];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

// --- table

struct list {
    int64_t ids[200];
    size_t count;
};

static int64_t
list_id(const void *rows, size_t index)
{
    return ((const struct list *)rows)->ids[index];
}

static bool
list_selected(const void *rows, size_t index)
{
    return ((const struct list *)rows)->ids[index] % 10 == 3;
}

static void
list_cell(const void *rows, size_t index, int column, struct canvas *into, struct area area)
{
    const struct list *list = rows;
    if (column == 0)
        (void)canvas_count(into, area.row, area.col, area.cols, list->ids[index], ROLE_TEXT);
    else
        (void)canvas_printf(into, area.row, area.col, area.cols, ROLE_TEXT, "column %d of %d", column,
                            (int)list->ids[index]);
}

static const struct table_column columns[] = {
    {.title = "id", .width = 6, .at_right = true, .is_order = true, .is_descending = true},
    {.title = "first", .width = 10, .widest = 20, .priority = 2},
    {.title = "second", .width = 10, .priority = 1},
    {.title = "text", .width = 12, .widest = TABLE_REST},
};

static struct table_model
model_of(const struct list *list)
{
    return (struct table_model){.count = list->count,
                                .id = list_id,
                                .is_selected = list_selected,
                                .cell = list_cell,
                                .columns = columns,
                                .column_count = 4,
                                .rows = list};
}

static void
fill(struct list *list, size_t count)
{
    list->count = count;
    for (size_t i = 0; i < count; i++)
        list->ids[i] = 1000 - (int64_t)i;
}

static void
columns_leave_by_priority(void **state)
{
    (void)state;
    int widths[4];
    table_widths(columns, 4, 80, widths);
    assert_int_equal(widths[0], 6);
    assert_int_equal(widths[1], 20);
    assert_int_equal(widths[2], 10);
    assert_int_equal(widths[3], 80 - 3 - 6 - 20 - 10 - 6);
    table_widths(columns, 4, 40, widths);
    assert_int_equal(widths[1], 0);
    assert_int_equal(widths[2], 10);
    assert_int_equal(widths[3], 17);
    table_widths(columns, 4, 30, widths);
    assert_int_equal(widths[2], 0);
    assert_int_equal(widths[3], 19);
    table_widths(columns, 4, 10, widths); // never the count or the text
    assert_int_equal(widths[0], 6);
    assert_int_equal(widths[3], 12);
}

static void
a_text_is_not_squeezed_by_what_matters_less(void **state)
{
    (void)state;
    static const struct table_column all[] = {
        {.title = "id", .width = 6, .widest = 12, .priority = 1},
        {.title = "status", .width = 9, .priority = 2, .yields_below = 30},
        {.title = "error", .width = 20, .widest = TABLE_REST, .wish = 40},
    };
    int widths[3];
    table_widths(all, 3, 3 + 6 + 2 + 9 + 2 + 30, widths); // just enough for all
    assert_int_equal(widths[1], 9);
    assert_int_equal(widths[2], 30);
    table_widths(all, 3, 3 + 6 + 2 + 9 + 2 + 29, widths);
    assert_int_equal(widths[1], 0);
    assert_int_equal(widths[2], 40); // the text first …
    assert_int_equal(widths[0], 6);
    table_widths(all, 3, 3 + 6 + 2 + 9 + 2 + 43, widths);
    assert_int_equal(widths[0], 9); // … then the others, then the text again
    assert_int_equal(widths[2], 40);
    table_widths(all, 3, 100, widths);
    assert_int_equal(widths[0], 12);
    assert_int_equal(widths[2], 100 - 3 - 12 - 2 - 9 - 2);
}

static void
the_cursor_stays_with_its_row(void **state)
{
    (void)state;
    struct list list;
    struct table table = {0};
    fill(&list, 100);
    struct table_model model = model_of(&list);
    table_layout(&table, &model, (struct area){0, 0, 11, 80});
    assert_int_equal(table.height, 10);
    for (int i = 0; i < 25; i++)
        assert_true(table_handle(&table, &model, DO_DOWN));
    assert_int_equal(table.cursor_id, 975);
    assert_int_equal(table.top, 16);

    // Five rows arrive above: the same row on the same line of the screen.
    memmove(list.ids + 5, list.ids, 100 * sizeof *list.ids);
    for (int i = 0; i < 5; i++)
        list.ids[i] = 2000 + i;
    list.count = 105;
    model = model_of(&list);
    table_sync(&table, &model);
    assert_int_equal(table.cursor, 30);
    assert_int_equal(table.cursor_id, 975);
    assert_int_equal(table.cursor - table.top, 9);

    // The row goes: the one that stands where it was.
    memmove(list.ids + 30, list.ids + 31, 74 * sizeof *list.ids);
    list.count = 104;
    model = model_of(&list);
    table_sync(&table, &model);
    assert_int_equal(table.cursor, 30);
    assert_int_equal(table.cursor_id, 974);

    // All go, and come back.
    list.count = 0;
    model = model_of(&list);
    table_sync(&table, &model);
    size_t from, to;
    assert_false(table_range(&table, &from, &to));
    list.count = 104;
    model = model_of(&list);
    table_sync(&table, &model);
    assert_int_equal(table.cursor_id, 974);
    assert_true(table_move_to_id(&table, &model, 2004));
    assert_false(table_move_to_id(&table, &model, 7));
    assert_int_equal(table.cursor, 4);
}

static void
movements_move(void **state)
{
    static const struct {
        enum action action;
        size_t cursor, top;
    } steps[] = {
        {DO_HALF_DOWN, 5, 5},    {DO_PAGE_DOWN, 14, 14}, {DO_BOTTOM, 99, 90},    {DO_DOWN, 99, 90},
        {DO_SCREEN_TOP, 90, 90}, {DO_UP, 89, 89},        {DO_PAGE_UP, 80, 80},   {DO_SCREEN_BOTTOM, 89, 80},
        {DO_LINE_UP, 88, 79},    {DO_CENTRE, 88, 83},    {DO_LINE_DOWN, 88, 84}, {DO_SCREEN_MIDDLE, 88, 84},
        {DO_TOP, 0, 0},          {DO_UP, 0, 0},
    };
    (void)state;
    struct list list;
    struct table table = {0};
    fill(&list, 100);
    struct table_model model = model_of(&list);
    table_layout(&table, &model, (struct area){0, 0, 11, 80});
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_true(table_handle(&table, &model, steps[i].action));
        table_layout(&table, &model, (struct area){0, 0, 11, 80});
        if (table.cursor != steps[i].cursor || table.top != steps[i].top)
            fail_msg("step %zu: cursor %zu, top %zu", i, table.cursor, table.top);
    }
    assert_false(table_handle(&table, &model, DO_OPEN));
    assert_false(table_handle(&table, &model, DO_BACK));
}

static void
every_movement_extends_a_range(void **state)
{
    (void)state;
    struct list list;
    struct table table = {0};
    size_t from, to;
    fill(&list, 100);
    struct table_model model = model_of(&list);
    table_layout(&table, &model, (struct area){0, 0, 11, 80});
    assert_true(table_handle(&table, &model, DO_DOWN));
    assert_true(table_handle(&table, &model, DO_VISUAL));
    assert_true(table_handle(&table, &model, DO_PAGE_DOWN));
    assert_true(table_range(&table, &from, &to));
    assert_int_equal(from, 1);
    assert_int_equal(to, 11);
    assert_true(table_handle(&table, &model, DO_TOP));
    assert_true(table_range(&table, &from, &to));
    assert_int_equal(from, 0);
    assert_int_equal(to, 2);
    assert_true(table_handle(&table, &model, DO_BACK));
    assert_true(table_range(&table, &from, &to));
    assert_int_equal(to - from, 1);
    assert_true(table_handle(&table, &model, DO_EXTEND_DOWN));
    assert_true(table.is_visual);
}

static void
a_table_is_drawn(void **state)
{
    (void)state;
    struct list list;
    struct table table = {0};
    fill(&list, 9);
    struct table_model model = model_of(&list);
    struct area area = {1, 0, 10, 40};
    table_layout(&table, &model, area);
    assert_true(table_handle(&table, &model, DO_DOWN));
    table_draw(&table, &model, &canvas, area);
    assert_string_equal(drawn_row(1), "      id↓  second      text");
    assert_string_equal(drawn_row(2), "    1,000  column 2 …  column 3 of 1000");
    assert_string_equal(drawn_row(3), "▌     999  column 2 …  column 3 of 999");
    assert_string_equal(drawn_row(9), " ●    993  column 2 …  column 3 of 993");
    assert_int_equal(canvas_cell(&canvas, 3, 39)->role, ROLE_CURSOR);
    assert_int_equal(canvas_cell(&canvas, 3, 0)->role, ROLE_CURSOR_MARK);
    assert_int_equal(canvas_cell(&canvas, 2, 39)->role, ROLE_TEXT);
    char position[48];
    assert_string_equal(table_position(&table, position), "2/9");
    for (int rows = 0; rows < 5; rows++) { // any size
        area = (struct area){1, 0, rows, rows * 3};
        table_layout(&table, &model, area);
        table_draw(&table, &model, &canvas, area);
    }
}

// --- pager

static struct pager *
make_pager(bool is_folded)
{
    struct pager *pager = pager_create();
    pager_begin(pager);
    pager_section(pager, "error", NULL, false);
    pager_line(pager, ROLE_TEXT, bytes_of("first line\nsecond\tline\r\nthird"));
    pager_section(pager, "trace", "3 frames", is_folded);
    for (int i = 0; i < 3; i++)
        pager_printf(pager, ROLE_DIM, "at frame %d", i);
    pager_section(pager, "payload", NULL, false);
    struct canvas_span span = {.from = 1, .len = 3, .role = ROLE_JSON_KEY};
    pager_spans(pager, ROLE_TEXT, bytes_of("{\"a\": 1, \"long\": \"one two three four five six seven\"}"),
                &span, 1);
    pager_end(pager);
    return pager;
}

static void
a_text_is_drawn_and_folded(void **state)
{
    (void)state;
    struct pager *pager = make_pager(true);
    struct area area = {0, 0, 20, 30};
    pager_layout(pager, area);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(0), "▌ ▾ error");
    assert_string_equal(drawn_row(2), "  second  line");
    assert_string_equal(drawn_row(4), "  ▸ trace  3 frames");
    assert_string_equal(drawn_row(5), "  ▾ payload");
    assert_string_equal(drawn_row(6), "  {\"a\": 1, \"long\": \"one two");
    assert_string_equal(drawn_row(7), "  three four five six seven\"}");
    assert_int_equal(canvas_cell(&canvas, 6, 3)->role, ROLE_JSON_KEY);

    for (int i = 0; i < 4; i++)
        assert_true(pager_handle(pager, DO_DOWN));
    assert_string_equal(pager_section_at(pager), "trace");
    assert_true(pager_handle(pager, DO_OPEN));
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(4), "▌ ▾ trace");
    assert_string_equal(drawn_row(5), "  at frame 0");
    assert_true(pager_handle(pager, DO_DOWN));
    assert_false(pager_handle(pager, DO_OPEN)); // no heading
    assert_true(pager_handle(pager, DO_FOLD));  // folds around the cursor, which goes to the heading
    assert_int_equal(pager_cursor(pager), 4);
    assert_true(pager_handle(pager, DO_FOLD_ALL));
    assert_true(pager_handle(pager, DO_UNFOLD_ALL));
    pager_destroy(pager);
}

static void
rebuilding_keeps_place_and_folds(void **state)
{
    (void)state;
    struct pager *pager = make_pager(true);
    struct area area = {0, 0, 4, 30};
    pager_layout(pager, area);
    for (int i = 0; i < 5; i++)
        assert_true(pager_handle(pager, DO_DOWN));
    assert_string_equal(pager_section_at(pager), "payload");
    size_t line = pager_cursor(pager);
    pager_begin(pager);
    pager_section(pager, "error", NULL, false);
    pager_line(pager, ROLE_TEXT, bytes_of("first line\nsecond line\nthird"));
    pager_section(pager, "trace", "3 frames", true);
    for (int i = 0; i < 3; i++)
        pager_printf(pager, ROLE_DIM, "at frame %d", i);
    pager_section(pager, "payload", NULL, false);
    pager_line(pager, ROLE_TEXT, bytes_of("{}"));
    pager_end(pager);
    assert_true(pager_handle(pager, DO_LEFT)); // before the next layout
    assert_int_equal(pager_cursor(pager), line);
    pager_layout(pager, area);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(3), "▌ ▾ payload"); // on the same line of the screen
    pager_begin(pager);                               // less than before
    pager_line(pager, ROLE_TEXT, bytes_of("only"));
    pager_end(pager);
    assert_true(pager_handle(pager, DO_DOWN));
    assert_true(bytes_equal_text(pager_line_at(pager), "only"));
    pager_begin(pager);
    pager_end(pager);
    assert_true(pager_handle(pager, DO_PAGE_DOWN));
    assert_false(bytes_present(pager_line_at(pager)));
    assert_null(pager_section_at(pager));
    pager_destroy(pager);
}

static void
matches_are_found_also_in_folds(void **state)
{
    (void)state;
    struct pager *pager = make_pager(true);
    struct area area = {0, 0, 20, 40};
    struct err err = {0};
    char words[64];
    pager_layout(pager, area);
    assert_true(pager_search(pager, bytes_of("frame"), &err));
    assert_int_equal(pager_cursor(pager), 5);
    assert_string_equal(pager_search_words(pager, words), "1 of 3 matching lines");
    assert_true(pager_handle(pager, DO_NEXT_MATCH));
    assert_true(pager_handle(pager, DO_NEXT_MATCH));
    assert_string_equal(pager_search_words(pager, words), "3 of 3 matching lines");
    assert_true(pager_handle(pager, DO_NEXT_MATCH)); // goes round
    assert_string_equal(pager_search_words(pager, words), "1 of 3 matching lines");
    assert_true(pager_handle(pager, DO_PREVIOUS_MATCH));
    assert_string_equal(pager_search_words(pager, words), "3 of 3 matching lines");
    pager_layout(pager, area);
    pager_draw(pager, &canvas, area);
    assert_int_equal(canvas_cell(&canvas, 7, 2 + 3)->role, ROLE_MATCH_CURRENT);
    assert_int_equal(canvas_cell(&canvas, 6, 2 + 3)->role, ROLE_MATCH);
    assert_int_equal(canvas_cell(&canvas, 6, 2)->role, ROLE_DIM);
    assert_false(pager_search(pager, bytes_of("(a"), &err));
    assert_true(err.column > 0);
    assert_true(pager_search(pager, bytes_of("nowhere"), NULL));
    assert_string_equal(pager_search_words(pager, words), "no match");
    assert_true(pager_search(pager, bytes_of(""), NULL));
    assert_string_equal(pager_search_words(pager, words), "");
    pager_destroy(pager);
}

static void
long_lines_are_cut_on_demand(void **state)
{
    (void)state;
    struct pager *pager = make_pager(true);
    struct area area = {0, 0, 20, 30};
    pager_layout(pager, area);
    assert_true(pager_handle(pager, DO_WRAP));
    assert_true(pager_handle(pager, DO_BOTTOM));
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(6), "▌ {\"a\": 1, \"long\": \"one two t…");
    assert_true(pager_handle(pager, DO_LAST_COLUMN));
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(6), "▌  three four five six seven\"}");
    pager_destroy(pager);
}

// --- prompt

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

// --- dialog

static bool
check_rate(struct bytes text, struct err *err)
{
    return bytes_equal_text(text, "500") || err_set(err, ERR_USAGE, "a rate is a number");
}

static struct dialog *
make_dialog(int64_t typed_count)
{
    struct dialog_request request = {
        .title = "Reprocess",
        .confirm = "Reprocess",
        .typed_count = typed_count,
        .fields = {{.label = "reason", .option = "--reason", .is_required = true},
                   {.label = "rate",
                    .option = "--rate",
                    .value = "500",
                    .hint = "events/s",
                    .width = 8,
                    .check = check_rate}},
        .field_count = 2,
        .command = "redrive reprocess --group 8f3a",
    };
    struct dialog *dialog = dialog_create(&request, "PROD", 'R');
    dialog_line(dialog, ROLE_DIALOG, "%d events of %s", 2114, "SocketTimeoutException");
    return dialog;
}

// Where there is no room for all of it: what it is about, the count and the field in focus stay.
static void
a_small_form_says_what_it_is_about(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    struct area area = {0, 0, 6, 40};
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, area);
    assert_non_null(strstr(drawn_row(1), "2114 events of SocketTimeout"));
    assert_non_null(strstr(drawn_row(2), "reason"));
    assert_non_null(strstr(drawn_row(3), "type 2114"));
    assert_non_null(strstr(drawn_row(4), "[ Cancel ]"));
    for (int i = 0; i < 3; i++) // Reprocess, reason, rate
        (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    dialog_draw(dialog, &canvas, area);
    assert_non_null(strstr(drawn_row(1), "2114 events"));
    assert_non_null(strstr(drawn_row(2), "rate   500"));
    dialog_destroy(dialog);
}

static void
a_form_shows_the_same_command(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    while (!dialog_is_typing(dialog))
        (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    dialog_type(dialog, bytes_of("it's"), false);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(
        strstr(drawn(), "same as: redrive reprocess --group 8f3a --reason 'it'\\''s' --rate 500"));
    dialog_destroy(dialog);
}

static void
a_form_asks_before_it_confirms(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_CANCELLED);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'R'), DIALOG_OPEN); // the key that opened it
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Cancel ]"));

    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN); // the reason is missing
    assert_true(dialog_is_typing(dialog));
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "reason is required here"));
    dialog_type(dialog, bytes_of("gateway fixed"), false);
    assert_int_equal(dialog_handle(dialog, DO_FIELD_NEXT, 0), DIALOG_OPEN);
    dialog_type(dialog, bytes_of("x"), false);
    assert_int_equal(dialog_handle(dialog, DO_FIELD_NEXT, 0), DIALOG_OPEN);
    dialog_type(dialog, bytes_of("2113"), false);
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Reprocess ]"));
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_OPEN); // the rate
    (void)dialog_handle(dialog, DO_DELETE_LEFT, 0);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN); // the count
    (void)dialog_handle(dialog, DO_DELETE_LEFT, 0);
    dialog_type(dialog, bytes_of("4"), false);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_CONFIRMED);
    assert_true(bytes_equal_text(dialog_value(dialog, 0), "gateway fixed"));
    assert_true(bytes_equal_text(dialog_value(dialog, 1), "500"));
    dialog_destroy(dialog);
}

static void
what_cannot_be_confirmed_has_no_button(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    dialog_set_waiting(dialog, true);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_null(strstr(drawn(), "Cancel ]   Reprocess"));
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    assert_false(dialog_is_typing(dialog));
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN);
    dialog_set_waiting(dialog, false);
    dialog_refuse(dialog, "all of them are in operation 41 of ana");
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "all of them are in operation 41 of ana"));
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN);
    assert_int_equal(dialog_handle(dialog, DO_NO, 'n'), DIALOG_CANCELLED);
    dialog_destroy(dialog);
}

static void
a_form_fits_small_screens(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    for (int i = 0; i < 20; i++)
        dialog_line(dialog, ROLE_DIALOG,
                    "line %d of many that do not all fit on the screen of a small terminal", i);
    for (int rows = 0; rows <= 24; rows++) {
        for (int cols = 0; cols <= 80; cols += 5) {
            canvas_clear(&canvas);
            dialog_draw(dialog, &canvas, (struct area){0, 0, rows, cols});
            if (rows >= 8 && cols >= 40) {
                static const char *const parts[] = {"[ Cancel ]", "reason", "type 2114 to confirm",
                                                    "2114 events of"};
                for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                    if (!strstr(drawn(), parts[i]))
                        fail_msg("%dx%d lacks %s", cols, rows, parts[i]);
            }
        }
    }
    dialog_destroy(dialog);
}

// --- bars and charts

static void
the_header_keeps_what_matters(void **state)
{
    static const char *const crumbs[] = {"redrive", "orders", "SocketTimeoutException"};
    static const struct {
        int cols;
        const char *row;
    } rows[] = {
        {80, " redrive ▸ orders ▸ SocketTimeoutException                PROD   db1/orders  live"},
        {60, " orders ▸ SocketTimeoutException      PROD   db1/orders  live"},
        {45, " SocketTimeoutException           PROD   live"},
        {30, " SocketTimeou…     PROD   live"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct header header = {.crumbs = crumbs,
                                .crumb_count = 3,
                                .label = "PROD",
                                .is_production = true,
                                .where = "db1/orders",
                                .state = "live",
                                .state_role = ROLE_LIVE};
        canvas_clear(&canvas);
        header_draw(&header, &canvas, (struct area){0, 0, 1, rows[i].cols});
        if (text_cells(bytes_of(drawn_row(0)), false) > rows[i].cols || !strstr(drawn_row(0), "PROD   "))
            fail_msg("%d: %s", rows[i].cols, drawn_row(0));
        if (!strstr(drawn_row(0), i == 0 ? "redrive ▸ orders ▸" : i == 1 ? " orders ▸" : " SocketTimeou"))
            fail_msg("%d: %s", rows[i].cols, drawn_row(0));
    }
}

static void
the_footer_keeps_help(void **state)
{
    static const enum action actions[] = {DO_OPEN,    DO_FILTER, DO_SELECT, DO_REPROCESS,
                                          DO_DISCARD, DO_HELP,   DO_NONE};
    (void)state;
    struct keymap *keymap = keymap_load("default", NULL, NULL, NULL);
    footer_draw(keymap, CONTEXT_VIEW_groups, actions, &canvas, (struct area){0, 0, 1, 80});
    assert_string_equal(drawn_row(0), " Enter open  / filter  Space select  R reprocess  D discard  ? help");
    canvas_clear(&canvas);
    footer_draw(keymap, CONTEXT_VIEW_groups, actions, &canvas, (struct area){0, 0, 1, 40});
    assert_string_equal(drawn_row(0), " Enter open  / filter  ? help");
    keymap_destroy(keymap);
}

static void
charts_never_lie_at_their_ends(void **state)
{
    (void)state;
    uint32_t values[] = {0, 1, 50, 100};
    assert_int_equal(sparkline_draw(&canvas, 0, 0, 10, values, 4, ROLE_GRAPH), 4);
    assert_string_equal(drawn_row(0), "▁▂▅█");
    uint32_t nothing[] = {0, 0};
    (void)sparkline_draw(&canvas, 1, 0, 10, nothing, 2, ROLE_GRAPH);
    assert_string_equal(drawn_row(1), "▁▁");
    gauge_draw(&canvas, 2, 0, 4, 1, 1000000); // begun
    assert_string_equal(drawn_row(2), "█░░░");
    gauge_draw(&canvas, 2, 0, 4, 999999, 1000000); // not done
    assert_string_equal(drawn_row(2), "███░");
    gauge_draw(&canvas, 2, 0, 4, 5, 5);
    assert_string_equal(drawn_row(2), "████");
    gauge_draw(&canvas, 2, 0, 4, 0, 0);
    assert_string_equal(drawn_row(2), "░░░░");
    bar_draw(&canvas, 3, 0, 4, 3, 8, ROLE_GRAPH);
    assert_string_equal(drawn_row(3), "█▌");
    heat_draw(&canvas, 4, 0, 0, 9, ROLE_GRAPH);
    heat_draw(&canvas, 4, 1, 1, 9, ROLE_GRAPH);
    heat_draw(&canvas, 4, 2, 9, 9, ROLE_GRAPH);
    assert_string_equal(drawn_row(4), " ░█");
}

int
main(void)
{
#define DRAWS(test) cmocka_unit_test_setup_teardown(test, make_canvas, release_canvas)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_leave_by_priority),
        cmocka_unit_test(a_text_is_not_squeezed_by_what_matters_less),
        cmocka_unit_test(the_cursor_stays_with_its_row),
        cmocka_unit_test(movements_move),
        cmocka_unit_test(every_movement_extends_a_range),
        DRAWS(a_table_is_drawn),
        DRAWS(a_text_is_drawn_and_folded),
        DRAWS(rebuilding_keeps_place_and_folds),
        DRAWS(matches_are_found_also_in_folds),
        DRAWS(long_lines_are_cut_on_demand),
        DRAWS(a_line_is_edited_by_characters),
        cmocka_unit_test(words_are_completed_in_turn),
        DRAWS(a_mistake_is_shown_at_its_column),
        DRAWS(a_form_shows_the_same_command),
        cmocka_unit_test(history_is_kept_and_private),
        DRAWS(a_form_asks_before_it_confirms),
        DRAWS(a_small_form_says_what_it_is_about),
        DRAWS(what_cannot_be_confirmed_has_no_button),
        DRAWS(a_form_fits_small_screens),
        DRAWS(the_header_keeps_what_matters),
        DRAWS(the_footer_keeps_help),
        DRAWS(charts_never_lie_at_their_ends),
    };
    int failed = cmocka_run_group_tests_name("widgets", tests, NULL, NULL);
    strbuf_release(&picture);
    return failed;
}
