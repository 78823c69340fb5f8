#include "ui/canvas/blanks.h"

#include <string.h>

static bool
is_seen_on_blank(const struct cell *cell, const bool *is_seen)
{
    return is_seen[cell->role] || (cell->attributes & CELL_UNDERLINE);
}

// Behind the last cell that shows anything.
static int
text_end(const struct cell *cells, int cols, const bool *is_seen)
{
    while (cols > 0 && cells[cols - 1].base == ' ' && !cells[cols - 1].marks[0] &&
           !is_seen_on_blank(&cells[cols - 1], is_seen))
        cols--;
    return cols;
}

void
blanks_finish(struct cell *cells, const struct cell *shown, int cols, const bool is_seen[ROLE_COUNT])
{
    int end = text_end(cells, cols, is_seen);
    if (text_end(shown, cols, is_seen) <= end) {
        memcpy(cells + end, shown + end, (size_t)(cols - end) * sizeof *cells);
        return;
    }
    if (end == 0 || memcmp(&cells[end - 1], &shown[end - 1], sizeof *cells) == 0)
        return; // the last letter is not written again
    const struct cell *last = &cells[end - 1];
    if (is_seen_on_blank(last, is_seen))
        return;
    for (int col = end; col < cols; col++) {
        cells[col].role = last->role;
        cells[col].attributes = last->attributes;
    }
}
