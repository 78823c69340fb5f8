// stats: the five analyses of the table of dead letters, as store/rollup/stats counts them for the command
// and for the screen. Texts and rows live in the reader's arena.
#ifndef REDRIVE_CORE_STATS_H
#define REDRIVE_CORE_STATS_H

#include <stddef.h>
#include <stdint.h>

#define STATS_ERRORS 20 // number of most common errors

struct stats_pending {
    int64_t pending, resolved, discarded, other;
    int64_t oldest_at, newest_at; // of the pending
};
struct stats_error {
    const char *message; // cut at 500 characters; of a group, the first line of its newest event
    uint64_t group;      // counted by group; 0: by message
    int64_t count;
    int64_t first_at, last_at;
};
struct stats_hour {
    int64_t hour; // start of the hour, an instant
    int64_t count;
};
struct stats_type {
    const char *event_type; // NULL: absent in the table
    int64_t total, pending, resolved;
};
struct stats_resolution {
    const char *event_type; // NULL: absent in the table
    int64_t resolved;
    double mean_seconds;
};
struct stats {
    struct stats_pending pending;
    struct stats_error *errors;           // most common pending errors, most first, at most STATS_ERRORS
    struct stats_hour *hours;             // errors per hour over 7 days, 168 at most, empty hours with 0
    struct stats_type *types;             // most first
    struct stats_resolution *resolutions; // mean time to resolution per type
    size_t error_count, hour_count, type_count, resolution_count;
};
// The events by state in the order of display; "other" only where such events exist.
#define STATS_STATES 4
struct stats_state {
    const char *name;
    int64_t count;
};
size_t stats_states(const struct stats_pending *pending, struct stats_state states[STATS_STATES]);

#endif
