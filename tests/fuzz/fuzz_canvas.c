// Any bytes, drawn in any style: every cell that results may go to a terminal, and nothing is drawn outside
// its room.
#include <stdint.h>
#include <stdlib.h>
#include "base/utf8.h"
#include "ui/canvas/canvas.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLS = 40, FROM = 3, WIDTH = 30 };

static void
check(const struct canvas *canvas)
{
    for (int col = 0; col < COLS; col++) {
        const struct cell *cell = canvas_cell(canvas, 0, col);
        const struct cell *next = canvas_cell(canvas, 0, col + 1);
        if (cell->width > 0 && (!utf8_printable(cell->base) || utf8_width(cell->base) != cell->width))
            abort();
        if ((cell->width == 2) != (next && next->width == 0))
            abort();
        if (canvas->is_ascii && cell->base > 0x7e)
            abort();
        for (int i = 0; i < CELL_MARKS; i++)
            if (cell->marks[i] && (!utf8_printable(cell->marks[i]) || utf8_width(cell->marks[i]) != 0))
                abort();
        if ((col < FROM || col >= FROM + WIDTH) && (cell->base != ' ' || cell->width != 1))
            abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t style_bits = size ? data[0] : 0;
    struct bytes text = {(const char *)data + (size > 0), size > 0 ? size - 1 : 0};
    struct canvas canvas;
    canvas_init(&canvas, 1, COLS, (style_bits & 0x80) != 0);
    struct canvas_span span = {.from = text.len / 3, .len = text.len / 3, .role = ROLE_MATCH};
    struct canvas_style style = {
        .role = ROLE_TEXT,
        .cut = (enum canvas_cut)(style_bits & 3),
        .at_right = (style_bits & 4) != 0,
        .is_filled = (style_bits & 8) != 0,
        .skip = (style_bits & 0x30) >> 3,
        .spans = &span,
        .span_count = 1,
    };
    int used = canvas_styled(&canvas, 0, FROM, WIDTH, text, &style);
    if (used < 0 || used > WIDTH)
        abort();
    check(&canvas);

    // Wrapping takes all of the text in pieces that fit.
    for (size_t at = 0; at < text.len;) {
        size_t len = text_fit(text, at, 10, canvas.is_ascii);
        if (len == 0 && text.data[at] != '\n')
            abort();
        at += len + (len == 0 || (at + len < text.len && text.data[at + len] == '\n'));
    }
    canvas_release(&canvas);
    return 0;
}
