// session: what the parts of the backend share. A session belongs to one thread; of it the UI thread sees
// only the mailboxes, and at the end `is_stopping` and `store`, to interrupt what runs.
#ifndef REDRIVE_BACKEND_SESSION_H
#define REDRIVE_BACKEND_SESSION_H

#include <stdatomic.h>
#include "core/filter/filter.h"
#include "backend/backend.h"
#include "search/search.h"
#include "store/events/events.h"
#include "store/operations/operations.h"
#include "store/rollup/rollup.h"

// The list that is being made or was made last.
struct list_job {
    uint64_t number; // of the request; 0: no list was asked for
    bool is_running;
    bool is_first;         // nothing was sent yet
    bool leaves_undecided; // for an action: only what is known to match
    struct list_query query;
    struct filter *filter;
    bool is_by_id;       // not by time
    bool is_provisional; // by id until times can be read out of the sums: then it is made anew
    unsigned statuses;   // of events looked at, when they are not candidates
    int64_t *candidates; // ids to look at, in list order; NULL: all events with `statuses`, by id downwards
    size_t candidate_count;
    struct rollup_list *others; // candidates that are not read yet, and where they begin; NULL: none
    struct search *search;      // of the candidates, with a filter
    struct search_found found;  // that was not told yet
    int64_t told_at;            // clock_mono
    bool waits_for_rows;        // to know its candidates
    bool is_sorted;             // what was found is in its order, and is being told
    size_t at;                  // candidates looked at, or of what is sorted told
    int64_t before_id;          // without candidates: below this
    int64_t scanned, undecided;
    int64_t arrived; // new ones that would be in it, since it was made
};

struct session {
    const struct backend_settings *settings;
    struct mailbox *inbox;
    struct mailbox *replies;
    struct store *_Atomic store; // NULL until the first connection
    atomic_bool is_stopping;

    // The link.
    int attempts;
    int64_t retry_at; // clock_mono
    bool is_lost;
    char trouble[300];

    // The backlog (reader).
    struct backlog *backlog;
    bool has_rollup; // it has the sums of the database, which a maintainer keeps; else it counts rows itself
    bool has_all_hours;    // in the sums
    uint64_t rollup_token; // of the sums that were read last
    int64_t read_at;       // clock_mono before which sums that are being counted are not read again
    int64_t behind;        // pending events that are not in the sums yet
    bool is_counting;      // the first scan runs
    bool is_listing;       // with has_rollup: all are counted, but cannot be read one by one yet
                           // (store/rollup/rollup.h)
    int64_t scan_before;   // it goes on below this id; 0: from the newest
    int64_t scanned;
    int64_t seen_highest; // all events up to here were looked at
    int64_t pending;      // by the last count
    int64_t as_of;
    int64_t poll_at;        // clock_mono of the next look
    int64_t reconcile_at;   // clock_mono before which a full comparison is too dear
    bool is_dirty;          // groups changed since they were told
    bool is_held;           // REQUEST_PAUSE
    int64_t tell_at;        // clock_mono before which groups are not told again
    int64_t told_minute;    // of the clock, when they were told last
    uint64_t groups_number; // 0: nobody asked
    enum pivot pivot;
    bool has_within;
    bool is_merged; // near-equal groups are told as one
    uint64_t within;
    uint32_t spark[GROUP_SPARK];
    double per_minute;
    int64_t last_closed_at;
    char last_closed_by[64];

    struct backlog *rows;     // with has_rollup: the pending events one by one, for searches; NULL: not begun
    bool are_rows_whole;      // down to the oldest
    int64_t rows_before;      // read down to above this id; 0: from the newest
    int64_t rows_at;          // clock_mono before which they are not compared with the table again
    struct text_cache *cache; // of pending events (reader)
    int64_t cache_at;         // clock_mono before which it is not looked after

    // Pending events that somebody wrote, to be read again from changed_at on.
    int64_t *changed; // heap
    size_t changed_count, changed_capacity, changed_at;

    struct stats_job *stats; // the analyses that are counted, or were last; NULL: none

    struct list_job list;    // what the view shows
    struct list_job collect; // ids for a selection or an action

    // Operations (reader).
    uint64_t operations_number; // REQUEST_OPERATIONS that is being answered, or 0
    uint64_t operation_number;  // REQUEST_OPERATION likewise
    int64_t operation_no;
    int64_t change_token;
    int64_t operations_at; // clock_mono of the next look
    int64_t live[64];      // operations that were not final when last seen, to tell when they end
    size_t live_count;
    bool has_told_status;
    uint64_t told_hash; // of what the status said last

    // Previews (writer; preview_desk.c says who may touch what when).
    _Atomic uint64_t preview;          // number of the one that runs; 0: none
    _Atomic uint64_t preview_unwanted; // nobody waits for this one, or any before it
    atomic_bool is_interrupting;
    uint64_t preview_passed_on; // (reader) the last one that the writer was given
};

// Gives the reply away.
void session_reply(struct session *session, struct reply *reply);
void session_error(struct session *session, uint64_t number, const struct err *err);
// After a failed store call: answers the request (number may be 0) and notes a lost link. Always returns
// false.
bool session_failed(struct session *session, uint64_t number, const struct err *err);
void session_tell_status(struct session *session);

// backlog_desk.c: each does one small step and returns true when it did something.
void session_backlog_begin(struct session *session); // after (re)connecting
bool session_backlog_step(struct session *session);  // scan, or a look that is due
void session_backlog_tell(struct session *session, bool is_forced);
void session_groups_request(struct session *session, const struct request *request);
// Everything above the highest id looked at so far, for the list and, where rows are counted, for the
// backlog. One page a call; *is_over tells that there is no more.
bool session_backlog_arrivals(struct session *session, int64_t highest, bool *is_over, struct err *err);

// Compares with the true set of pending ids: what somebody else closed or deleted is taken out of the
// backlog; what is pending and not in it is named (missing: heap, the caller frees it, also after a failure).
bool session_backlog_compare(struct session *session, struct backlog *backlog, int64_t **missing,
                             size_t *count, struct err *err) MUST_CHECK;

// What these pending events are now, where they are counted here one by one.
bool session_backlog_renew(struct session *session, const struct event *events, size_t count,
                           struct err *err) MUST_CHECK;

// sums_desk.c: the backlog out of the sums of the database.
bool session_rollup_usable(struct session *session); // somebody keeps them, or this screen may
bool session_rollup_look(struct session *session, struct err *err);
bool session_rollup_readable(const struct session *session); // also event by event: lists and rows are whole
bool session_rollup_all_hours(struct session *session, struct err *err); // for the pivot by hour
// The ids of a list: the first of them at once, the others when they are asked for.
bool session_rollup_ids(struct session *session, struct list_job *list, size_t first, struct err *err);
bool session_rollup_other_ids(struct session *session, struct list_job *list, struct err *err);
void session_rollup_forget(struct list_job *list);

// list_desk.c
void session_list_request(struct session *session, struct request *request); // LIST and COLLECT
bool session_list_step(struct session *session);
void session_list_end(struct list_job *list);
// One reply of the list: ids (heap, given away) to append.
void session_list_tell(struct session *session, struct list_job *list, int64_t *ids, size_t count);
void session_list_release(struct session *session);
void session_list_cancel(struct session *session, uint64_t number);
void session_list_arrived(struct session *session, const struct event *events,
                          size_t count); // pending ones that are new
#define LIST_AT_ONCE 20000               // ids a reply carries

// rows_desk.c: where the backlog has sums, the short columns of the events themselves.
// What holds the pending events one by one, NULL: nothing does yet.
const struct backlog *session_rows_known(const struct session *session);
bool session_rows_step(struct session *session, bool *is_over, struct err *err);
void session_rows_arrived(struct session *session, const struct event *events, size_t count);

// changes_desk.c: what others changed in pending events, apart from closing them.
void session_changes_begin(struct session *session);
bool session_changes_step(struct session *session);
void session_changes_release(struct session *session);

// search_desk.c
void session_search_begin(struct session *session, struct list_job *list);
bool session_search_step(struct session *session, struct list_job *list);
bool session_list_is_sorted(const struct list_job *list); // by another column than its candidates
bool session_cache_step(
    struct session *session); // texts for the searches to come, while nothing else is to be done
void session_facets_request(struct session *session, const struct request *request);
void session_rows_request(struct session *session, const struct request *request);

// category_desk.c: the categories that people gave to groups.
bool session_categories_look(struct session *session, struct err *err);
void session_category_request(struct session *session, const struct request *request);

// detail_desk.c
void session_event_request(struct session *session, const struct request *request);
void session_why_request(struct session *session, const struct request *request);
void session_audit_request(struct session *session, const struct request *request);

// stats_desk.c: the five analyses, counted beside the reader, which meanwhile goes on.
void session_stats_request(struct session *session, const struct request *request);
void session_stats_cancel(struct session *session, uint64_t number);
void session_stats_release(struct session *session);

// preview_desk.c
void session_preview_request(struct session *session, const struct request *request);
// For the reader's thread: previews up to this one are not waited for any more. Returns when none of them
// runs.
void session_preview_end(struct session *writer, uint64_t last);

// operation_desk.c
void session_operations_request(struct session *session, const struct request *request);
bool session_operations_step(struct session *session); // a look that is due
void session_steer_request(struct session *session, const struct request *request);
void session_decide_request(struct session *session, const struct request *request);
void session_confirm_request(struct session *session, const struct request *request);
void session_wake_worker(struct session *session); // starts one when none is alive
void
session_resume_waiting(struct session *session); // what was interrupted goes on by itself at the next start

#endif
