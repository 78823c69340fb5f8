// preview: where the preview of a list goes, and the line between the two.
#ifndef REDRIVE_UI_PREVIEW_H
#define REDRIVE_UI_PREVIEW_H

#include "ui/canvas/canvas.h"

// Rows of a preview from which it has room for a fact a line, a chart, a payload with its indents.
#define PREVIEW_TALL 10

// Takes the preview's part, its line included, off the bottom of a list's body: a few rows, or a dozen where
// the window is high; no rows where there is no room. Beside the list it would cost the list more than it
// shows.
struct area preview_take(struct area *body);
// Draws the line at the preview's edge towards the list; returns the area within.
struct area preview_frame(struct area preview, struct canvas *canvas);
// The right half of a preview that is tall and wide enough for two columns; no columns where it is not.
struct area preview_take_right(struct area *area);

#endif
