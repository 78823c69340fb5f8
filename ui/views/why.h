// why: asks why an event is in its group (`x`) and opens the view that explains it, the same from every view.
#ifndef REDRIVE_UI_VIEWS_WHY_H
#define REDRIVE_UI_VIEWS_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include "ui/app/app.h"

// Asks; the number of the request.
uint64_t why_ask(struct app *app, int64_t id);
// true: the reply answers `number` and was shown.
bool why_receive(struct app *app, uint64_t number, const struct reply *reply);

#endif
