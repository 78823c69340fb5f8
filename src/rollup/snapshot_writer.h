// snapshot_writer: writes the snapshots of error messages (store/rollup/snapshots.h), step by step, for the
// maintainer of the rollup (rollup/maintainer). The maintainer's comparisons of all events also say which
// snapshots are stale. Used by one thread.
#ifndef REDRIVE_ROLLUP_SNAPSHOT_WRITER_H
#define REDRIVE_ROLLUP_SNAPSHOT_WRITER_H

#include "core/backlog/column.h"
#include "store/rollup/snapshots.h"

struct snapshot_writer {
    uint64_t key[2];
    int64_t xmin_floor, changes; // when the comparison of all events began; floor 0: none runs
    int64_t at;                  // clock_mono before which nothing is to be written; INT64_MAX: ever
    size_t page;                 // rows that the next snapshot reads first; 0: not known
    size_t small;                // events below which a snapshot is worth merging with others
};

void snapshot_writer_init(struct snapshot_writer *writer);
// A missing right is no failure of the calls below: nothing is written from then on.
//
// A comparison of all events with the table begins, and ends. An end without a beginning says nothing.
bool snapshot_writer_sweep_began(struct snapshot_writer *writer, struct store *store,
                                 struct err *err) MUST_CHECK;
bool snapshot_writer_sweep_ended(struct snapshot_writer *writer, struct store *store, const char *maintainer,
                                 struct err *err) MUST_CHECK;
// Writes one snapshot where there is a gap. upto: ids above it may still be committed.
bool snapshot_writer_step(struct snapshot_writer *writer, struct store *store, const char *maintainer,
                          int64_t upto, struct err *err) MUST_CHECK;

#endif
