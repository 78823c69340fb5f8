#include "ui/widgets/preview.h"

// LOW: with its line. The tall one grows with the window, two rows of five, up to its highest.
enum { LOW_FROM = 16, LOW = 6, TALL_FROM = 28, TALL_LEAST = 13, TALL_MOST = 17, HALVES_FROM = 140 };

struct area
preview_take(struct area *body)
{
    if (body->rows < LOW_FROM)
        return (struct area){0};
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
    canvas_hline(canvas, preview.row, preview.col + 1, preview.cols - 2, ROLE_BORDER);
    area_take_top(&preview, 1);
    area_take_left(&preview, 1);
    return preview;
}

struct area
preview_take_right(struct area *area)
{
    return area->rows >= PREVIEW_TALL && area->cols >= HALVES_FROM ? area_take_right(area, area->cols / 2)
                                                                   : (struct area){0};
}
