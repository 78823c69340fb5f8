// measure: what the conditions of alerts come to now, from the trend, the rollup and the sums of a look. All
// windows are of the database's clock.
#ifndef REDRIVE_STORE_WATCH_MEASURE_H
#define REDRIVE_STORE_WATCH_MEASURE_H

#include "base/arena.h"
#include "core/alerts.h"
#include "store/store.h"
#include "store/watch/sums.h"

#define MEASURE_LABELS 2

struct measured_value {
    const char *instance; // "": the table
    double value;
    const char *of; // what it is about, for people; NULL: the table
    struct alert_label labels[MEASURE_LABELS];
    size_t label_count;
};

// Without values the rule is not broken. is_known false: nothing can be told now.
struct measured {
    bool is_known;
    struct measured_value *values;
    size_t count;
};

// One rule. Everything is in the arena.
bool measure_rule(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                  struct arena *arena, struct measured *measured, struct err *err) MUST_CHECK;

#endif
