// vi: the subset of vi's keys that the editor knows: h j k l w b e 0 $ ^ % gg G x dd yy p P u C-r, i a I A o
// O, / n N, counts, : with w q wq x q! and a line number, ZZ ZQ. What is missing says so.
#ifndef REDRIVE_UI_VIEWS_EDITOR_VI_H
#define REDRIVE_UI_VIEWS_EDITOR_VI_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct app;
struct editing;

struct vi {
    bool is_inserting;
    size_t count; // typed so far; 0: none
    char pending; // g, d, y, Z; 0: none
};

// A character typed in normal mode.
void vi_type(struct app *app, struct editing *editing, struct bytes text);
// Esc: back to normal mode, or out of a command that was begun. false: there is nothing to leave.
bool vi_escape(struct editing *editing);

#endif
