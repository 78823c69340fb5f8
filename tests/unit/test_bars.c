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
    gauge_draw(&canvas, 2, 0, 4, 1, 1000000); // begun
    assert_string_equal(drawn_row(2), "█░░░");
    gauge_draw(&canvas, 2, 0, 4, 999999, 1000000); // not done
    assert_string_equal(drawn_row(2), "███░");
    gauge_draw(&canvas, 2, 0, 4, 5, 5);
    assert_string_equal(drawn_row(2), "████");
    gauge_draw(&canvas, 2, 0, 4, 0, 0);
    assert_string_equal(drawn_row(2), "░░░░");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        DRAWS(the_header_keeps_what_matters),
        DRAWS(the_footer_keeps_help),
        DRAWS(charts_never_lie_at_their_ends),
    };
    return cmocka_run_group_tests_name("bars", tests, NULL, NULL);
}
