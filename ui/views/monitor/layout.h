// layout: which panels a screen has room for, and where. Pure. A larger room shows at least as many.
#ifndef REDRIVE_UI_VIEWS_MONITOR_LAYOUT_H
#define REDRIVE_UI_VIEWS_MONITOR_LAYOUT_H

#include "ui/views/monitor/panel.h"

#define MONITOR_COLUMN 39 // cells that a column of panels needs

#define MONITOR_PANELS_MOST 32
// Places the panels from `first` on, in their order, until one has no room; at least one is placed. Returns
// how many, with their areas. wishes: the rows that each would fill; room that is left goes to those.
int monitor_layout(const struct panel *const *panels, const int *wishes, int count, int first,
                   struct area room, struct area *areas);
// The first panel of the page that shows this one: pages follow each other from the first panel on, and the
// last one shows as many as there is room for.
int monitor_page(const struct panel *const *panels, int count, int panel, struct area room);

#endif
