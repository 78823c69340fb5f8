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

// Where a part that is not empty ends: at least one cell behind `before`, and not behind `most`.
static int
cells_upto(double share, int width, int before, int most)
{
    int cells = (int)(share * width + 0.5);
    cells = cells <= before ? before + 1 : cells;
    return cells > most ? most : cells;
}

void
bar_draw(struct canvas *canvas, int row, int col, int width, const struct bar_part *parts, size_t count,
         const struct bar_part *rest)
{
    int64_t whole = 0;
    int waiting = 0; // parts behind the current one that need a cell
    for (size_t i = 0; i < count; i++) {
        whole += parts[i].count;
        waiting += parts[i].count > 0;
    }
    int64_t upto = 0;
    int drawn = 0;
    for (size_t i = 0; i < count && whole > 0; i++) {
        bool has_events = parts[i].count > 0;
        upto += parts[i].count;
        waiting -= has_events;
        int room = width - waiting > drawn ? width - waiting : drawn;
        int end = has_events ? cells_upto((double)upto / (double)whole, width, drawn, room) : drawn;
        for (; drawn < end; drawn++)
            (void)canvas_glyph(canvas, row, col + drawn, parts[i].glyph, parts[i].role);
    }
    for (; drawn < width; drawn++)
        (void)canvas_glyph(canvas, row, col + drawn, rest->glyph, rest->role);
}
