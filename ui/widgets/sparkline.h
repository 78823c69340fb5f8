// sparkline: numbers as block glyphs; with ASCII as the characters .:-=+*#@.
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
// A progress bar: part of whole; full only when part == whole, empty only when part is 0.
void gauge_draw(struct canvas *canvas, int row, int col, int width, int64_t part, int64_t whole);

#endif
