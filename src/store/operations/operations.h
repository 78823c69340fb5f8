// operations: requesting, steering and carrying out operations, and reading their state.
//
// The acting user is the session's user, as the database knows it. Every change writes the audit in the same
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
// open for the action (closed by somebody, held by another live operation) become skipped items with the
// reason; total = request->count. A repeated call with the same key (an answer was lost) returns the existing
// operation. progress (may be NULL) is called between batches of ids with the number written so far; false
// cancels and leaves nothing.
typedef bool operation_progress_fn(void *context, size_t written, size_t total);
bool operation_create(struct store *store, const struct operation_request *request,
                      operation_progress_fn *progress, void *context, int64_t *no,
                      struct err *err) MUST_CHECK;
// The same, but survives a lost answer: connects and repeats the request with the same key, up to five times,
// so that the operation is created once and its number is known. Before each attempt, progress is called with
// nothing written; false ends with the last error.
bool operation_insist(struct store *store, const struct operation_request *request,
                      operation_progress_fn *progress, void *context, int64_t *no,
                      struct err *err) MUST_CHECK;

bool operation_get(struct store *store, int64_t no, struct arena *arena, struct operation *operation,
                   struct err *err) MUST_CHECK;
// Newest first, at most limit. before: only lower numbers; 0: all.
bool operation_list(struct store *store, int64_t before, size_t limit, struct arena *arena,
                    struct operation **operations, size_t *count, struct err *err) MUST_CHECK;

// Has any operation changed since `*token` (start with 0)? Cheap enough to ask twice a second.
bool operation_changes(struct store *store, int64_t *token, bool *changed, struct err *err) MUST_CHECK;

// Takes effect at the next chunk. ERR_CONFLICT with a sentence if the state does not allow it (already done
// …). reason: why, for the audit; NULL: none was given.
bool operation_steer(struct store *store, int64_t no, enum steer steer, int32_t rate, const char *reason,
                     struct err *err) MUST_CHECK;

// STEER_STEPS, _SETTLE_FOR, _HALT: replaces that part of the plan for the events not sent yet.
bool operation_tune(struct store *store, int64_t no, enum steer steer, const struct send_plan *plan,
                    const char *reason, struct err *err) MUST_CHECK;

// The number of items by state and reason, most first.
bool operation_outcomes(struct store *store, int64_t no, struct arena *arena, struct outcome **outcomes,
                        size_t *count, struct err *err) MUST_CHECK;
// Ids of the items in these states (set of 1 << enum item_state; 0: all) with this reason (NULL: with any or
// none), ascending; the caller frees.
bool operation_item_ids(struct store *store, int64_t no, unsigned states, const char *reason, int64_t **ids,
                        size_t *count, struct err *err) MUST_CHECK;

// Ids of all events that the operation can be asked about by operation:N: its items, and the rows of those
// that returned. Ascending; the caller frees.
bool operation_event_ids(struct store *store, int64_t no, int64_t **ids, size_t *count,
                         struct err *err) MUST_CHECK;

// Every decision about one event, newest first.
bool event_decisions(struct store *store, int64_t id, struct arena *arena, struct decision **decisions,
                     size_t *count, struct err *err) MUST_CHECK;

// The expected effect of an action. Nothing is written.
struct preview_query {
    enum operation_action action;
    const int64_t *ids; // ascending, each once
    size_t count;
    const char *to;                  // the topic that all of them are sent to; NULL: each to its own
    bool restores_resolved;          // as in struct operation_request
    const struct preview_rows *rows; // as preview_rows_read gave it for these ids
    struct preview_ahead *ahead;     // what preview_rows_read takes first (preview_ahead.h), or NULL
};
// Reads in one go what all parts of a reprocess need of the rows of many events. *rows NULL: they read for
// themselves.
bool preview_rows_read(struct store *store, const struct preview_query *query, struct preview_rows **rows,
                       struct err *err) MUST_CHECK;
void preview_rows_destroy(struct preview_rows *rows); // NULL is fine
// Adds one part to the preview; texts go to the arena. store_interrupt ends it. What becomes of the events at
// their targets is up to the caller (publish/forecast.h): `sources` are given.
bool operation_preview_part(struct store *store, const struct preview_query *query, enum preview_part part,
                            struct arena *arena, struct preview *preview, struct err *err) MUST_CHECK;
// The events that a reprocess would act on and that have to be looked at one by one: those stored with more
// than `larger` bytes, and those whose row names one of these topics, or none with `has_none`, since only
// their dead letters say where they go. The largest first, at most 2,000; *more: so many others there are,
// busy ones included.
struct preview_large {
    int64_t larger;
    const char *const *topics;
    size_t topic_count;
    bool has_none;
    bool fits_all; // nothing is too large for any topic that is known: operation_bytes tells 0 bytes for all
};
bool operation_large(struct store *store, const struct preview_query *query,
                     const struct preview_large *large, struct arena *arena, int64_t **ids, size_t *count,
                     int64_t *more, struct err *err) MUST_CHECK;
// How many bytes the payload, event id, source id and topic of each of these have together; -1: more than its
// row decides about it, or about where it goes (the topics of `large`), its payload cannot be read, or there
// was no time within a second. unsendable: a predicate of jsonpath; payloads of which it is true are -1 too.
bool operation_bytes(struct store *store, const struct preview_query *query,
                     const struct preview_large *large, const char *unsendable, const int64_t *ids,
                     size_t count, int64_t *bytes, struct err *err) MUST_CHECK;
unsigned preview_parts(enum operation_action action); // set of 1 << enum preview_part
// The last reprocess of this group (16 digits; NULL or "": any) or of one of these events, the first thousand
// of them: 0, none.
bool operation_last_reprocess(struct store *store, const char *group, const int64_t *ids, size_t count,
                              int64_t *no, struct err *err) MUST_CHECK;
// The last operation that was asked for about this group, or the reprocess of one of these events that
// returned: 0, none.
bool operation_last_of_group(struct store *store, const char *group, const int64_t *ids, size_t count,
                             int64_t *no, struct err *err) MUST_CHECK;
// Fills only the quarantined events among those a reprocess would act on, for callers that show no preview.
bool operation_quarantined(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                           struct preview *preview, struct err *err) MUST_CHECK;

// For workers: the oldest operation that can continue now; else the one that can soonest, with `wait`; else
// ERR_NOT_FOUND. Marks a frozen one as running. Reprocess only with `publishes`.
struct work {
    int64_t no;
    enum operation_action action;
    int32_t rate;
    const char *target_topic; // in the arena
    const char *requested_by;
    int64_t wait;       // µs until it can continue; 0: now
    bool is_observing;  // it watches the events of a step
    bool is_later;      // its time to begin has not come
    const char *recipe; // of ACTION_CORRECT, in the arena; NULL: it undoes another, by work_apply
    bool is_forced;     // what the team's own check refuses is corrected too
    int64_t queued;     // events that wait for their turn
};
bool work_next(struct store *store, const char *worker, bool publishes, const int64_t *skip,
               size_t skip_count, struct arena *arena, struct work *work, struct err *err) MUST_CHECK;
// Discard, resolve, restore, and the undoing of a recipe: carries out up to `limit` queued items in one
// transaction; *left: how many are still queued.
bool work_apply(struct store *store, int64_t no, size_t limit, int64_t *applied, int64_t *left,
                struct err *err) MUST_CHECK;
// Why the operation does not proceed, for its row. Its next step that succeeds takes it back.
bool work_note(struct store *store, int64_t no, const char *note, struct err *err) MUST_CHECK;
// Ends an operation that has nothing left to do (applying, finishing chunks and cancelling do so by
// themselves); no effect otherwise. While items are in doubt it stays running and its note has their number.
bool work_finish(struct store *store, int64_t no, struct err *err) MUST_CHECK;

#endif
