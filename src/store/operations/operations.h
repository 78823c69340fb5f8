// operations: asking for, steering and carrying out operations, and reading how they stand.
//
// Whoever acts is the session's user, taken by the database. Every change writes the audit in the same
// transaction.
#ifndef REDRIVE_STORE_OPERATIONS_OPERATIONS_H
#define REDRIVE_STORE_OPERATIONS_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/history.h"
#include "core/operation.h"
#include "store/store.h"

// Freezes the ids as items of a new operation and confirms it, in one transaction. Ids that are no longer
// open for the action (closed by somebody, held by another live operation) become items in state conflict
// with the reason; total = request->count. Asked again with the same key (an answer was lost) it returns the
// operation that is already there. progress (may be NULL) is called between slices of ids with how many are
// written; false cancels, nothing is left.
typedef bool operation_progress_fn(void *context, size_t written, size_t total);
bool operation_create(struct store *store, const struct operation_request *request,
                      operation_progress_fn *progress, void *context, int64_t *no,
                      struct err *err) MUST_CHECK;
// The same, where an answer that is lost does not end it: connects and asks again with the same key, up
// to five times, so that it is made once and its number is known. Before each, progress is called with
// nothing written; false ends it with the fault that there was.
bool operation_insist(struct store *store, const struct operation_request *request,
                      operation_progress_fn *progress, void *context, int64_t *no,
                      struct err *err) MUST_CHECK;

bool operation_get(struct store *store, int64_t no, struct arena *arena, struct operation *operation,
                   struct err *err) MUST_CHECK;
// Newest first, at most limit; before: only numbers below, 0 for all.
bool operation_list(struct store *store, int64_t before, size_t limit, struct arena *arena,
                    struct operation **operations, size_t *count, struct err *err) MUST_CHECK;

// Numbers of operations that changed since `*token` (start with 0); cheap enough to ask twice a second.
bool operation_changes(struct store *store, int64_t *token, bool *changed, struct err *err) MUST_CHECK;

// Effective at the next chunk. ERR_CONFLICT with a sentence where the state does not allow it (it is already
// done …).
bool operation_steer(struct store *store, int64_t no, enum steer steer, int32_t rate,
                     struct err *err) MUST_CHECK;

// STEER_STEPS, _SETTLE, _HALT: that part of the plan, from what was sent so far on.
bool operation_tune(struct store *store, int64_t no, enum steer steer, const struct send_plan *plan,
                    struct err *err) MUST_CHECK;

// How many items there are per state and reason, most first.
bool operation_outcomes(struct store *store, int64_t no, struct arena *arena, struct outcome **outcomes,
                        size_t *count, struct err *err) MUST_CHECK;
// Ids of the items in these states (set of 1 << enum item_state; 0: all), ascending; the caller frees.
bool operation_item_ids(struct store *store, int64_t no, unsigned states, int64_t **ids, size_t *count,
                        struct err *err) MUST_CHECK;

// Every decision about one event, newest first.
bool event_decisions(struct store *store, int64_t id, struct arena *arena, struct decision **decisions,
                     size_t *count, struct err *err) MUST_CHECK;

// What an action would meet. Nothing is written.
struct preview_query {
    enum operation_action action;
    const int64_t *ids; // ascending, each once
    size_t count;
};
// Adds one part to what is known of it; texts go to the arena. store_interrupt ends it.
bool operation_preview_part(struct store *store, const struct preview_query *query, enum preview_part part,
                            struct arena *arena, struct preview *preview, struct err *err) MUST_CHECK;
// All parts that there are for the action.
bool operation_preview(struct store *store, const struct preview_query *query, struct arena *arena,
                       struct preview *preview, struct err *err) MUST_CHECK;
unsigned preview_parts(enum operation_action action); // set of 1 << enum preview_part
// Of that, only who is in quarantine, of what a reprocess acts on: for those whom nobody asks first.
bool operation_quarantined(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                           struct preview *preview, struct err *err) MUST_CHECK;

// For workers: the oldest operation that can go on now; else the one that will soonest by itself, with
// `wait`; else ERR_NOT_FOUND. Marks frozen ones running. Reprocess only with `publishes`.
struct work {
    int64_t no;
    enum operation_action action;
    int32_t rate;
    const char *target_topic; // in the arena
    const char *requested_by;
    int64_t wait;      // µs before which it cannot go on; 0: now
    bool is_observing; // it waits to see what comes back of a step
};
bool work_next(struct store *store, const char *worker, bool publishes, const int64_t *skip,
               size_t skip_count, struct arena *arena, struct work *work, struct err *err) MUST_CHECK;
// Discard, resolve, restore: carries out up to `limit` queued items in one transaction; *left: how many are
// still queued.
bool work_apply(struct store *store, int64_t no, size_t limit, int64_t *applied, int64_t *left,
                struct err *err) MUST_CHECK;
// Ends an operation that has nothing left to do (applying, settling and cancelling do so by themselves);
// harmless otherwise. One whose rest is in doubt stays running and says how many.
bool work_finish(struct store *store, int64_t no, struct err *err) MUST_CHECK;

#endif
