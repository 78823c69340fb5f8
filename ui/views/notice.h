// notice: a sentence where rows would be: why there are none, and what to do about it.
#ifndef REDRIVE_UI_VIEWS_NOTICE_H
#define REDRIVE_UI_VIEWS_NOTICE_H

#include "ui/canvas/canvas.h"

// Wrapped into the area, from its first row.
void notice_draw(struct canvas *canvas, struct area area, const char *text);

#endif
