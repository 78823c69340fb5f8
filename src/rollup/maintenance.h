// keeping: a thread that keeps the sums of the backlog (rollup/maintainer) while its process runs: a screen,
// or a worker that is a service. Where another process keeps them it looks now and then whether it still
// does.
#ifndef REDRIVE_ROLLUP_MAINTENANCE_H
#define REDRIVE_ROLLUP_MAINTENANCE_H

#include "store/store.h"

struct maintenance;

// Borrows the settings. Begins a moment later, so that what people wait for comes first.
struct maintenance *maintenance_start(const struct store_settings *settings);
// Stops the statement that runs. Waits for the end in maintenance_stop, which may follow any time.
void maintenance_end(struct maintenance *maintenance);
void maintenance_stop(struct maintenance *maintenance); // NULL is fine, also above

#endif
