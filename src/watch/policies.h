// policies: runs policies that are due (store/watch/policies.h): chooses events, leaves out those that rest
// or were tried often enough, and freezes the others as an operation like any other. Retention is a job of
// the archive instead (store/operations/archive.h), which a run carries out itself.
//
// A run that begins nothing says why in the policy's row. Events that a policy of manual review matches are
// left to people, and so are events in quarantine.
#ifndef REDRIVE_WATCH_POLICIES_H
#define REDRIVE_WATCH_POLICIES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "core/policy.h"
#include "store/store.h"

// The ids of pending events that a policy matches; heap, in any order.
typedef bool policy_choose_fn(void *context, struct store *store, const struct policy *policy, int64_t **ids,
                              size_t *count, struct err *err);

// Borrowed for as long as it runs.
struct policy_plan {
    const struct policy *policies;
    size_t count;
    policy_choose_fn *choose;
    void *context;
    int64_t lease;          // µs; 0: ten minutes
    int64_t send_after;     // µs in which a person can undo a run before it sends
    int64_t approve_above;  // events of a run that a person has to approve; 0: never
    int64_t retention_turn; // µs, after which retention lets others run; 0: ten seconds
};

struct policy_run {
    const struct policy *policy; // NULL: none is due
    int64_t operation;           // that it began; 0: none
    int64_t matched, acted;
    bool halts;
    char note[300]; // why it began none, or why it halts
};

// One run of a policy that is due, or of `only`. holder: a name that no other caller has.
bool policy_run_next(struct store *store, const struct policy_plan *plan, const char *holder,
                     const char *only, struct policy_run *run, struct err *err) MUST_CHECK;

// A thread that looks for due policies every few µs.
struct policy_runner;
struct policy_runner *policy_runner_start(const struct store_settings *settings,
                                          const struct policy_plan *plan, int64_t every);
void policy_runner_stop(struct policy_runner *runner); // interrupts and waits; NULL is fine

#endif
