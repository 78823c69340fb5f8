// stop: a database from which nothing may be published, and the two decisions about it, each in a dialog that
// says what is known and what it would do. That it is the true one needs Kafka, which the screen does not
// know: a worker counts what Kafka proves, and these counts are confirmed. For views that steer (steering.h).
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_STOP_H
#define REDRIVE_UI_VIEWS_OPERATIONS_STOP_H

#include "ui/views/operations/steering.h"

// STOP_DECIDE of a view's table.
bool stop_ask(struct app *app, void *state, enum action action);
// true: the reply was for the dialog.
bool stop_receive(struct app *app, struct steering *steering, struct reply *reply);

#endif
