// sparkline: numbers as block glyphs; with ASCII as the characters .:-=+*#@. And a bar made of parts.
#ifndef REDRIVE_UI_SPARKLINE_H
#define REDRIVE_UI_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>
#include "ui/canvas/canvas.h"

// One cell per value, scaled to the greatest of them; zero alone is the lowest block. All in one role, that
// of an axis where everything is zero: a change of role costs more bytes than the cell. Returns the cells
// drawn.
int sparkline_draw(struct canvas *canvas, int row, int col, int width, const uint32_t *values, size_t count,
                   enum role role);
// A bar of parts that add up to a whole, in their order. A part that is not 0 has at least one cell where
// there is room, so that one event of a million is seen; without a whole all cells are `rest`.
struct bar_part {
    int64_t count;
    enum glyph glyph;
    enum role role;
};
void bar_draw(struct canvas *canvas, int row, int col, int width, const struct bar_part *parts, size_t count,
              const struct bar_part *rest);

#endif
