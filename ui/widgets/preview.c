#include "ui/widgets/preview.h"

// LOW: with its line. The tall one grows with the window, two rows of five, up to its highest.
enum {
    LOW_FROM = 16,
    LOW = 6,
    TALL_FROM = 28,
    TALL_LEAST = 13,
    TALL_MOST = 17,
    BESIDE_FROM_COLS = 160,
    LIST_COLS = 110 // that a list keeps beside a preview
};

static bool
is_beside(struct area area)
{
    return area.col > 0;
}

struct area
preview_take(struct area *body)
{
    if (body->rows < LOW_FROM)
        return (struct area){0};
    int cols = body->cols * 2 / 5;
    if (body->cols >= BESIDE_FROM_COLS)
        return area_take_right(body, cols < body->cols - LIST_COLS ? cols : body->cols - LIST_COLS);
    if (body->rows < TALL_FROM)
        return area_take_bottom(body, LOW);
    int rows = TALL_LEAST + (body->rows - TALL_FROM) * 2 / 5;
    return area_take_bottom(body, rows < TALL_MOST ? rows : TALL_MOST);
}

struct area
preview_frame(struct area preview, struct canvas *canvas)
{
    if (preview.rows < 1)
        return preview;
    if (is_beside(preview)) {
        canvas_vline(canvas, preview.row, preview.col, preview.rows, ROLE_BORDER);
        area_take_left(&preview, 2);
    } else {
        canvas_hline(canvas, preview.row, preview.col + 1, preview.cols - 2, ROLE_BORDER);
        area_take_top(&preview, 1);
        area_take_left(&preview, 1);
    }
    return preview;
}
