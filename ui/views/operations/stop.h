// stop: the dialog about a database from which nothing may be published. It says what is known, and what each
// of the two decisions would do. That it is a copy is decided in it; that it is the true one needs Kafka,
// which the screen does not know, so the dialog names the command. For views that steer (steering.h).
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_STOP_H
#define REDRIVE_UI_VIEWS_OPERATIONS_STOP_H

#include "ui/views/operations/steering.h"

// STOP_DECIDE of a view's table.
bool stop_ask(struct app *app, void *state, enum action action);
// true: the reply was for the dialog.
bool stop_receive(struct app *app, struct steering *steering, struct reply *reply);

#endif
