// Header, footer and charts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "tests/unit/canvas_fixture.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"

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
                                .label_role = ROLE_ENV_PROD,
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
an_environment_has_its_colour(void **state)
{
    (void)state;
    assert_int_equal(environment_role("staging", "auto"), ROLE_ENV);
    assert_int_equal(environment_role("eu-Production", "auto"), ROLE_ENV_PROD);
    assert_int_equal(environment_role("eu-Production", NULL), ROLE_ENV_PROD);
    assert_int_equal(environment_role("eu-Production", "blue"), ROLE_ENV_BLUE);
    assert_int_equal(environment_role(NULL, "green"), ROLE_ENV_GREEN);
}

static void
the_footer_keeps_help(void **state)
{
    static const enum action actions[] = {DO_OPEN,    DO_FILTER, DO_SELECT, DO_REPROCESS,
                                          DO_DISCARD, DO_HELP,   DO_NONE};
    (void)state;
    struct keymap *keymap = keymap_load("default", NULL, NULL, NULL);
    footer_draw(keymap, CONTEXT_VIEW_groups, actions, NULL, &canvas, (struct area){0, 0, 1, 80});
    assert_string_equal(drawn_row(0), " Enter open  / filter  Space select  R reprocess  D discard  ? help");
    canvas_clear(&canvas);
    footer_draw(keymap, CONTEXT_VIEW_groups, actions, NULL, &canvas, (struct area){0, 0, 1, 40});
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
}

static void
a_chart_has_an_axis(void **state)
{
    (void)state;
    const uint32_t values[] = {0, 1, 8, 16};
    const struct chart chart = {.values = values, .count = 4, .from = "then", .to = "now"};
    assert_int_equal(chart_draw(&canvas, (struct area){0, 0, 3, 20}, &chart, ROLE_GRAPH), 20);
    assert_string_equal(drawn_row(0), "     16          ██");
    assert_string_equal(drawn_row(1), "           ▁▁ ██ ██");
    assert_string_equal(drawn_row(2), "        then     now");
    assert_int_equal(chart_draw(&canvas, (struct area){0, 0, 3, 11}, &chart, ROLE_GRAPH), 0); // no room
    assert_int_equal(chart_draw(&canvas, (struct area){0, 0, 1, 20}, &chart, ROLE_GRAPH), 0);
}

static void
a_bar_adds_up_to_its_width(void **state)
{
    (void)state;
    static const struct bar_part rest = {0, GLYPH_EMPTY, ROLE_GAUGE_REST};
    static const struct {
        int64_t counts[4];
        const char *row, *ascii;
    } rows[] = {
        {{1, 0, 0, 999999}, "█░░░░░░░░░", "#........."}, // begun
        {{999999, 0, 0, 1}, "█████████░", "#########."}, // not done
        {{5, 0, 0, 0}, "██████████", "##########"},      // all
        {{0, 2011, 0, 0}, "▞▞▞▞▞▞▞▞▞▞", "<<<<<<<<<<"},   // all of it returned
        {{1000, 500, 1, 0}, "███████▞▞╳", "#######<<x"}, // one of 1,501 is seen
        {{0, 0, 0, 0}, "░░░░░░░░░░", ".........."},      // none at all
        {{1, 1, 1, 1000000}, "█▞╳░░░░░░░", "#<x......."}, {{1000000, 1, 1, 1}, "███████▞╳░", "#######<x."},
    };
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const int64_t *counts = rows[i / 2].counts;
        const struct bar_part parts[] = {{counts[0], GLYPH_FULL, ROLE_GAUGE},
                                         {counts[1], GLYPH_RETURNED, ROLE_EVENT_RETURNED},
                                         {counts[2], GLYPH_FAILED, ROLE_OPERATION_FAILED},
                                         {counts[3], GLYPH_EMPTY, ROLE_GAUGE_REST}};
        canvas_clear(&canvas);
        canvas.is_ascii = i % 2;
        bar_draw(&canvas, 2, 0, 10, parts, 4, &rest);
        assert_string_equal(drawn_row(2), i % 2 ? rows[i / 2].ascii : rows[i / 2].row);
    }
    canvas.is_ascii = false;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        DRAWS(the_header_keeps_what_matters), DRAWS(an_environment_has_its_colour),
        DRAWS(the_footer_keeps_help),         DRAWS(charts_never_lie_at_their_ends),
        DRAWS(a_chart_has_an_axis),           DRAWS(a_bar_adds_up_to_its_width),
    };
    return cmocka_run_group_tests_name("bars", tests, NULL, NULL);
}
