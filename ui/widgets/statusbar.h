// statusbar: the two bars: line 1 (where am I, environment, connection), and the message line with the
// footer.
#ifndef REDRIVE_UI_STATUSBAR_H
#define REDRIVE_UI_STATUSBAR_H

#include <stdbool.h>
#include <stddef.h>
#include "ui/canvas/canvas.h"
#include "ui/keymap/keymap.h"

struct header {
    const char *const *crumbs; // outermost first
    int crumb_count;
    const char *label; // environment, or NULL
    enum role label_role;
    const char *where; // "db1/orders"
    const char *state; // "live", "as of 14:02:11", "PAUSED"
    enum role state_role;
};
// The last crumb and the environment stay longest as the line narrows.
void header_draw(const struct header *header, struct canvas *canvas, struct area area);

// How the name of an environment is drawn: in the colour that was set for it ("red" …; NULL, "auto": none
// was), else as production where it says so.
enum role environment_role(const char *label, const char *color);

// What an action is called in place of its own label.
struct footer_label {
    enum action action;
    const char *text;
};

// Actions with the key in force, as many as fit; help is always the last of them. `labels`: ended by DO_NONE;
// may be NULL.
void footer_draw(const struct keymap *keymap, enum context context, const enum action *actions,
                 const struct footer_label *labels, struct canvas *canvas, struct area area);

// A chip of line 2 at *col, followed by three blanks: draws only if it fits before `limit`; moves *col.
void chip_draw(struct canvas *canvas, int row, int *col, int limit, enum role role, struct bytes untrusted);
// The same, cut where it does not fit.
void chip_draw_cut(struct canvas *canvas, int row, int *col, int limit, enum role role,
                   struct bytes untrusted);
// A chip flush right; returns the limit for the chips before it.
int chip_draw_at_right(struct canvas *canvas, struct area line, enum role role, struct bytes untrusted);

#endif
