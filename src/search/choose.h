// choose: which events a command is about. Ids, group, filter, queue and status narrow each other. The
// matching is done here, never in SQL.
//
// Reads no more columns than the filter needs, and counted events instead of the table where those suffice.
// Where only ids are wanted, one pass over the table decides: over the column of one term (search/prefilter),
// or over short columns and groups (store/events/pass). Else events are read page by page.
#ifndef REDRIVE_SEARCH_CHOOSE_H
#define REDRIVE_SEARCH_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "core/event.h"
#include "store/store.h"

struct choice {
    const int64_t *ids; // only these, with has_ids; any order, doubles allowed
    size_t id_count;
    bool has_ids;
    const char *group;  // key or its beginning; NULL: any
    const char *filter; // NULL: none
    const char *queue;  // a dead letter queue's name; NULL: any
    unsigned statuses;  // set of 1 << enum event_status; 0: those a status: term of the filter asks for, else
                        // `otherwise`
    unsigned otherwise;
    // The rollup is exact now, event by event (rollup/reader.h), and of an event the caller needs no more
    // than it knows (store/rollup/rollup.h): then it answers where it can, instead of the table. Its times
    // are whole seconds.
    bool is_counted;
    int64_t limit;     // 0: none
    bool newest_first; // by created_at, then id; default oldest first. The limit is counted from the first.
};

// Counts, and events that the caller may have to report.
struct choose_tally {
    int64_t scanned;
    int64_t matched;
    int64_t closed;   // events in another status than the wanted ones
    int64_t *unknown; // of the ids: not in the table (heap)
    size_t unknown_count, unknown_capacity;
    int64_t *undecided; // a pattern ran into its match limit, or the text cannot be read: neither chosen nor
                        // ruled out (heap)
    size_t undecided_count, undecided_capacity;
};
void choose_tally_release(struct choose_tally *tally);

// Would is_counted be of use? Else the rollup need not be asked for. A mistake in the choice is none here:
// false.
bool choose_is_counted(struct store *store, const struct choice *choice);

// Calls `each` for every chosen event, highest id first (has_ids: in their order). The event has at least
// these `fields` (enum event_fields), with 0 only id and created_wall, and is valid during the call. Limit
// and order of the choice are not used. each returns false to stop: then ERR_CANCELLED. tick (may be NULL) is
// called after each page; false stops likewise.
typedef bool choose_each_fn(void *context, const struct event *event);
typedef bool choose_tick_fn(void *context, const struct choose_tally *tally);
bool choose_scan(struct store *store, const struct choice *choice, unsigned fields, choose_each_fn *each,
                 choose_tick_fn *tick, void *context, struct choose_tally *tally, struct err *err) MUST_CHECK;

// The chosen ids in the order of the choice, at most its limit; heap, the caller frees.
bool choose_ids(struct store *store, const struct choice *choice, choose_tick_fn *tick, void *context,
                int64_t **ids, size_t *count, struct choose_tally *tally, struct err *err) MUST_CHECK;

#endif
