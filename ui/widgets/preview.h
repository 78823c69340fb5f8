// preview: where the preview of a list goes, the line between the two, and which of them has the keys. A
// preview that has them scrolls, and shows what its few rows leave out.
#ifndef REDRIVE_UI_PREVIEW_H
#define REDRIVE_UI_PREVIEW_H

#include <stdbool.h>
#include "ui/canvas/canvas.h"
#include "ui/keymap/action.h"

// Rows of a preview from which it has room for a fact a line, a chart, a payload with its indents.
#define PREVIEW_TALL 10
// Rows that are drawn of one that scrolls: all there is.
#define PREVIEW_WHOLE 200

// Zero-initialise.
struct preview_pane {
    bool is_hidden;
    bool has_focus;
    int top;    // of one that has the focus: the first row shown,
    int rows;   // how many it has, as of the last layout,
    int height; // and how many of them are shown; 0: there is no room for a preview
};

// Draws what is previewed into an area of any height.
typedef void preview_draw_fn(const void *what, struct canvas *canvas, struct area area);

// Takes the preview's part, its line included, off the bottom of a list's body: a few rows, or a dozen where
// the window is high; no rows where there is no room. Beside the list it would cost the list more than it
// shows.
struct area preview_take(struct area *body);
// From the view's layout, with the part that was taken: gives the focus back where there is no room, and
// keeps the scroll position within the text.
void preview_layout(struct preview_pane *preview, struct area area, bool is_ascii, preview_draw_fn *draw,
                    const void *what);
// With the line at the edge towards the list, which says whether the preview has the keys.
void preview_draw(const struct preview_pane *preview, struct canvas *canvas, struct area area,
                  preview_draw_fn *draw, const void *what);
// The right half of a preview that is tall and wide enough for two columns; no columns where it is not.
struct area preview_take_right(struct area *area);

// Rows of a view's table, before those of its list: movement in the preview, and BACK out of it. NEXT_PANE,
// into it and out, has a row of its own.
bool preview_handles(enum action action);
// false: it is the list's, since the preview has not the focus; or it cannot be shown here.
bool preview_handle(struct preview_pane *preview, enum action action);
// After another row, or another text of it, is previewed.
void preview_to_top(struct preview_pane *preview);

#endif
