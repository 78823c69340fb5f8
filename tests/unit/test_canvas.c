// The canvas: cells, clipping, hostile bytes, pictures.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/utf8.h"
#include "ui/canvas/canvas.h"
#include "ui/theme/svg.h"

static struct canvas
make(int rows, int cols)
{
    struct canvas canvas;
    canvas_init(&canvas, rows, cols, false);
    return canvas;
}

static void
assert_picture(const struct canvas *canvas, const char *expected)
{
    struct strbuf text = {0};
    canvas_to_text(canvas, &text);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_release(&text);
}

// A text in so many cells, under a style.
static void
assert_drawn(const char *text, size_t len, int width, struct canvas_style style, const char *expected)
{
    struct canvas canvas = make(1, 40);
    int used = canvas_styled(&canvas, 0, 2, width, (struct bytes){text, len}, &style);
    assert_true(used <= width);
    struct strbuf picture = {0};
    canvas_to_text(&canvas, &picture);
    char wanted[400];
    snprintf(wanted, sizeof wanted, "%s%s\n", *expected ? "  " : "", expected);
    assert_string_equal(strbuf_text(&picture), wanted);
    strbuf_release(&picture);
    canvas_release(&canvas);
}
#define DRAWN(text, width, expected, ...)                                                                    \
    assert_drawn(text, sizeof text - 1, width, (struct canvas_style){__VA_ARGS__}, expected)

static void
text_is_clipped_by_cells(void **state)
{
    (void)state;
    DRAWN("hello", 10, "hello", .role = ROLE_TEXT);
    DRAWN("hello", 5, "hello", .role = ROLE_TEXT);
    DRAWN("hello", 4, "hel…", .role = ROLE_TEXT);
    DRAWN("hello", 1, "…", .role = ROLE_TEXT);
    DRAWN("hello", 0, "", .role = ROLE_TEXT);
    DRAWN("hello", 4, "hell", .cut = CUT_SILENT);
    DRAWN("/var/lib/redrive/state", 11, "/var/…state", .cut = CUT_MIDDLE);
    DRAWN("/var/lib/redrive/state", 7, "…/state", .cut = CUT_START);
    DRAWN("hello", 8, "   hello", .at_right = true);
    DRAWN("hello", 10, "llo", .skip = 2);
    DRAWN("hello", 10, "", .skip = 9);
}

static void
wide_characters_are_never_split(void **state)
{
    (void)state;
    DRAWN("漢字漢字", 8, "漢字漢字", .role = ROLE_TEXT);
    DRAWN("漢字漢字", 7, "漢字漢…", .role = ROLE_TEXT);
    DRAWN("漢字漢字", 6, "漢字 …", .role = ROLE_TEXT);
    DRAWN("漢字漢字", 5, "漢字", .cut = CUT_SILENT);
    DRAWN("漢字漢字", 8, " 字漢字", .skip = 1);

    struct canvas canvas = make(1, 6);
    (void)canvas_text(&canvas, 0, 0, 6, bytes_of("漢字漢"), ROLE_TEXT);
    (void)canvas_text(&canvas, 0, 1, 1, bytes_of("x"), ROLE_TEXT); // the right half of the first
    (void)canvas_text(&canvas, 0, 4, 1, bytes_of("y"), ROLE_TEXT); // the left half of the last
    assert_picture(&canvas, " x字y\n");
    (void)canvas_text(&canvas, 0, 5, 1, bytes_of("漢"), ROLE_TEXT); // no room for it
    assert_picture(&canvas, " x字y…\n");
    canvas_release(&canvas);
}

static void
marks_stay_on_their_base(void **state)
{
    (void)state;
    DRAWN("e\u0301x", 10, "e\u0301x", .role = ROLE_TEXT);
    DRAWN("e\u0301\u0302\u0303\u0304\u0305x", 20, "e\u0301\u0302\u0303\u0304<U+0305>x", .role = ROLE_TEXT);
    DRAWN("\u0301x", 20, "<U+0301>x", .role = ROLE_TEXT);
    struct canvas canvas = make(1, 4);
    assert_int_equal(canvas_text(&canvas, 0, 0, 4, bytes_of("e\u0301x"), ROLE_TEXT), 2);
    assert_int_equal(canvas_cell(&canvas, 0, 0)->marks[0], 0x301);
    canvas_release(&canvas);
}

static void
hostile_bytes_become_escapes(void **state)
{
    (void)state;
    DRAWN("a\033[31mb", 30, "a\\e[31mb", .role = ROLE_TEXT);
    DRAWN("a\r\n\tb\0c", 30, "a\\r\\n\\tb\\0c", .role = ROLE_TEXT);
    DRAWN("\x9b\xff\xc3", 30, "\\x9b\\xff\\xc3", .role = ROLE_TEXT);
    // NOLINTNEXTLINE(misc-misleading-bidirectional)
    DRAWN("\xc2\x9b\u202e\u200b\ufeff", 40, "<U+009B><U+202E><U+200B><U+FEFF>", .role = ROLE_TEXT);
    DRAWN("\u2028\U000e0041\ue000", 40, "<U+2028><U+E0041><U+E000>", .role = ROLE_TEXT);

    struct canvas canvas = make(1, 20);
    (void)canvas_text(&canvas, 0, 0, 20, bytes_of("a\033b"), ROLE_STRONG);
    assert_int_equal(canvas_cell(&canvas, 0, 0)->role, ROLE_STRONG);
    assert_int_equal(canvas_cell(&canvas, 0, 1)->role, ROLE_ESCAPE);
    assert_int_equal(canvas_cell(&canvas, 0, 2)->role, ROLE_ESCAPE);
    assert_int_equal(canvas_cell(&canvas, 0, 3)->role, ROLE_STRONG);
    (void)canvas_printf(&canvas, 0, 0, 20, ROLE_TEXT, "%s", "x\033]0;t\a");
    assert_picture(&canvas, "x\\e]0;t\\x07\n");
    canvas_release(&canvas);
}

// Whatever the bytes are, every cell of the picture may go to a terminal.
static void
no_bytes_reach_a_cell_raw(void **state)
{
    (void)state;
    uint32_t seed = 7;
    struct canvas canvas = make(1, 60);
    for (int round = 0; round < 20000; round++) {
        char bytes[40];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (char)(seed >> 24);
        }
        canvas_clear(&canvas);
        struct canvas_style style = {
            .cut = (enum canvas_cut)(round % 4), .skip = round % 5, .at_right = round % 3 == 0};
        (void)canvas_styled(&canvas, 0, 1, 30, (struct bytes){bytes, sizeof bytes}, &style);
        for (int col = 0; col < 60; col++) {
            const struct cell *cell = canvas_cell(&canvas, 0, col);
            assert_true(cell->width == 0 || utf8_printable(cell->base));
            assert_true(cell->width == 0 || utf8_width(cell->base) == cell->width);
            assert_true((cell->width == 2) == (col + 1 < 60 && canvas_cell(&canvas, 0, col + 1)->width == 0));
            assert_true(col < 31 || (cell->base == ' ' && cell->width == 1));
        }
    }
    canvas_release(&canvas);
}

static void
ascii_has_twins(void **state)
{
    (void)state;
    struct canvas canvas;
    canvas_init(&canvas, 3, 20, true);
    canvas_box(&canvas, (struct area){0, 0, 3, 6}, ROLE_BORDER);
    (void)canvas_glyph(&canvas, 1, 1, GLYPH_SELECTED, ROLE_MARK);
    (void)canvas_text(&canvas, 1, 8, 12, bytes_of("é漢"), ROLE_TEXT);
    assert_picture(&canvas, "+----+\n|*   |  \\u00e9\\u6f22\n+----+\n");
    canvas_release(&canvas);
}

static void
spans_have_roles_of_their_own(void **state)
{
    (void)state;
    struct canvas canvas = make(1, 20);
    struct canvas_span spans[] = {{.from = 2, .len = 3, .role = ROLE_MATCH},
                                  {.from = 8, .len = 2, .role = ROLE_DIM}};
    struct canvas_style style = {.role = ROLE_TEXT, .spans = spans, .span_count = 2};
    (void)canvas_styled(&canvas, 0, 0, 20, bytes_of("a connect to b"), &style);
    struct strbuf roles = {0};
    canvas_to_roles(&canvas, &roles);
    assert_string_equal(strbuf_text(&roles), "0:2-4 match\n0:8-9 text.dim\n");
    strbuf_reset(&roles);
    canvas_restyle(&canvas, canvas_area(&canvas), ROLE_CURSOR);
    canvas_add_attributes(&canvas, canvas_area(&canvas), CELL_DIM);
    canvas_to_roles(&canvas, &roles);
    assert_string_equal(strbuf_text(&roles), "0:0-19 cursor dim\n");
    strbuf_release(&roles);
    canvas_release(&canvas);
}

static void
drawing_outside_is_clipped(void **state)
{
    (void)state;
    struct canvas canvas = make(2, 4);
    (void)canvas_text(&canvas, -1, 0, 4, bytes_of("no"), ROLE_TEXT);
    (void)canvas_text(&canvas, 9, 0, 4, bytes_of("no"), ROLE_TEXT);
    (void)canvas_text(&canvas, 0, 3, 40, bytes_of("xyz"), ROLE_TEXT);
    (void)canvas_text(&canvas, 0, -2, 4, bytes_of("ab12"), ROLE_TEXT);
    canvas_fill(&canvas, (struct area){1, -5, 9, 99}, ROLE_CURSOR);
    canvas_box(&canvas, (struct area){-1, -1, 20, 20}, ROLE_BORDER);
    canvas_restyle(&canvas, (struct area){-3, -3, 99, 99}, ROLE_TEXT);
    canvas_caret(&canvas, 7, 7);
    assert_int_equal(canvas.caret_row, -1);
    assert_null(canvas_cell(&canvas, 2, 0));
    assert_picture(&canvas, "12 …\n\n");
    canvas_release(&canvas);
}

static void
numbers_stand_right(void **state)
{
    (void)state;
    struct canvas canvas = make(1, 12);
    (void)canvas_count(&canvas, 0, 0, 10, 1204000, ROLE_TEXT);
    assert_picture(&canvas, " 1,204,000\n");
    canvas_release(&canvas);
}

static void
lines_wrap_at_blanks(void **state)
{
    (void)state;
    struct bytes text = bytes_of("the quick brown fox\njumps");
    size_t first = text_fit(text, 0, 10, false);
    assert_int_equal(first, 10);                           // "the quick "
    assert_int_equal(text_fit(text, first, 10, false), 9); // "brown fox", up to the newline
    assert_int_equal(text_resume(text, first), first);
    assert_int_equal(text_resume(text, first + 9), first + 10);
    assert_int_equal(text_resume(text, text_fit(text, 0, 9, false)), 10); // it broke before the blank
    assert_int_equal(text_resume(text, text.len), text.len);
    assert_int_equal(text_fit(bytes_of("aaaaaaaaaaaaaaa"), 0, 10, false), 10);
    assert_int_equal(text_fit(bytes_of("漢字漢字"), 0, 5, false), 6);
    assert_int_equal(text_fit(bytes_of("漢"), 0, 1, false), 3); // at least one
    assert_int_equal(text_cells(bytes_of("a\033漢"), false), 5);
}

static void
areas_split(void **state)
{
    (void)state;
    struct area all = {0, 0, 10, 40};
    struct area top = area_take_top(&all, 1);
    struct area bottom = area_take_bottom(&all, 2);
    struct area right = area_take_right(&all, 15);
    assert_int_equal(top.rows, 1);
    assert_int_equal(bottom.row, 8);
    assert_int_equal(right.col, 25);
    assert_int_equal(all.row, 1);
    assert_int_equal(all.rows, 7);
    assert_int_equal(all.cols, 25);
    struct area rest = area_take_top(&all, 99);
    assert_int_equal(rest.rows, 7);
    assert_int_equal(area_take_left(&all, 3).rows, 0);
}

static void
pictures_are_escaped(void **state)
{
    (void)state;
    struct canvas canvas = make(1, 10);
    (void)canvas_text(&canvas, 0, 0, 10, bytes_of("<a & b>"), ROLE_STATUS_ERROR);
    struct theme *theme = theme_load("dark", NULL, NULL, NULL);
    assert_non_null(theme);
    struct strbuf svg = {0};
    svg_add(&canvas, theme, "a <title>", &svg);
    assert_non_null(strstr(strbuf_text(&svg), "&#60;a &#38; b&#62;</text>"));
    assert_non_null(strstr(strbuf_text(&svg), "fill=\"#f47067\" font-weight=\"bold\""));
    assert_null(strstr(strbuf_text(&svg), "a <title>"));
    strbuf_release(&svg);
    theme_destroy(theme);
    canvas_release(&canvas);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_clipped_by_cells),
        cmocka_unit_test(wide_characters_are_never_split),
        cmocka_unit_test(marks_stay_on_their_base),
        cmocka_unit_test(hostile_bytes_become_escapes),
        cmocka_unit_test(no_bytes_reach_a_cell_raw),
        cmocka_unit_test(ascii_has_twins),
        cmocka_unit_test(spans_have_roles_of_their_own),
        cmocka_unit_test(drawing_outside_is_clipped),
        cmocka_unit_test(numbers_stand_right),
        cmocka_unit_test(lines_wrap_at_blanks),
        cmocka_unit_test(areas_split),
        cmocka_unit_test(pictures_are_escaped),
    };
    return cmocka_run_group_tests_name("canvas", tests, NULL, NULL);
}
