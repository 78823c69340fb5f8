// text_snapshot: the error messages of the pending events, packed (core/backlog/pack) into rows of the schema
// redrive, so that a new search need not read the contract table.
//
// A snapshot covers a range of ids and is true of the rows that were written before the xmin floor of the
// state. The maintainer of the rollup writes the snapshots (rollup/snapshot_writer), under its name of
// store/rollup/rollup.h, and gets ERR_CONFLICT once another maintainer has taken over. Anybody may read them.
#ifndef REDRIVE_STORE_ROLLUP_SNAPSHOTS_H
#define REDRIVE_STORE_ROLLUP_SNAPSHOTS_H

#include "base/bytes.h"
#include "store/store.h"

// --- reading ---

struct text_snapshots {
    bool is_usable;     // snapshots exist, a maintainer is alive, and the floor is known
    int64_t xmin_floor; // of store_xmin_floor: snapshots are true of rows that were written before,
    int64_t changes;    // store_change_count then
    int64_t events;     // in all snapshots
};
bool text_snapshots_state(struct store *store, struct text_snapshots *state, struct err *err) MUST_CHECK;

// The error messages of all pending events with ids low … high, except the stale ones.
struct text_snapshot {
    int64_t low, high;
    int64_t *stale; // ids that were written since, highest first; heap
    size_t stale_count;
    struct bytes bytes; // of data
    char *data;         // heap
};
// The highest snapshot with ids below `below`, which may reach above it; data NULL: there is none.
bool text_snapshot_below(struct store *store, int64_t below, struct text_snapshot *snapshot,
                         struct err *err) MUST_CHECK;
void text_snapshot_release(struct text_snapshot *snapshot);

// --- maintaining ---

// Ids above `after` and below `before` that no snapshot covers; before 0: no gap is worth a snapshot. upto:
// ids above it may still be committed.
struct text_gap {
    int64_t after, before;
};
bool text_snapshot_gap(struct store *store, const char *maintainer, int64_t upto, struct text_gap *gap,
                       struct err *err) MUST_CHECK;
bool text_snapshot_put(struct store *store, const char *maintainer, int64_t low, int64_t high, size_t events,
                       struct bytes content, struct err *err) MUST_CHECK;
// All events were compared with the table since that floor. Deletes snapshots that are mostly stale by now,
// and neighbours of less than `small` events, so that they are written again as one.
bool text_snapshot_compared(struct store *store, const char *maintainer, int64_t xmin_floor, int64_t changes,
                            size_t small, struct err *err) MUST_CHECK;

#endif
