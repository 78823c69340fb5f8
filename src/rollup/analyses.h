// analyses: what `redrive stats` prints and the view of stats shows, so that both tell the same numbers.
#ifndef REDRIVE_ROLLUP_ANALYSES_H
#define REDRIVE_ROLLUP_ANALYSES_H

#include "store/rollup/stats.h"

// Seconds at a million events; store_interrupt ends it with ERR_CANCELLED. has_rollup: the sums of the
// backlog are exact (rollup/reader.h), and the most common errors are the largest groups of them, which say
// more than the largest messages and cost nothing. Rows and texts in the arena.
bool analyses_read(struct store *store, bool has_rollup, struct arena *arena, struct stats *stats,
                   struct err *err) MUST_CHECK;

#endif
