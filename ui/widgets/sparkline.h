// sparkline: numbers as block glyphs; with ASCII as the characters .:-=+*#@. A chart of several rows with an
// axis, and a bar made of parts.
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
// Columns of blocks over all rows but the last, which carries the labels of the axis; the greatest value
// stands at the left of the top. As many cells a value as the width allows, three at most. Nothing with fewer
// than two rows or too few columns for a cell a value. Returns the columns drawn.
struct chart {
    const uint32_t *values; // oldest first
    size_t count;
    const char *from, *to; // what the first and the last value are called
};
int chart_draw(struct canvas *canvas, struct area area, const struct chart *chart, enum role role);
// One column of such a chart over the whole area; anything above zero is seen to be above zero.
void column_draw(struct canvas *canvas, struct area area, uint32_t value, uint32_t most, enum role role);

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
