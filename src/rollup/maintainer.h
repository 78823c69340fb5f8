// maintainer: keeps the rollup (store/rollup/rollup.h) equal to the contract table, whatever process it runs
// in: a screen, a worker, a command.
//
// Consumers insert events and others close them without telling anybody, so the maintainer looks:
//   arrivals    above the highest id looked at, again over the ids of the last two seconds, since sequences
//   are
//               not commit order;
//   notes       that redrive makes where it changes an event itself;
//   count       PostgreSQL's count of pending events against the rollup's. Where they differ it compares
//   rows,
//               from the newest id down in growing steps, until they agree.
// Two differences may cancel each other out, and a changed column of a pending event changes no count. So the
// maintainer also sweeps: all the time it compares some rows by their version (xmin), and then the counts
// with the events that they count. A sweep takes a twentieth of one processor, a sixth while it finds
// differences: a wrong count is right again within some seconds at a hundred thousand events, within a minute
// at a million, two where the server is busy. Where counts differ and no event explains it, the counts are
// compared at once.
//
// Series and groups that have had no event for an hour are removed, some at a time.
//
// The first count has two passes. The first reads and counts all events, newest first; then the counts are
// exact. The second moves them to where lists and rows are read (store/rollup/rollup.h), which costs more
// than the reading.
//
// Several maintainers may run: a lease lets one of them work, the others look now and then whether it still
// does. No statement of a maintainer takes a lock that anybody else waits for. It may be killed at any
// moment: the next one continues.
#ifndef REDRIVE_ROLLUP_MAINTAINER_H
#define REDRIVE_ROLLUP_MAINTAINER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "store/store.h"

struct maintainer;

// Borrows the settings. It has a connection of its own, made at the first step.
struct maintainer *maintainer_create(const struct store_settings *settings);
// The same over a connection that it borrows: a store that could be made of these settings (store_is_like),
// which nobody else uses meanwhile. NULL: one of its own.
struct maintainer *maintainer_create_on(const struct store_settings *settings, struct store *store);
void maintainer_destroy(struct maintainer *maintainer); // gives the lease up; NULL is fine

// One short step. Returns for how many µs nothing is due, 0: call again at once. A step that fails is tried
// again later. A session without the rights, or a schema without a rollup, ends it for good (INT64_MAX).
int64_t maintainer_step(struct maintainer *maintainer);
// The rollup equalled the table when this, or the other maintainer that works, looked last.
bool maintainer_is_exact(const struct maintainer *maintainer);
// From another thread: ends the statement that runs.
void maintainer_interrupt(struct maintainer *maintainer);

#endif
