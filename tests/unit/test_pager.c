// A scrolling text: sections and folds, place, search.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/canvas_fixture.h"
#include "ui/widgets/pager.h"

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

// What is too long goes on below its words, not below its key; matches in it are marked where they stand.
static void
a_line_hangs(void **state)
{
    (void)state;
    struct pager *pager = pager_create();
    pager_begin(pager);
    pager_hang(pager, 6);
    pager_line(pager, ROLE_TEXT, bytes_of("key   one two three four five six seven"));
    pager_hang(pager, 0);
    pager_line(pager, ROLE_TEXT, bytes_of("key   one two three four five six seven"));
    pager_end(pager);
    struct err err = {0};
    assert_true(pager_search(pager, bytes_of("seven"), &err));

    struct area area = {0, 0, 8, 33};
    pager_layout(pager, area);
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(0), "▌ key   one two three four five");
    assert_string_equal(drawn_row(1), "        six seven");
    assert_string_equal(drawn_row(3), "  six seven");
    assert_int_equal(canvas_cell(&canvas, 1, 11)->role, ROLE_TEXT);
    assert_int_equal(canvas_cell(&canvas, 1, 12)->role, ROLE_MATCH_CURRENT);
    assert_int_equal(canvas_cell(&canvas, 1, 16)->role, ROLE_MATCH_CURRENT);

    // Too narrow for that: all room is for the words.
    area.cols = 30;
    pager_layout(pager, area);
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_string_equal(drawn_row(1), "  five six seven");
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

static void
marks_are_shown_and_gone_to(void **state)
{
    (void)state;
    struct pager *pager = make_pager(true);
    char words[64];
    struct area area = {0, 0, 6, 40};
    assert_string_equal(pager_search_words(pager, words), "");
    assert_false(pager_handle(pager, DO_NEXT_MATCH)); // there is nothing to go to

    const struct canvas_span first = {.from = 0, .len = 5};
    const struct canvas_span frame = {.from = 3, .len = 5};
    pager_begin(pager);
    pager_section(pager, "error", NULL, false);
    pager_line(pager, ROLE_TEXT, bytes_of("first line\nsecond"));
    pager_marks(pager, 1, &first, 1);
    pager_section(pager, "trace", "1 frame", true);
    pager_line(pager, ROLE_TEXT, bytes_of("at frame 1"));
    pager_marks(pager, 4, &frame, 1);
    pager_end(pager);
    pager_layout(pager, area);
    assert_string_equal(pager_search_words(pager, words), "2 matching lines");
    assert_false(pager_is_searching(pager));
    pager_draw(pager, &canvas, area);
    assert_int_equal(canvas_cell(&canvas, 1, 2)->role, ROLE_MATCH);
    assert_int_equal(canvas_cell(&canvas, 1, 6)->role, ROLE_MATCH);
    assert_int_equal(canvas_cell(&canvas, 1, 7)->role, ROLE_TEXT);

    assert_true(pager_handle(pager, DO_NEXT_MATCH));
    assert_string_equal(pager_search_words(pager, words), "1 of 2 matching lines");
    assert_true(pager_has_match_after(pager, true));
    assert_false(pager_has_match_after(pager, false));
    assert_true(pager_handle(pager, DO_NEXT_MATCH)); // into the fold
    assert_false(pager_has_match_after(pager, true));
    assert_true(pager_has_match_after(pager, false));
    assert_string_equal(pager_search_words(pager, words), "2 of 2 matching lines");
    assert_int_equal(pager_cursor(pager), 4);
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_int_equal(canvas_cell(&canvas, 4, 5)->role, ROLE_MATCH_CURRENT);

    // A search of its own stands in front of them until it ends.
    assert_true(pager_search(pager, bytes_of("second"), NULL));
    assert_true(pager_is_searching(pager));
    assert_string_equal(pager_search_words(pager, words), "1 of 1 matching line");
    canvas_clear(&canvas);
    pager_draw(pager, &canvas, area);
    assert_int_equal(canvas_cell(&canvas, 1, 2)->role, ROLE_TEXT);
    assert_true(pager_search(pager, bytes_of(""), NULL));
    assert_string_equal(pager_search_words(pager, words), "2 matching lines");
    pager_destroy(pager);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        DRAWS(a_text_is_drawn_and_folded),       DRAWS(a_line_hangs),
        DRAWS(rebuilding_keeps_place_and_folds), DRAWS(matches_are_found_also_in_folds),
        DRAWS(long_lines_are_cut_on_demand),     DRAWS(marks_are_shown_and_gone_to),
    };
    return cmocka_run_group_tests_name("pager", tests, NULL, NULL);
}
