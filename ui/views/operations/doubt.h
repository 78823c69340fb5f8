// doubt: chunks in doubt and suspended slots on the screen: a line that counts them, and the dialog in which
// a person decides. It shows the evidence and says what each answer means. For views that steer (steering.h).
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_DOUBT_H
#define REDRIVE_UI_VIEWS_OPERATIONS_DOUBT_H

#include <stddef.h>
#include "core/doubt.h"
#include "ui/views/operations/steering.h"

// "2 chunks in doubt, 1 slot suspended"; "" where nothing is.
const char *doubt_summary(const struct doubt *doubts, size_t count, struct arena *arena);
// Opens the dialog about one; NULL: says that nothing is in doubt here.
void doubt_ask(struct app *app, struct steering *steering, const struct doubt *doubt);

#endif
