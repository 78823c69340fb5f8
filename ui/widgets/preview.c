#include "ui/widgets/preview.h"

// Rows, the preview's with its line. Where there is a preview its list gets no fewer rows than in a lower
// window: from LIST on the preview alone grows, up to TALL_LEAST, then it takes two rows of five.
enum { LOW_FROM = 16, LOW = 6, LIST = 15, TALL_LEAST = 13, TALL_MOST = 17, HALVES_FROM = 140 };
enum { GUTTER = 1, WORDS_AT = 2 };

struct area
preview_take(struct area *body)
{
    if (body->rows < LOW_FROM)
        return (struct area){0};
    int rows = body->rows - LIST;
    if (rows > TALL_LEAST)
        rows = TALL_LEAST + (rows - TALL_LEAST) * 2 / 5;
    rows = rows < LOW ? LOW : rows > TALL_MOST ? TALL_MOST : rows;
    return area_take_bottom(body, rows);
}

static struct area
inside(struct area preview)
{
    area_take_top(&preview, 1);
    area_take_left(&preview, GUTTER);
    return preview;
}

// All there is, drawn apart, in the width that it will have.
static void
draw_whole(struct canvas *whole, int cols, bool is_ascii, preview_draw_fn *draw, const void *what)
{
    canvas_init(whole, PREVIEW_WHOLE, cols, is_ascii);
    draw(what, whole, canvas_area(whole));
}

static int
rows_used(const struct canvas *canvas)
{
    int rows = canvas->rows;
    while (rows > 0 && canvas_used(canvas, rows - 1) == 0)
        rows--;
    return rows;
}

static void
clamp_top(struct preview_pane *preview)
{
    int last = preview->rows - preview->height;
    preview->top = preview->top < last ? preview->top : last;
    preview->top = preview->top > 0 ? preview->top : 0;
}

void
preview_layout(struct preview_pane *preview, struct area area, bool is_ascii, preview_draw_fn *draw,
               const void *what)
{
    struct area within = inside(area);
    preview->height = area.rows > 1 ? within.rows : 0;
    preview->has_focus &= preview->height > 0;
    if (!preview->has_focus)
        return;
    struct canvas whole;
    draw_whole(&whole, within.cols, is_ascii, draw, what);
    preview->rows = rows_used(&whole);
    canvas_release(&whole);
    clamp_top(preview);
}

static void
draw_edge(const struct preview_pane *preview, struct canvas *canvas, struct area area)
{
    canvas_hline(canvas, area.row, area.col + GUTTER, area.cols - 2 * GUTTER, ROLE_BORDER);
    if (!preview->has_focus)
        return;
    int last = preview->top + preview->height;
    canvas_printf(canvas, area.row, area.col + WORDS_AT, area.cols - WORDS_AT, ROLE_STRONG,
                  " preview %d-%d/%d ", preview->rows ? preview->top + 1 : 0,
                  last < preview->rows ? last : preview->rows, preview->rows);
}

void
preview_draw(const struct preview_pane *preview, struct canvas *canvas, struct area area,
             preview_draw_fn *draw, const void *what)
{
    if (area.rows < 1)
        return;
    struct area within = inside(area);
    draw_edge(preview, canvas, area);
    if (!preview->has_focus) {
        draw(what, canvas, within);
        return;
    }
    struct canvas whole;
    draw_whole(&whole, within.cols, canvas->is_ascii, draw, what);
    canvas_copy(canvas, within, &whole, preview->top, 0);
    canvas_release(&whole);
}

struct area
preview_take_right(struct area *area)
{
    return area->rows >= PREVIEW_TALL && area->cols >= HALVES_FROM ? area_take_right(area, area->cols / 2)
                                                                   : (struct area){0};
}

// By how many rows an action moves; false: it is none that moves.
static bool
step_of(const struct preview_pane *preview, enum action action, int *step)
{
    const struct {
        enum action action;
        int step;
    } steps[] = {
        {DO_DOWN, 1},
        {DO_UP, -1},
        {DO_LINE_DOWN, 1},
        {DO_LINE_UP, -1},
        {DO_HALF_DOWN, preview->height / 2},
        {DO_HALF_UP, -preview->height / 2},
        {DO_PAGE_DOWN, preview->height},
        {DO_PAGE_UP, -preview->height},
        {DO_TOP, -PREVIEW_WHOLE},
        {DO_BOTTOM, PREVIEW_WHOLE},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].action != action)
            continue;
        *step = steps[i].step;
        return true;
    }
    return false;
}

bool
preview_handles(enum action action)
{
    int step;
    return action == DO_BACK || step_of(&(struct preview_pane){0}, action, &step);
}

bool
preview_handle(struct preview_pane *preview, enum action action)
{
    int step;
    if (action == DO_NEXT_PANE && preview->height > 0) {
        preview->has_focus = !preview->has_focus;
        preview->top = 0;
        return true;
    }
    if (!preview->has_focus)
        return false;
    if (action == DO_BACK) {
        preview->has_focus = false;
        return true;
    }
    if (!step_of(preview, action, &step))
        return false;
    preview->top += step;
    clamp_top(preview);
    return true;
}

void
preview_to_top(struct preview_pane *preview)
{
    preview->top = 0;
}
