// decide_risks: warnings about events that are sent again, found one after the other while the dialog is
// already open (core/operation.h, enum preview_part).
//
// A risk that is still being checked has its line from the start. The result replaces the line, so that
// nothing below moves.
#ifndef REDRIVE_UI_VIEWS_DECIDE_RISKS_H
#define REDRIVE_UI_VIEWS_DECIDE_RISKS_H

#include "core/operation.h"
#include "ui/widgets/dialog.h"

struct decide_risks {
    struct preview found; // as far as it is known; without lists
    char why_refused[200];
    size_t lines;     // of the dialog, above these
    bool was_looking; // some line said "checking"
};

void decide_risks_add(struct decide_risks *risks, const struct preview *preview);
// Rewrites their lines. why: the reason for which the others stay unknown, or NULL while they are checked.
void decide_risks_describe(struct decide_risks *risks, struct dialog *dialog, const char *why);

#endif
