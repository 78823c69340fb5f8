// reader: the thread of the backend that keeps the backlog, lists and details. It works in small steps, so a
// new question never waits for a long answer.
//
// Each part of its state belongs to the file that the part names; the others read it.
#ifndef REDRIVE_BACKEND_READER_H
#define REDRIVE_BACKEND_READER_H

#include "backend/session.h"
#include "base/uuid.h"
#include "core/filter/filter.h"
#include "search/search.h"
#include "store/operations/operations.h"
#include "store/rollup/rollup.h"

enum list_wait {
    WAITS_FOR_NOTHING,
    WAITS_TO_BEGIN, // until no request waits that may replace it
    WAITS_FOR_ROWS, // to know its candidates
};
struct list_sort {
    bool is_over;             // what was found is in its order, and is being sent
    bool is_beginning;        // what is being sent are some of them, in their order
    struct list_paths *paths; // list_paths.c: the values that it is sorted by; NULL: not begun
};
// Where it is without candidates: the last id looked at.
struct list_place {
    bool is_known;
    int64_t id;
};

// The list that is being made or was made last.
struct list_job {
    uint64_t number; // of the request; 0: no list was asked for
    bool is_running;
    bool is_first;           // nothing was sent yet
    bool leaves_undecided;   // for an action: only what is known to match
    struct backlog *matched; // what was found is counted in it and not sent (group_matches.c); else NULL
    struct list_query query;
    struct filter *filter;
    bool is_by_id;       // not by time
    bool is_provisional; // by id until the rollup gives times: then the list is made again
    unsigned statuses;   // of events looked at, when they are not candidates
    int64_t *candidates; // ids to look at, in list order; NULL: all events with `statuses`, by id downwards
    size_t candidate_count;
    struct rollup_list *others; // candidates that are not read yet, and where they begin; NULL: none
    struct search *search;      // of the candidates, with a filter
    struct search_found found;  // not sent yet
    int64_t sent_at;            // clock_mono
    enum list_wait waits;
    bool is_confirmed; // of a collection: what was found was matched in the rows themselves
    struct list_sort sort;
    size_t at; // candidates looked at, or of a sorted list sent
    struct list_place place;
    size_t shown; // of the newest ones, while it waits for rows
    int64_t scanned, undecided;
    int64_t arrived; // new ones that would be in it, since it was made
};

// backlog.c and rollup.c: all pending events, counted from the rows themselves or from the rollup.
struct counts {
    struct backlog *backlog;
    bool has_rollup;       // it is made of the rollup in the database; else rows are counted here
    bool has_all_hours;    // in the rollup
    uint64_t rollup_token; // of the rollup that was read last
    int64_t read_at;       // clock_mono before which the rollup is not read again
    int64_t behind;        // pending events that the rollup does not have yet
    bool is_counting;      // the first count runs
    bool is_listing;       // with has_rollup: all are counted, but cannot be read one by one yet
                           // (store/rollup/rollup.h)
    bool is_partial;       // the rollup was read while that was so: it lacks events that returned
    bool has_scanned;      // some of the first count, which continues below scan_before
    int64_t scan_before;
    int64_t scanned;
    int64_t seen_highest; // all events up to here were looked at
    int64_t unkept_at;    // clock_mono since which nobody keeps the rollup; 0: somebody does
    int64_t pending;      // by the last count
    int64_t as_of;
    int64_t poll_at;      // clock_mono of the next look
    int64_t reconcile_at; // clock_mono before which a full comparison is too dear
    uint32_t spark[GROUP_SPARK];
    double per_minute;
    int64_t last_closed_at;
    char last_closed_by[64];
};

// group_matches.c: the pending events that match the filter of the groups, counted apart.
struct group_matches {
    bool is_on;
    char *text; // of the filter; heap
    bool has_within;
    uint64_t within;
    struct list_job job; // looks for them, again after changes
    struct backlog
        *matched;        // what the screen sees: of the first job while it runs, then of the last whole one
    bool is_whole;       // one job came to its end
    bool is_stopped;     // the first one did not: a person stopped it
    int64_t undecided;   // of the last whole job
    size_t looked_count; // pending events, and the highest id, when the job began
    int64_t looked_highest;
    int64_t looked_minute;   // of the clock: ages change
    bool has_changed;        // rows were written since
    int64_t began, again_at; // clock_mono
};

// group_paths.c: the values at the path by which the screen wants groups.
struct group_paths {
    char *text; // of the path; heap; NULL: another pivot
    struct json_path *path;
    struct lane *lane; // reads all of them; NULL: that is over, or did not begin
    struct path_values *values;
    int64_t *unread; // events to read, from unread_at on; heap
    size_t unread_count, unread_capacity, unread_at;
    size_t looked_count; // of pending events, and the highest id, when others were looked for
    int64_t looked_highest;
    int64_t again_at; // clock_mono
    bool is_outdated; // too much was written: all are read again
    struct {          // rows and corrections that others wrote
        struct text_watch *watch;
        int64_t count, xmin_floor; // store_change_count and store_xmin_floor at the last look
        int64_t look_at;           // clock_mono of the next
    } written;
};

// backlog.c: the groups as the screen asked for them.
struct groups_view {
    uint64_t number; // 0: nobody asked
    enum pivot pivot;
    bool has_within;
    bool is_merged;       // near-equal groups are one row
    enum group_rank rank; // which ones, of more than a reply carries
    bool is_reversed;     // likewise
    bool is_dirty;        // they changed since the last reply
    bool is_paused;       // REQUEST_PAUSE
    uint64_t within;
    int64_t send_at;     // clock_mono before which the next reply is too early
    int64_t sent_minute; // of the clock, at the last reply
};

// rows.c: with a rollup, the short columns of the pending events, for searches.
struct event_rows {
    struct backlog *backlog;    // NULL: not begun
    bool is_whole;              // down to the oldest
    int64_t upto;               // the next page begins at this id
    struct rollup_names *names; // while pages are read
    int64_t compare_at;         // clock_mono before which they are not compared with the table again
};

// search.c: texts for the searches to come.
struct kept_texts {
    struct text_cache *cache;
    int64_t look_at; // clock_mono before which it is not looked after
};

// changes.c: pending events that somebody wrote, to be read again from `at` on.
struct changed_events {
    int64_t *ids; // heap
    size_t count, capacity, at;
};

// operations.c
struct operations_view {
    uint64_t list_number; // REQUEST_OPERATIONS that is being answered, or 0
    uint64_t number;      // REQUEST_OPERATION likewise
    int64_t no;
    int64_t change_token;
    int64_t look_at;  // clock_mono of the next look
    int64_t live[64]; // operations that were not final when last seen, to tell when they end
    size_t live_count;
    int64_t newest; // the highest number that was seen: a higher one may be over before it was seen live
    bool has_looked;
    struct operation_end { // told; told again when it ended otherwise after all, because events returned
        int64_t no;
        uint64_t sentence; // hash
    } ends[16];            // the last ones, in a ring
    size_t end_count;
    int64_t settle_at; // clock_mono of a look at operations that are over and still watched; 0: none is
};

// What others do with the backlog, as the status tells it (struct status).
struct services {
    struct workers_seen worker;
    enum promise promise;
    char promise_words[200];
    char stop[300];
    int64_t letters_left;
    int alerts_firing;
};

struct writer;

struct reader {
    struct session session;
    struct writer *writer;
    uint64_t preview_passed_on; // the last one that the writer was given
    struct counts counts;
    struct groups_view groups;
    struct group_matches matches;
    struct group_paths paths;
    struct event_rows rows;
    struct kept_texts texts;
    struct changed_events changes;
    struct apart_job *apart;       // what sets events apart, that is looked for or was last; NULL: none
    struct stats_job *stats;       // the analyses that are counted, or were last; NULL: none
    struct connect_job *connect;   // another connection that is tried, or was last; NULL: none
    struct export_lane *exporting; // NULL: nothing was exported yet
    struct correct_lane *correct;  // for corrections that are checked; NULL: none was asked for yet
    struct recipe_lane *recipe;    // for dry runs; NULL: none was asked for yet
    struct list_job list;          // of the view
    struct list_job collect;       // ids for a selection or an action
    struct operations_view operations;
    struct {
        bool has_sent;
        uint64_t sent_hash; // of the last status that was sent
        struct services services;
        int64_t look_at; // clock_mono: until then they are taken as they are
    } status;
    struct {
        bool is_told;
        int64_t token;   // of what was told last
        uint64_t here;   // hash of who was told last
        int64_t look_at; // clock_mono of the next look at who is here
    } people;
    char screen[UUID_SIZE];              // this one, among those that are open
    struct letters_seen letters_seen[2]; // for the monitor
};

// backlog.c: each does one small step and returns true when it did something.
void reader_backlog_begin(struct reader *reader); // after (re)connecting
bool reader_backlog_step(struct reader *reader);  // scan, or a look that is due
void reader_backlog_send(struct reader *reader, bool is_forced);
void reader_groups_request(struct reader *reader, const struct request *request);
// Everything above the highest id looked at so far, for the list and, where rows are counted, for the
// backlog. One page a call; *is_over tells that there is no more.
bool reader_backlog_arrivals(struct reader *reader, int64_t highest, bool *is_over, struct err *err);

// Compares with the true set of pending ids: what somebody else closed or deleted is taken out of the
// backlog; what is pending and not in it is named (missing: heap, the caller frees it, also after a failure).
bool reader_backlog_compare(struct reader *reader, struct backlog *backlog, int64_t **missing, size_t *count,
                            struct err *err) MUST_CHECK;

// What these pending events are now, where they are counted here one by one.
bool reader_backlog_renew(struct reader *reader, const struct event *events, size_t count,
                          struct err *err) MUST_CHECK;

// Learns what these groups of a backlog are called, from a sample of each.
bool reader_backlog_describe_groups(struct reader *reader, struct backlog *backlog, const uint64_t *keys,
                                    const int64_t *ids, size_t count, struct err *err) MUST_CHECK;

// group_matches.c
// Follows the filter of a REQUEST_GROUPS. False: it cannot be read, which err tells.
bool reader_matches_request(struct reader *reader, const struct request *request, struct err *err) MUST_CHECK;
void reader_matches_found(struct reader *reader, struct list_job *job, const int64_t *ids, size_t count);
bool reader_matches_step(struct reader *reader); // looks again, where that is due
// The groups of the matches as a reply; `all`: the reply with the groups without the filter.
struct reply *reader_matches_groups(struct reader *reader, const struct reply *all);
void reader_matches_changed(struct reader *reader); // pending events were written
// Stops the first look for the groups of this request. What was counted stays until they are asked for again.
void reader_matches_cancel(struct reader *reader, uint64_t number);
void reader_matches_release(struct reader *reader);

// group_paths.c
// Follows the path of a REQUEST_GROUPS. False: it cannot be read, which err tells.
bool reader_paths_request(struct reader *reader, const struct request *request, struct err *err) MUST_CHECK;
bool reader_paths_step(struct reader *reader);
bool reader_paths_is_reading(const struct reader *reader); // the step is called often then
// The pending events one by one, with the value of each; those that match have theirs too. NULL: not yet.
const struct backlog *reader_paths_rows(struct reader *reader);
// Takes out of the candidates those that cannot match, where that is known.
void reader_paths_narrow(struct reader *reader, const struct list_query *query, int64_t *ids, size_t *count);
void reader_paths_name(const struct reader *reader, struct group_list *list,
                       struct arena *arena); // path_term
void reader_paths_release(struct reader *reader);

// rollup.c: the backlog out of the rollup in the database.
bool reader_rollup_usable(struct reader *reader); // somebody maintains it, or this screen may
bool reader_rollup_look(struct reader *reader, struct err *err);
bool reader_rollup_readable(const struct reader *reader); // also event by event: lists and rows are whole
bool reader_rollup_all_hours(struct reader *reader, struct err *err); // for the pivot by hour
// The ids of a list: the first of them at once, the others when they are asked for.
bool reader_rollup_ids(struct reader *reader, struct list_job *list, size_t first, struct err *err);
bool reader_rollup_other_ids(struct reader *reader, struct list_job *list, struct err *err);
void reader_rollup_forget(struct list_job *list);

// list.c
void reader_list_request(struct reader *reader, const struct request *request); // LIST and COLLECT
bool reader_list_step(struct reader *reader);
void reader_list_end(struct list_job *list);
bool reader_list_begin(struct reader *reader, struct list_job *list); // false: a reply says why not
void reader_list_drop(struct list_job *list);                         // all of it
// One reply of the list: ids (heap, given away) to append.
void reader_list_send(struct reader *reader, struct list_job *list, int64_t *ids, size_t count);
void reader_list_release(struct reader *reader);
void reader_list_cancel(struct reader *reader, uint64_t number);
void reader_list_arrived(struct reader *reader, const struct event *events,
                         size_t count); // pending ones that are new
void reader_rows_request(struct reader *reader, const struct request *request);
#define LIST_AT_ONCE 20000   // ids a reply carries
#define GROUPS_OF_PATH 1000  // of a path, with values that may differ in each event
#define GROUPS_AT_ONCE 10000 // groups a reply carries, and with a rollup, groups whose texts are kept

// rows.c: where the backlog has a rollup, the short columns of the events themselves.
// What holds the pending events one by one, NULL: nothing does yet.
const struct backlog *reader_rows_known(const struct reader *reader);
bool reader_rows_step(struct reader *reader, bool *is_over, struct err *err);
// Takes them over from somebody who read all of them at once, where they are not whole yet.
void reader_rows_adopt(struct reader *reader, struct backlog *rows);
void reader_rows_forget_names(struct reader *reader); // of groups and their categories: they changed
void reader_rows_arrived(struct reader *reader, const struct event *events, size_t count);

// changes.c: what others changed in pending events, apart from closing them.
void reader_changes_begin(struct reader *reader);
bool reader_changes_step(struct reader *reader);
void reader_changes_release(struct reader *reader);

// list_paths.c: of a list by a path of the payload, once all are found.
// Reads some of the values; *is_over: they are known. May send the beginning of the list.
bool reader_list_paths_step(struct reader *reader, struct list_job *list, bool *is_over,
                            struct err *err) MUST_CHECK;
struct path_values *reader_list_paths_values(const struct reader *reader,
                                             const struct list_job *list); // borrowed
void reader_list_paths_release(struct list_job *list);

// search.c
void reader_search_begin(struct reader *reader, struct list_job *list);
bool reader_search_step(struct reader *reader, struct list_job *list);
// Was a list found by texts that others may have written?
bool reader_search_is_unconfirmed(const struct reader *reader, const struct list_job *list);
bool reader_list_is_sorted(const struct list_job *list); // by another column than its candidates
bool
reader_cache_step(struct reader *reader); // texts for the searches to come, while nothing else is to be done

// category.c: the categories that people gave to groups.
bool reader_categories_look(struct reader *reader, struct err *err);

// people.c: what people say about groups.
void reader_people_begin(struct reader *reader); // after (re)connecting: told before any group is
bool reader_people_look(struct reader *reader, struct err *err) MUST_CHECK; // told where it changed

// recent.c: the newest events of a group, and the last decision about it.
void reader_recent_request(struct reader *reader, const struct request *request);

// detail.c
void reader_event_request(struct reader *reader, const struct request *request);
void reader_original_request(struct reader *reader, const struct request *request);
void reader_shape_request(struct reader *reader, const struct request *request); // shape.c
void reader_why_request(struct reader *reader, const struct request *request);
void reader_audit_request(struct reader *reader, const struct request *request);

// apart.c: what sets events apart, on a thread of its own.
void reader_apart_request(struct reader *reader, const struct request *request);
void reader_apart_cancel(struct reader *reader, uint64_t number);
void reader_apart_release(struct reader *reader);

// monitor.c: the backlog over time, and what is known of now.
void reader_monitor_request(struct reader *reader, const struct request *request);
// stats.c: the five analyses, counted on a thread of their own.
void reader_stats_request(struct reader *reader, const struct request *request);
void reader_stats_cancel(struct reader *reader, uint64_t number);
void reader_stats_release(struct reader *reader);

// export.c: events into files and commands, on a thread of their own.
void reader_export_request(struct reader *reader, const struct request *request);
void reader_export_cancel(struct reader *reader, uint64_t number);
void reader_export_release(struct reader *reader);

// correct.c: corrections about which the team's check is asked, on a thread of their own. false: this request
// is none, and is the writer's; else it is taken over.
bool reader_correct_takes(struct reader *reader, struct request *request);
void reader_correct_cancel(struct reader *reader, uint64_t number);
void reader_correct_release(struct reader *reader);

// recipe.c: dry runs of recipes, on a thread of their own, and files with recipes.
void reader_recipe_request(struct reader *reader, const struct request *request);
void reader_recipe_file(struct reader *reader, const struct request *request);
void reader_recipe_list(struct reader *reader, const struct request *request);
void reader_recipe_cancel(struct reader *reader, uint64_t number);
void reader_recipe_release(struct reader *reader);

// connect.c
void reader_connect_request(struct reader *reader, const struct request *request);
void reader_connect_cancel(struct reader *reader, uint64_t number);
void reader_connect_release(struct reader *reader); // waits for an attempt that runs

// facets.c
void reader_facets_request(struct reader *reader, const struct request *request);

// values.c
void reader_values_request(struct reader *reader, const struct request *request);

// operations.c
void reader_operations_request(struct reader *reader, const struct request *request);
void reader_operations_end(struct reader *reader, const struct request *request);
bool reader_operations_step(struct reader *reader); // a look that is due

// status.c: sends what the header shows, where it changed.
void reader_send_status(struct reader *reader);

#endif
