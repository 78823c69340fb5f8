#include "ui/theme/svg.h"

#include "base/utf8.h"

// A cell in tenths of a pixel: a monospaced font of 14 pixels.
enum { CELL_WIDTH = 84, CELL_HEIGHT = 180, BASELINE = 135, MARGIN = 120 };

struct svg_paint {
    uint32_t ink, paper;
    unsigned attributes;
    bool has_paper;
};

static struct svg_paint
paint_of(const struct cell *cell, const struct theme *theme)
{
    uint32_t ink, paper;
    theme_page(theme, &ink, &paper);
    struct look look = cell->attributes & CELL_CURSOR
                           ? theme_look_on_cursor(theme, (enum role)cell->role, COLOR_TRUE)
                           : *theme_look(theme, (enum role)cell->role, COLOR_TRUE);
    struct svg_paint paint = {.ink = color_rgb(&look.foreground, ink),
                              .paper = color_rgb(&look.background, paper),
                              .attributes = look.attributes};
    if (look.attributes & LOOK_REVERSE) {
        uint32_t swap = paint.ink;
        paint.ink = paint.paper;
        paint.paper = swap;
    }
    paint.has_paper = paint.paper != paper;
    if (cell->attributes & CELL_DIM)
        paint.attributes |= LOOK_DIM;
    if (cell->attributes & CELL_STRONG)
        paint.attributes |= LOOK_BOLD;
    if (cell->attributes & CELL_UNDERLINE)
        paint.attributes |= LOOK_UNDERLINE;
    return paint;
}

static bool
same_paint(const struct cell *a, const struct cell *b)
{
    return a->role == b->role && a->attributes == b->attributes;
}

static void
add_tenths(struct strbuf *out, const char *name, int tenths)
{
    strbuf_printf(out, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static void
add_point(struct strbuf *out, uint32_t point)
{
    if (point == '<' || point == '>' || point == '&') {
        strbuf_printf(out, "&#%u;", point);
        return;
    }
    char encoded[4];
    strbuf_add(out, (struct bytes){encoded, utf8_encode(point, encoded)});
}

static void
add_text(struct strbuf *out, const struct canvas *canvas, int row, int col, int end,
         const struct svg_paint *paint)
{
    bool is_blank = true;
    for (int i = col; i < end; i++)
        is_blank = is_blank && canvas_cell(canvas, row, i)->base <= ' ';
    if (is_blank && !(paint->attributes & LOOK_UNDERLINE))
        return;
    strbuf_add_text(out, "<text");
    add_tenths(out, "x", MARGIN + col * CELL_WIDTH);
    add_tenths(out, "y", MARGIN + row * CELL_HEIGHT + BASELINE);
    add_tenths(out, "textLength", (end - col) * CELL_WIDTH);
    strbuf_printf(out, " fill=\"#%06x\"", paint->ink);
    strbuf_add_text(out, paint->attributes & LOOK_BOLD ? " font-weight=\"bold\"" : "");
    strbuf_add_text(out, paint->attributes & LOOK_DIM ? " opacity=\"0.65\"" : "");
    strbuf_add_text(out, paint->attributes & LOOK_ITALIC ? " font-style=\"italic\"" : "");
    strbuf_add_text(out, paint->attributes & LOOK_UNDERLINE ? " text-decoration=\"underline\"" : "");
    strbuf_add_char(out, '>');
    for (int i = col; i < end; i++) {
        const struct cell *cell = canvas_cell(canvas, row, i);
        if (cell->width == 0)
            continue;
        add_point(out, cell->base);
        for (int m = 0; m < CELL_MARKS && cell->marks[m]; m++)
            add_point(out, cell->marks[m]);
    }
    strbuf_add_text(out, "</text>\n");
}

static void
svg_add_row(struct strbuf *out, const struct canvas *canvas, const struct theme *theme, int row,
            bool is_paper)
{
    for (int col = 0; col < canvas->cols;) {
        const struct cell *first = canvas_cell(canvas, row, col);
        int end = col + 1;
        while (end < canvas->cols && same_paint(first, canvas_cell(canvas, row, end)))
            end++;
        struct svg_paint paint = paint_of(first, theme);
        if (is_paper && paint.has_paper) {
            strbuf_add_text(out, "<rect");
            add_tenths(out, "x", MARGIN + col * CELL_WIDTH);
            add_tenths(out, "y", MARGIN + row * CELL_HEIGHT);
            add_tenths(out, "width", (end - col) * CELL_WIDTH);
            add_tenths(out, "height", CELL_HEIGHT);
            strbuf_printf(out, " fill=\"#%06x\"/>\n", paint.paper);
        }
        if (!is_paper)
            add_text(out, canvas, row, col, end, &paint);
        col = end;
    }
}

void
svg_add(const struct canvas *canvas, const struct theme *theme, const char *title, struct strbuf *out)
{
    uint32_t ink, paper;
    theme_page(theme, &ink, &paper);
    int width = (2 * MARGIN + canvas->cols * CELL_WIDTH + 9) / 10;
    int height = (2 * MARGIN + canvas->rows * CELL_HEIGHT + 9) / 10;
    strbuf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace\" "
        "font-size=\"14\" xml:space=\"preserve\">\n<title>",
        width, height, width, height);
    for (const char *at = title ? title : ""; *at; at++)
        add_point(out, (unsigned char)*at);
    strbuf_printf(out, "</title>\n<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#%06x\"/>\n", width,
                  height, paper);
    for (int is_paper = 1; is_paper >= 0; is_paper--)
        for (int row = 0; row < canvas->rows; row++)
            svg_add_row(out, canvas, theme, row, is_paper);
    strbuf_add_text(out, "</svg>\n");
}
