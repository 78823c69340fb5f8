// analyses: the five analyses of `redrive stats` and of the view of statistics, so that both show the same
// numbers.
#ifndef REDRIVE_ROLLUP_ANALYSES_H
#define REDRIVE_ROLLUP_ANALYSES_H

#include "store/rollup/stats.h"

// Takes seconds at a million events; store_interrupt ends it with ERR_CANCELLED. has_rollup: the rollup is
// exact (rollup/reader.h). Then the most common errors are its largest groups, which say more than the most
// frequent messages and cost nothing. Rows and texts are in the arena.
bool analyses_read(struct store *store, bool has_rollup, struct arena *arena, struct stats *stats,
                   struct err *err) MUST_CHECK;

#endif
