// adoption: how a stopped database goes on (turns.h): it is the true one and takes the history over from
// Kafka, or it is a copy and becomes an install of its own. For administrators, with a reason; audited.
#ifndef REDRIVE_STORE_OPERATIONS_ADOPTION_H
#define REDRIVE_STORE_OPERATIONS_ADOPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/stop.h"
#include "store/operations/turns.h"
#include "store/store.h"

// The newest stop, without `counts` and `denied`; then with them.
bool stop_find(struct store *store, struct stop *stop, struct err *err) MUST_CHECK;
bool stop_look(struct store *store, struct stop *stop, struct err *err) MUST_CHECK;
// What a decision would touch.
bool history_counts(struct store *store, struct history_counts *counts, struct err *err) MUST_CHECK;

// Where and since when (instant) Kafka may hold chunks of these slots that this database does not know.
bool history_range(struct store *store, const char *cluster, const int32_t *slots, size_t slot_count,
                   struct arena *arena, const char ***topics, size_t *topic_count, int64_t *since,
                   struct err *err) MUST_CHECK;
// Of `ids`, chunks found in Kafka, those that this database does not know to have ended; in the arena.
bool history_unknown(struct store *store, const char *const *ids, size_t count, struct arena *arena,
                     const char ***unknown, size_t *unknown_count, struct err *err) MUST_CHECK;
// Of these events, found in Kafka with the source that their record names ("topic/partition/offset", "" for
// none), those that are open here; in the arena.
bool history_sent(struct store *store, const int64_t *events, const char *const *sources, size_t count,
                  struct arena *arena, int64_t **sent, size_t *sent_count, struct err *err) MUST_CHECK;

// The last request to have a worker take the history over.
bool adopting_look(struct store *store, struct adopting *adopting, struct err *err) MUST_CHECK;
// For administrators: a new request; then the counts of it that they saw. ERR_CONFLICT: they are others by
// now.
bool adopting_ask(struct store *store, struct err *err) MUST_CHECK;
bool adopting_confirm(struct store *store, const struct adopting *seen, const char *reason,
                      struct err *err) MUST_CHECK;
// For workers: `no` and `state` of what is to be done now. ADOPTING_ASKED: count, then answer;
// ADOPTING_CONFIRMED: carry out; ADOPTING_COUNTED: a person decides; ADOPTING_NONE: nothing. Called again
// while it is done, as a sign of life.
bool adopting_next(struct store *store, const char *worker, struct adopting *next,
                   struct err *err) MUST_CHECK;
// why NULL: it was counted.
bool adopting_answer(struct store *store, const char *worker, int64_t no, const char *cluster, int64_t chunks,
                     int64_t records, const int64_t *sent, size_t sent_count, const char *why,
                     struct err *err) MUST_CHECK;
// What history_adopt takes, for a request that was confirmed. *closed -1: Kafka proves something else by now;
// it is to be confirmed once more.
struct adopting_proof {
    const char *cluster;
    const struct turn_mark *kafka;
    const int32_t *slots;
    size_t slot_count;
    int64_t chunks;
    const int64_t *sent;
    size_t sent_count;
};
bool adopting_carry_out(struct store *store, const char *worker, int64_t no,
                        const struct adopting_proof *proof, int64_t *closed, struct err *err) MUST_CHECK;

// Takes the history over: `kafka` is the turn that Kafka holds (no 0: none), `slots` those whose markers are
// ahead, once for each generation that Kafka has, `sent` the events that Kafka proves as sent; *closed: how
// many of them were open. Ends the stop.
bool history_adopt(struct store *store, const char *cluster, const struct turn_mark *kafka,
                   const int32_t *slots, size_t slot_count, const int64_t *sent, size_t sent_count,
                   const char *reason, int64_t *closed, struct err *err) MUST_CHECK;
// A new install: operations cancelled, what was in flight in doubt, other names in Kafka. Ends all stops.
bool history_as_copy(struct store *store, const char *reason, struct err *err) MUST_CHECK;
// The same, if this is still what is there. ERR_CONFLICT: the stop or what it touches is another by now.
bool history_as_copy_seen(struct store *store, const struct stop_seen *seen, const char *reason,
                          struct err *err) MUST_CHECK;

#endif
