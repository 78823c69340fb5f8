#include "ui/widgets/sparkline.h"

#include <stdbool.h>
#include "base/text.h"

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

// CHART_GUTTER: the same for most charts, so that another one in the same place moves nothing.
enum { EIGHTHS = 8, CHART_WIDEST = 3, CHART_GUTTER = 8 };

void
column_draw(struct canvas *canvas, struct area area, uint32_t value, uint32_t most, enum role role)
{
    uint64_t steps = (uint64_t)area.rows * EIGHTHS;
    uint64_t level = most ? ((uint64_t)value * steps + most - 1) / most : 0;
    for (int r = 0; r < area.rows && level > 0; r++) {
        uint64_t here = level < EIGHTHS ? level : EIGHTHS;
        level -= here;
        for (int c = 0; c < area.cols; c++)
            draw_glyph(canvas, area.row + area.rows - 1 - r, area.col + c,
                       canvas->is_ascii ? ascii_blocks[here - 1] : blocks[here - 1], role);
    }
}

int
chart_draw(struct canvas *canvas, struct area area, const struct chart *chart, enum role role)
{
    char greatest[TEXT_SHORT];
    uint32_t most = 0;
    for (size_t i = 0; i < chart->count; i++)
        most = chart->values[i] > most ? chart->values[i] : most;
    struct bytes label = bytes_of(text_count(most, greatest));
    int gutter = label.len < CHART_GUTTER ? CHART_GUTTER : (int)label.len + 1;
    int cells = chart->count ? (area.cols - gutter) / (int)chart->count : 0;
    cells = cells < CHART_WIDEST ? cells : CHART_WIDEST;
    if (area.rows < 2 || cells < 1)
        return 0;
    int width = cells * (int)chart->count;
    struct area axis = area_take_bottom(&area, 1);
    (void)canvas_styled(canvas, area.row, area.col, gutter - 1, label,
                        &(struct canvas_style){.role = ROLE_GRAPH_AXIS, .at_right = true});
    area_take_left(&area, gutter);
    for (size_t i = 0; i < chart->count; i++) {
        struct area column = area_take_left(&area, cells);
        column.cols -= cells > 1; // a blank between two
        column_draw(canvas, column, chart->values[i], most, role);
    }
    (void)canvas_text(canvas, axis.row, axis.col + gutter, width, bytes_of(chart->from), ROLE_GRAPH_AXIS);
    if (text_cells(bytes_of(chart->from), true) + text_cells(bytes_of(chart->to), true) < width)
        (void)canvas_styled(canvas, axis.row, axis.col + gutter, width, bytes_of(chart->to),
                            &(struct canvas_style){.role = ROLE_GRAPH_AXIS, .at_right = true});
    return gutter + width;
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
