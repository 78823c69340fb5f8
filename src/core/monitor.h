// monitor: what the monitor of the screen shows of now: the pending events by class of error, category, age
// and retries, what became of reprocesses, and who carries them out. What was over time is in core/trend,
// what is counted from the whole table in core/stats. Pure; texts and lists live in the arena they were made
// with.
#ifndef REDRIVE_CORE_MONITOR_H
#define REDRIVE_CORE_MONITOR_H

#include "base/arena.h"
#include "core/alerts.h"
#include "core/backlog/backlog.h"
#include "core/letter_topic.h"
#include "core/outcomes.h"
#include "core/policy.h"
#include "core/topic_share.h"
#include "core/trend.h"
#include "core/worker.h"

#define MONITOR_CLASSES 20
#define MONITOR_RETRIES 6 // 0, 1, …, and the last one stands for all above

struct monitor_class {
    const char *name; // NULL: messages without a class
    int64_t count;
};

// Pending events by whole hours of their creation, so that a range of created_at chooses exactly them.
enum monitor_age {
    AGE_THIS_HOUR,
    AGE_6_HOURS,
    AGE_24_HOURS,
    AGE_7_DAYS,
    AGE_30_DAYS,
    AGE_OLDER,
    MONITOR_AGES
};
struct monitor_ages {
    bool is_known;
    int64_t counts[MONITOR_AGES];
    int64_t
        from[MONITOR_AGES]; // the instant at which each begins, and the one before ends; the last has none
    int64_t oldest_at;      // the hour of the oldest; TIME_ABSENT: nothing is pending, or has a time
};

struct monitor_pending {
    int64_t count;
    struct monitor_class *classes; // most events first, at most MONITOR_CLASSES
    size_t class_count;
    int64_t in_other_classes;
    int64_t categories[CATEGORY_COUNT];
    struct monitor_ages ages;
    int64_t retries[MONITOR_RETRIES];
    int retries_95; // 95 of 100 were not retried more often
};

struct monitor_slots {
    int64_t total, held, suspended;
};

struct monitor {
    struct trend trend;
    struct monitor_pending pending;
    struct operation *operations; // the newest, by number downwards
    size_t operation_count;
    struct worker *workers;
    size_t worker_count;
    struct monitor_slots slots;
    struct alert_board alerts;
    struct policy_row *policies; // by name
    size_t policy_count;
    struct letter_topic *letter_topics; // those with most letters left first
    size_t letter_topic_count;
    struct topic_shares shares; // within the time of the trend
    double letters_per_second;  // that redrive ingest takes in, of the last seconds; -1: not known yet
};

// has_ages: the backlog knows the hours of all its events.
void monitor_count(const struct backlog *backlog, bool has_ages, int64_t now, struct arena *arena,
                   struct monitor_pending *pending);

// What became of the events of all reprocesses that began at `from` or later. Returns how many these are.
size_t monitor_results(const struct monitor *monitor, int64_t from, struct outcomes *results);
// The filter that chooses the events of these reprocesses with an outcome ("stayed"); in the arena. NULL:
// there is no such reprocess.
const char *monitor_results_filter(const struct monitor *monitor, int64_t from, const char *outcome,
                                   struct arena *arena);

const char *monitor_age_name(enum monitor_age age); // "this hour", "6 hours"

#endif
