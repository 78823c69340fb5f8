// analyses: the five analyses of `redrive stats` and of the view of statistics, so that both show the same
// numbers.
#ifndef REDRIVE_ROLLUP_ANALYSES_H
#define REDRIVE_ROLLUP_ANALYSES_H

#include "store/rollup/stats.h"

// Reads the closed events by a connection of its own while the caller brings the rollup up to date: one that
// is closed meanwhile may be counted neither as pending nor as closed.
// settings: borrowed until it is stopped; where they may write, sums are left to the next one
// (stats_closed.h).
struct closed_ahead;
struct closed_ahead *closed_ahead_start(const struct store_settings *settings);
// Ends it, and what analyses_read took of it. NULL is fine.
void closed_ahead_stop(struct closed_ahead *ahead);

// Takes seconds at a million events; store_interrupt ends it with ERR_CANCELLED. has_rollup: the rollup is
// exact (rollup/reader.h). Then the most common errors are its largest groups, which say more than the most
// frequent messages and cost nothing. ahead: NULL, or where closed events are taken from. Rows and texts are
// in the arena, and valid as long as `ahead`.
bool analyses_read(struct store *store, bool has_rollup, struct closed_ahead *ahead, struct arena *arena,
                   struct stats *stats, struct err *err) MUST_CHECK;

#endif
