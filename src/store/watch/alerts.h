// alerts: the state of alerts in the schema redrive (sql/alerts.sql): a watcher measures and the database
// decides; people look, silence and acknowledge. Several watchers take turns.
#ifndef REDRIVE_STORE_WATCH_ALERTS_H
#define REDRIVE_STORE_WATCH_ALERTS_H

#include "base/arena.h"
#include "core/alerts.h"
#include "core/runbook.h"
#include "store/store.h"
#include "store/watch/sums.h"

// What a watcher's file says; borrowed.
struct alert_plan {
    const struct alert_rule *rules;
    size_t rule_count;
    const struct alert_destination *destinations;
    size_t destination_count;
    struct runbook *runbook; // used by the caller's thread; NULL: none
};

// Measures and decides, unless somebody did so within `every` (µs). sums: of a look just now. Needs a
// worker's rights.
bool alerts_evaluate(struct store *store, const struct alert_plan *plan, const struct watch_sums *sums,
                     int64_t every, struct err *err) MUST_CHECK;

// Everything that is known; in the arena.
bool alerts_read(struct store *store, struct arena *arena, struct alert_board *board,
                 struct err *err) MUST_CHECK;

// How many fire that are neither silenced nor acknowledged.
bool alerts_count_firing(struct store *store, int64_t *count, struct err *err) MUST_CHECK;

// For so long (µs; 0: no longer) nobody is told that it fires. ERR_NOT_FOUND: there is no such alert.
bool alert_silence(struct store *store, const char *rule, int64_t length, const char *reason,
                   struct err *err) MUST_CHECK;
// ERR_NOT_FOUND: it does not fire.
bool alert_acknowledge(struct store *store, const char *rule, const char *reason, struct err *err) MUST_CHECK;

#endif
