// history: what became of an event after it was republished: the rows of the contract table that belong to
// one event, and the events of an operation that returned.
#ifndef REDRIVE_STORE_EVENTS_HISTORY_H
#define REDRIVE_STORE_EVENTS_HISTORY_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/operation.h"
#include "store/store.h"

// All attempts of the event that this row stands for, oldest first, the row itself among them: every row by
// which it failed, each with its own error and stack trace (whole). At most 50.
bool event_attempts(struct store *store, int64_t id, struct arena *arena, struct event **attempts,
                    size_t *count, struct err *err) MUST_CHECK;

// Of the newest 200 events of the operation that returned: how many per group, and whether that is the group
// they had before. Most first.
bool operation_returns(struct store *store, int64_t no, struct arena *arena, struct returned **returns,
                       size_t *count, struct err *err) MUST_CHECK;

#endif
