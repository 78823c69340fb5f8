// preview: where the preview of a list goes, and the line between the two.
#ifndef REDRIVE_UI_PREVIEW_H
#define REDRIVE_UI_PREVIEW_H

#include "ui/canvas/canvas.h"

// Rows of a preview from which it has room for a fact a line, a chart, a payload with its indents.
#define PREVIEW_TALL 10

// Takes the preview's part, its line included, off the body of a list: under it a few rows, under it a dozen
// where the window is high, beside it only where the window is so wide that the list loses nothing by it. A
// wider or higher window shows at least as much of both. No rows where there is no room.
struct area preview_take(struct area *body);
// Draws the line at the preview's edge towards the list; returns the area within.
struct area preview_frame(struct area preview, struct canvas *canvas);

#endif
