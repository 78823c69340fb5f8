// choose: which events a command is about: ids, group, filter, queue and status narrow each other. Reads no
// more fields than the filter needs: by one pass over the table where ids are wanted and one term's text
// (search/prefilter) or short columns and groups say which (store/events/pass), else page by page. The
// matching is done here, never in SQL.
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
    int64_t limit;     // 0: none
    bool newest_first; // by created_at, then id; default oldest first. The limit is counted from the first.
};

// What was met on the way.
struct choose_tally {
    int64_t scanned;
    int64_t matched;
    int64_t closed;   // of the ids: there, but in another status
    int64_t *unknown; // of the ids: not there (heap)
    size_t unknown_count, unknown_capacity;
    int64_t *undecided; // a pattern ran into its match limit: neither in nor out (heap)
    size_t undecided_count, undecided_capacity;
};
void choose_tally_release(struct choose_tally *tally);

// Calls `each` for every event that is chosen, highest id first (ids: in their order), with `fields` (enum
// event_fields) filled at least, with none only id and created_wall; limit and order are not looked at. each
// returns false to stop: then ERR_CANCELLED. The event is valid during the call. tick (may be NULL) is called
// after each page; false stops likewise.
typedef bool choose_each_fn(void *context, const struct event *event);
typedef bool choose_tick_fn(void *context, const struct choose_tally *tally);
bool choose_scan(struct store *store, const struct choice *choice, unsigned fields, choose_each_fn *each,
                 choose_tick_fn *tick, void *context, struct choose_tally *tally, struct err *err) MUST_CHECK;

// The ids in the order and number asked for; heap, the caller frees.
bool choose_ids(struct store *store, const struct choice *choice, choose_tick_fn *tick, void *context,
                int64_t **ids, size_t *count, struct choose_tally *tally, struct err *err) MUST_CHECK;

#endif
