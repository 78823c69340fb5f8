// policies: the state of policies in the schema redrive (sql/policies.sql): a process claims one that is due,
// and begins its run by an operation_request or says why there is none; people look and switch. Running needs
// an operator's rights, as any operation does.
#ifndef REDRIVE_STORE_WATCH_POLICIES_H
#define REDRIVE_STORE_WATCH_POLICIES_H

#include "base/arena.h"
#include "core/policy.h"
#include "store/store.h"

// Takes in what a file says; at the instant `now`.
bool policies_know(struct store *store, const struct policy *policies, size_t count, int64_t now,
                   struct err *err) MUST_CHECK;

struct policy_claim {
    const struct policy *policy; // NULL: none is due
    int64_t acted;               // on so many events within 24 hours
    bool is_probe;               // on one event
};
// One of these that is due, or `only`, due or not. Others leave it alone for `lease` (µs, an hour at most),
// or until the session of this store is gone.
bool policies_claim(struct store *store, const char *holder, const struct policy *policies, size_t count,
                    const char *only, int64_t lease, struct policy_claim *claim, struct err *err) MUST_CHECK;
// Ends the claim: nothing was begun; or the policy halts. ERR_CONFLICT: it is not this holder's any more.
bool policies_finish(struct store *store, const char *holder, const char *name, int64_t matched,
                     int64_t next_at, const char *note, struct err *err) MUST_CHECK;
bool policies_halt(struct store *store, const char *holder, const char *name, const char *why,
                   struct err *err) MUST_CHECK;

// Of retention: the job of the archive that a run carries out (archive_continue); a new one, or what its last
// run left of one.
struct policy_job {
    int64_t no; // 0: nothing is due
    int64_t chosen, taken;
};
bool policies_archive(struct store *store, const char *holder, const char *name, struct policy_job *job,
                      struct err *err) MUST_CHECK;

// Its runs that have ended since somebody switched it on, newest first.
bool policies_results(struct store *store, const char *name, struct arena *arena,
                      struct policy_result results[POLICY_RUNS_JUDGED], size_t *count,
                      struct err *err) MUST_CHECK;
// The history of those of these events that are pending and in no live operation, in the order of the ids.
bool policies_events(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                     struct policy_event **events, size_t *found, struct err *err) MUST_CHECK;
// Topics to which no run of this policy may send now (sql/policy_topics.sql).
bool policies_busy(struct store *store, const char *name, struct arena *arena, const char ***topics,
                   size_t *count, struct err *err) MUST_CHECK;

// All that are known, by name.
bool policies_list(struct store *store, struct arena *arena, struct policy_row **rows, size_t *count,
                   struct err *err) MUST_CHECK;
// ERR_NOT_FOUND: no process knows such a policy.
bool policy_switch(struct store *store, const char *name, bool is_on, const char *reason,
                   struct err *err) MUST_CHECK;

#endif
