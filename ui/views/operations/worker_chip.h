// worker_chip: the workers, and what the cluster promises, as a part of line 2.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_WORKER_CHIP_H
#define REDRIVE_UI_VIEWS_OPERATIONS_WORKER_CHIP_H

#include "ui/app/app.h"

// The least room for what it says of the workers, with the gap before it: quiet numbers leave it free.
#define WORKER_CHIP_LEAST 15

// "worker ● 1 idle", "no worker", and "exactly once": what fits before `limit`; moves *col.
void worker_chip_draw(const struct app *app, struct canvas *canvas, int row, int *col, int limit);

#endif
