// A table: columns, cursor, ranges.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "tests/unit/canvas_fixture.h"
#include "ui/widgets/table.h"

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
    assert_int_equal(canvas_cell(&canvas, 3, 39)->attributes, 0);
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

static void
a_list_that_does_not_fit_is_marked(void **state)
{
    (void)state;
    struct list list;
    struct table table = {0};
    fill(&list, 100);
    struct table_model model = model_of(&list);
    struct area area = {0, 0, 11, 40};
    table_layout(&table, &model, area);
    table_draw(&table, &model, &canvas, area);
    const struct cell *top = canvas_cell(&canvas, 1, 39);
    uint32_t mark = top->base;
    assert_int_not_equal(mark, ' ');
    for (int row = 2; row <= 10; row++)
        assert_int_equal(canvas_cell(&canvas, row, 39)->base, ' ');
    assert_true(table_handle(&table, &model, DO_BOTTOM));
    canvas_clear(&canvas);
    table_draw(&table, &model, &canvas, area);
    assert_int_equal(canvas_cell(&canvas, 10, 39)->base, mark);
    assert_int_equal(canvas_cell(&canvas, 1, 39)->base, ' ');
    // One row behind the beginning, and one before the end, are neither.
    for (int step = 1; step >= 0; step--) {
        table.cursor = table.top = step ? 1 : 89;
        canvas_clear(&canvas);
        table_draw(&table, &model, &canvas, area);
        assert_int_equal(canvas_cell(&canvas, step ? 1 : 10, 39)->base, ' ');
    }
}

static void
sideways_shows_the_rest_and_no_more(void **state)
{
    (void)state;
    struct list list;
    struct table table = {0};
    fill(&list, 3);
    struct table_model model = model_of(&list);
    struct area area = {0, 0, 4, 23}; // nine cells for "column 3 of 1000"
    table_layout(&table, &model, area);
    table_draw(&table, &model, &canvas, area);
    assert_string_equal(drawn_row(1), "▌   1,000  column 3 of…");
    assert_true(table_handle(&table, &model, DO_LAST_COLUMN));
    table_layout(&table, &model, area);
    canvas_clear(&canvas);
    table_draw(&table, &model, &canvas, area);
    assert_string_equal(drawn_row(1), "▌   1,000  …n 3 of 1000");
    assert_true(table_handle(&table, &model, DO_FIRST_COLUMN));
    table_layout(&table, &model, area);
    assert_int_equal(table.skip, 0);
}

// What says something by its hue keeps it in the row of the cursor.
static void
the_cursor_keeps_hues(void **state)
{
    (void)state;
    (void)canvas_text(&canvas, 0, 0, 10, BYTES("data"), ROLE_KIND_DATA);
    (void)canvas_text(&canvas, 0, 5, 10, BYTES("text"), ROLE_DIM);
    canvas_cursor_row(&canvas, (struct area){0, 0, 1, 20});
    assert_int_equal(canvas_cell(&canvas, 0, 0)->role, ROLE_KIND_DATA);
    assert_int_equal(canvas_cell(&canvas, 0, 0)->attributes, CELL_CURSOR);
    assert_int_equal(canvas_cell(&canvas, 0, 4)->role, ROLE_CURSOR);
    assert_int_equal(canvas_cell(&canvas, 0, 5)->role, ROLE_CURSOR);
    assert_int_equal(canvas_cell(&canvas, 0, 19)->role, ROLE_CURSOR);
}

static void
a_title_that_is_cut_keeps_its_arrow(void **state)
{
    (void)state;
    static const struct table_column text[] = {{.title = "text: what all of the rows have in common",
                                                .width = 12,
                                                .widest = TABLE_REST,
                                                .is_order = true}};
    struct table table = {0};
    struct list list;
    fill(&list, 3);
    struct table_model model = model_of(&list);
    model.columns = text;
    model.column_count = 1;
    struct area area = {0, 0, 4, 24};
    table_sync(&table, &model);
    table_layout(&table, &model, area);
    table_draw(&table, &model, &canvas, area);
    assert_non_null(strstr(drawn_row(0), "text: what all of"));
    assert_non_null(strstr(drawn_row(0), "…↑"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_leave_by_priority),
        cmocka_unit_test(a_text_is_not_squeezed_by_what_matters_less),
        cmocka_unit_test(the_cursor_stays_with_its_row),
        cmocka_unit_test(movements_move),
        cmocka_unit_test(every_movement_extends_a_range),
        DRAWS(a_table_is_drawn),
        DRAWS(a_list_that_does_not_fit_is_marked),
        DRAWS(sideways_shows_the_rest_and_no_more),
        DRAWS(the_cursor_keeps_hues),
        DRAWS(a_title_that_is_cut_keeps_its_arrow),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
