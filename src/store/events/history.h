// history: events after they were republished: the rows of the contract table that belong to one event, and
// the events of an operation that returned.
#ifndef REDRIVE_STORE_EVENTS_HISTORY_H
#define REDRIVE_STORE_EVENTS_HISTORY_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/operation.h"
#include "store/store.h"

// All failed attempts of the event of this row, oldest first, this row included. Each row has its own error
// and stack trace (whole). At most 50.
bool event_attempts(struct store *store, int64_t id, struct arena *arena, struct event **attempts,
                    size_t *count, struct err *err) MUST_CHECK;

// The newest 200 returned events of the operation, counted by group and by whether the group changed. Most
// first.
bool operation_returns(struct store *store, int64_t no, struct arena *arena, struct returned **returns,
                       size_t *count, struct err *err) MUST_CHECK;

#endif
