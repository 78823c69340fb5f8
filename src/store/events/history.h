// history: events after they were republished: the rows of the contract table that belong to one event, and
// the events of an operation that returned.
#ifndef REDRIVE_STORE_EVENTS_HISTORY_H
#define REDRIVE_STORE_EVENTS_HISTORY_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/history.h"
#include "core/operation.h"
#include "store/store.h"

// All failed attempts of the event of this row, oldest first, this row included. Each row has its own error
// and stack trace (whole). At most 50.
bool event_attempts(struct store *store, int64_t id, struct arena *arena, struct event **attempts,
                    size_t *count, struct err *err) MUST_CHECK;

// The further dead letters of this event, oldest first, at most 50.
bool event_letters(struct store *store, int64_t id, struct arena *arena, struct letter_attempt **letters,
                   size_t *count, struct err *err) MUST_CHECK;

// The events of the operation that returned, counted by group, the 200 with most events first. Those whose
// group nobody has told yet (returned_group_some) are one row.
bool operation_returns(struct store *store, int64_t no, struct arena *arena, struct returned **returns,
                       size_t *count, struct err *err) MUST_CHECK;

// Tells the groups of some returned events that have none yet, so that they are counted by it: a worker does
// it after each look for them. *left: 0, there are no more. Needs a worker's rights.
bool returned_group_some(struct store *store, size_t limit, size_t *left, struct err *err) MUST_CHECK;

#endif
