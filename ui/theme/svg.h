// svg: a canvas as a picture, with a theme's colours: for the README, from the same scripts as the tests.
#ifndef REDRIVE_UI_THEME_SVG_H
#define REDRIVE_UI_THEME_SVG_H

#include "base/strbuf.h"
#include "ui/canvas/canvas.h"
#include "ui/theme/theme.h"

void svg_add(const struct canvas *canvas, const struct theme *theme, const char *title, struct strbuf *out);

#endif
