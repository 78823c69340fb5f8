#include "ui/widgets/sparkline.h"

#include <stdbool.h>

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii_blocks[] = {".", ":", "-", "=", "+", "*", "#", "@"};

static void
draw_glyph(struct canvas *canvas, int row, int col, const char *glyph, enum role role)
{
    (void)canvas_styled(canvas, row, col, 1, bytes_of(glyph),
                        &(struct canvas_style){.role = role, .cut = CUT_SILENT});
}

int
sparkline_draw(struct canvas *canvas, int row, int col, int width, const uint32_t *values, size_t count,
               enum role role)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    int drawn = 0;
    for (size_t i = 0; i < count && drawn < width; i++, drawn++) {
        // Anything above nothing is seen to be above nothing.
        uint64_t level = most ? ((uint64_t)values[i] * 7 + most - 1) / most : 0;
        draw_glyph(canvas, row, col + drawn, canvas->is_ascii ? ascii_blocks[level] : blocks[level],
                   most ? role : ROLE_GRAPH_AXIS);
    }
    return drawn;
}

// part / whole of `cells`, full only for the whole and empty only for nothing.
static int64_t
share(int64_t part, int64_t whole, int64_t cells)
{
    if (whole <= 0 || part <= 0 || cells <= 0)
        return 0;
    if (part >= whole)
        return cells;
    int64_t filled = (int64_t)((double)part / (double)whole * (double)cells);
    if (filled >= cells)
        filled = cells - 1;
    return filled > 0 ? filled : 1;
}

void
gauge_draw(struct canvas *canvas, int row, int col, int width, int64_t part, int64_t whole)
{
    int filled = (int)share(part, whole, width);
    for (int i = 0; i < width; i++)
        (void)canvas_glyph(canvas, row, col + i, i < filled ? GLYPH_FULL : GLYPH_EMPTY,
                           i < filled ? ROLE_GAUGE : ROLE_GAUGE_REST);
}
