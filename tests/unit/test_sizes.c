// A wider or higher window shows at least as much: the lists are drawn at every size, and what is on the
// screen is counted. The test is the backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/unit/answers.h"

enum { ROWS_LEAST = 16, ROWS_MOST = 70, COLS_LEAST = 60, COLS_MOST = 250 };

static int
begin(void **state)
{
    return make_world_of(state, &(struct app_config){.views = views, .view_count = view_count});
}

static void
serve(struct world *world)
{
    answer_all(world, &(struct answers){.groups = 90, .events = 300});
}

static int
letters_at(struct world *world, int rows, int cols)
{
    int letters = 0;
    app_resize(world->app, rows, cols);
    (void)app_draw(world->app); // asks for what came into sight
    serve(world);
    const struct canvas *canvas = app_draw(world->app);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            letters += canvas_cell(canvas, row, col)->base > ' ';
    return letters;
}

// Where a column or the preview comes in, its own blanks take the place of a few letters; a preview takes
// rows.
static void
grows(struct world *world, const char *what)
{
    enum { SLACK = 9, SLACK_ROWS = 20 }; // percent
    static int widest[ROWS_MOST + 1];
    for (int rows = ROWS_LEAST; rows <= ROWS_MOST; rows += 3) {
        int most = 0;
        for (int cols = COLS_LEAST; cols <= COLS_MOST; cols++) {
            int letters = letters_at(world, rows, cols);
            if (letters * 100 < most * (100 - SLACK))
                fail_msg("%s: %dx%d shows %d letters, a narrower window %d", what, cols, rows, letters, most);
            most = letters > most ? letters : most;
        }
        widest[rows] = most;
    }
    for (int rows = ROWS_LEAST + 3, most = widest[ROWS_LEAST]; rows <= ROWS_MOST; rows += 3) {
        if (widest[rows] * 100 < most * (100 - SLACK_ROWS))
            fail_msg("%s: %d rows show %d letters, fewer rows %d", what, rows, widest[rows], most);
        most = widest[rows] > most ? widest[rows] : most;
    }
}

static void
a_larger_window_shows_at_least_as_much(void **state)
{
    struct world *world = *state;
    serve(world);
    grows(world, "groups");
    press(world->app, "2");
    serve(world);
    (void)letters_at(world, ROWS_MOST, COLS_MOST);
    assert_true(shows(world->app, "order.created"));
    grows(world, "events");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_larger_window_shows_at_least_as_much, begin, destroy_world),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
