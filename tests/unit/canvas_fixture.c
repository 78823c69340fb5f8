#include "tests/unit/canvas_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct canvas canvas;
static struct strbuf picture;

int
make_canvas(void **state)
{
    (void)state;
    canvas_init(&canvas, 24, 80, false);
    return 0;
}

int
release_canvas(void **state)
{
    (void)state;
    canvas_release(&canvas);
    strbuf_release(&picture);
    return 0;
}

const char *
drawn(void)
{
    strbuf_reset(&picture);
    canvas_to_text(&canvas, &picture);
    return strbuf_text(&picture);
}

const char *
drawn_row(int row)
{
    const char *at = drawn();
    for (; row > 0; row--)
        at = strchr(at, '\n') + 1;
    static char line[800];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}
