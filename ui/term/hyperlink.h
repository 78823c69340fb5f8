// hyperlink: cells that lead to an address, for terminals that know OSC 8 ("Hyperlinks in terminal
// emulators", the convention of VTE, iTerm2, kitty, tmux 3.4 and others; the rest ignores it).
//
// ncurses has no attribute for a link. So it draws the cells as any others, and afterwards the part of each
// row that is or was a link is written once more, past ncurses: the same letters in the same look, between
// the two sequences. Cursor and look are as before then, so ncurses need not know.
#ifndef REDRIVE_UI_TERM_HYPERLINK_H
#define REDRIVE_UI_TERM_HYPERLINK_H

#include <stdbool.h>
#include "base/strbuf.h"
#include "ui/canvas/canvas.h"

// The columns [from, to) of a row that are a link, or were one; from == to: none.
struct link_range {
    int from, to;
};
struct link_range link_range_of(const struct cell *cells, const struct cell *before, int cols);

// The sequence that begins a link to the address; NULL ends the link.
void hyperlink_sequence(const char *address, struct strbuf *out);

#endif
