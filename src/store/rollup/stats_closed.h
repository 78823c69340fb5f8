// stats_closed: what only the table knows of the five analyses where the rollup counts the pending events:
// the closed ones, and the exact times of the oldest and the newest pending one.
//
// Closed events are counted in one pass over them; or, where none has changed since somebody did, taken out
// of the sums that were left then (sql/rollup_closed.sql). A session that may write leaves its sums to the
// next one.
#ifndef REDRIVE_STORE_ROLLUP_STATS_CLOSED_H
#define REDRIVE_STORE_ROLLUP_STATS_CLOSED_H

#include <stdbool.h>
#include "base/arena.h"
#include "store/store.h"

// Closed events of one type and status that were created in the same hour: one of the three counts is not 0.
struct stats_closed_row {
    const char *event_type; // NULL: absent in the table
    int64_t hour;           // its start; TIME_ABSENT: before these seven days, or not known
    int64_t resolved, discarded, other;
    int64_t timed;  // resolved ones with both times,
    double seconds; // and how long they took together
};

struct stats_closed {
    struct stats_closed_row *rows; // in the arena
    size_t count;
    int64_t *hours; // the starts of the hours of seven days, in the table's zone, oldest first; in the arena
    size_t hour_count;
};

bool stats_closed_read(struct store *store, struct arena *arena, struct stats_closed *closed,
                       struct err *err) MUST_CHECK;
// Of the pending events. first_at, last_at: whole seconds between which the rollup has all of them;
// TIME_ABSENT: it has none.
bool stats_bounds_read(struct store *store, int64_t first_at, int64_t last_at, int64_t *oldest_at,
                       int64_t *newest_at, struct err *err) MUST_CHECK;

#endif
