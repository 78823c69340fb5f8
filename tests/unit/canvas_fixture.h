// canvas_fixture: a canvas of 24x80 for tests that draw into it, and what stands on it.
#ifndef REDRIVE_TESTS_UNIT_CANVAS_FIXTURE_H
#define REDRIVE_TESTS_UNIT_CANVAS_FIXTURE_H

#include "ui/canvas/canvas.h"

extern struct canvas canvas;

// Setup and teardown of a test.
int make_canvas(void **state);
int release_canvas(void **state);
#define DRAWS(test) cmocka_unit_test_setup_teardown(test, make_canvas, release_canvas)

// All of it as text, and one row; valid until the next call.
const char *drawn(void);
const char *drawn_row(int row);

#endif
