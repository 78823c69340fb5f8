// sums: what `redrive watch` tells as metrics, read from tables of the schema redrive: the rollup, and the
// sums of src/store/sql/watch.sql. Only the two functions that add to these sums look at the contract table:
// watch_sums_look at what arrived since its last call, and at all rows once a minute at most.
//
// "Bounded": a list has at most so many entries, and one more with what they leave out.
#ifndef REDRIVE_STORE_WATCH_SUMS_H
#define REDRIVE_STORE_WATCH_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/category.h"
#include "core/topic_share.h"
#include "store/store.h"

#define WATCH_GROUPS 50
#define WATCH_TYPES 50
#define WATCH_TOPICS 50
#define WATCH_BUCKETS 16

struct watch_group {
    uint64_t key;
    const char *error_class; // NULL: the message has none
    enum category category;
    int64_t pending;
};
struct watch_type {
    const char *event_type; // "": absent in the table
    int64_t pending;
};
struct watch_arrivals {
    const char *error_class, *event_type;
    int64_t count;
};
struct watch_operations { // of one action
    const char *action;
    int64_t done, skipped, returned;
    int64_t refused, refused_by_check; // the second are among the first
};
struct watch_state_count {
    const char *state; // of operations
    int64_t count;
    int64_t due; // of these: not those that begin later
};

struct watch_histogram {
    double bounds[WATCH_BUCKETS];  // the last one is infinite
    int64_t counts[WATCH_BUCKETS]; // above the bound before
    size_t count;
    double sum;
};

// The table, as it was when all rows were counted last.
struct watch_statuses {
    int64_t pending, resolved, discarded, other;
    int64_t counted_at; // TIME_ABSENT: not yet
};

// From the rollup, as of now. Nothing of it is known before rollup.is_counted.
struct watch_pending {
    int64_t count;
    int64_t oldest_at;          // whole seconds; TIME_ABSENT: none, or not known
    struct watch_group *groups; // largest first, at most WATCH_GROUPS
    size_t group_count;
    int64_t in_other_groups;
    int64_t by_category[CATEGORY_COUNT]; // of the largest 500 groups
    int64_t in_other_categories;         // of the others
    struct watch_type *types;            // as groups
    size_t type_count;
    int64_t in_other_types;
};

// A topic of dead letters, as far as redrive ingest has read it.
struct watch_letters {
    const char *topic;
    bool is_read;   // an ingester is alive for it
    bool is_known;  // Kafka was asked where it ends:
    int64_t behind; // letters that it had beyond those that were read
};

struct watch_rollup {
    bool is_counted; // the first count is over: pending is complete
    bool is_kept;    // somebody maintains it
    int64_t behind;
    int64_t exact_at; // TIME_ABSENT: never
};

struct watch_sums {
    int64_t as_of; // the database's clock
    int64_t arrived;
    struct watch_statuses statuses;
    struct watch_pending pending;
    struct watch_rollup rollup;
    struct watch_histogram resolution, retries;
    struct watch_arrivals *arrivals;
    size_t arrival_count;
    struct watch_operations *operations; // one of each action that was ever asked for
    size_t operation_count;
    struct watch_state_count *states;
    size_t state_count;
    struct watch_letters *letters; // those with most letters left first, at most WATCH_TOPICS
    size_t letters_count;
    int64_t in_other_letters;            // letters left of the other topics
    struct topic_shares shares;          // of the last hour
    int64_t in_doubt;                    // events
    int64_t workers, publishing_workers; // that gave a sign within 15 s
};

// Adds what is new to the sums, unless that was done within `every` (µs), by anybody. Needs a worker's
// rights.
bool watch_sums_look(struct store *store, int64_t every, struct err *err) MUST_CHECK;
// Texts and lists are in the arena.
bool watch_sums_read(struct store *store, struct arena *arena, struct watch_sums *sums,
                     struct err *err) MUST_CHECK;

#endif
