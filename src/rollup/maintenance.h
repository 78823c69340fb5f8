// maintenance: a thread that keeps the rollup true (rollup/maintainer) while its process runs: a screen, or a
// worker that is a service. While another process maintains the rollup, it looks now and then whether that
// one still does.
#ifndef REDRIVE_ROLLUP_MAINTENANCE_H
#define REDRIVE_ROLLUP_MAINTENANCE_H

#include "store/store.h"

struct maintenance;

// Borrows the settings. Begins a moment later, so that the requests of people come first.
struct maintenance *maintenance_start(const struct store_settings *settings);
// Stops the statement that runs and does not wait; any thread may call it. NULL is fine for both.
void maintenance_end(struct maintenance *maintenance);
void maintenance_stop(struct maintenance *maintenance); // waits for the end, gives the lease up, frees

#endif
