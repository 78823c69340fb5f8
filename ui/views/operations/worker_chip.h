// worker_chip: the workers, and what the cluster promises, as a part of line 2.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_WORKER_CHIP_H
#define REDRIVE_UI_VIEWS_OPERATIONS_WORKER_CHIP_H

#include "ui/app/app.h"

// "worker ● 1 idle", "no worker", and "exactly once": what fits before `limit`; moves *col.
void worker_chip_draw(const struct app *app, struct canvas *canvas, int row, int *col, int limit);

#endif
