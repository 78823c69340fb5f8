// decide_risks: what a person should know before events are sent again, found out one after the other while
// the dialog is open already (core/operation.h, enum preview_part).
//
// What was not known at once has a line of its own from the start, which says what is looked for and then
// what was found: nothing below it moves under an eye or a hand.
#ifndef REDRIVE_UI_VIEWS_DECIDE_RISKS_H
#define REDRIVE_UI_VIEWS_DECIDE_RISKS_H

#include "core/operation.h"
#include "ui/widgets/dialog.h"

struct decide_risks {
    struct preview found; // as far as it is known
    size_t lines;         // of the dialog, above these
    bool was_looking;     // it said what was looked for
};

void decide_risks_add(struct decide_risks *risks, const struct preview *preview);
// Writes their lines anew. why: what is not known stays so, for this reason; or NULL.
void decide_risks_describe(struct decide_risks *risks, struct dialog *dialog, const char *why);

#endif
