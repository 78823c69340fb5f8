// stats: the five analyses of core/stats, exact, by plain aggregates that distributed PostgreSQL can route.
#ifndef REDRIVE_STORE_ROLLUP_STATS_H
#define REDRIVE_STORE_ROLLUP_STATS_H

#include "base/arena.h"
#include "core/stats.h"
#include "store/store.h"

// has_errors: the caller has the most common errors already; they are left out.
bool stats_read(struct store *store, bool has_errors, struct arena *arena, struct stats *stats,
                struct err *err) MUST_CHECK;

#endif
