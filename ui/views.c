// The table of views, made from views.def.
#include "ui/view.h"

const struct view_row views[] = {
#define VIEW(name, place, parent) {&view_##name, place},
#include "ui/views.def"
#undef VIEW
};
const int view_count = sizeof views / sizeof *views;
