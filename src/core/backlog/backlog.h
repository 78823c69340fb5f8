// backlog: all pending events in a compact table (24 bytes each), and everything lists and groups derive from
// it.
//
// Fed by pages of events (EVENT_GROUP | EVENT_COUNTED) in any order; pure, no I/O, one thread. Counts,
// sparklines, pivots are derived in one pass over the table when asked for (a few milliseconds a million), so
// no count can drift.
//
// The same object may instead hold the rollup of the database (backlog_adopt_rollup): then groups are derived
// from some hundred series, and there are no rows.
#ifndef REDRIVE_CORE_BACKLOG_BACKLOG_H
#define REDRIVE_CORE_BACKLOG_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/backlog/path_values.h"
#include "core/event.h"

struct backlog;

struct backlog *backlog_create(void);
void backlog_destroy(struct backlog *backlog);

// Adds the events that are not in the backlog yet; returns their number. Keeps none of their bytes.
size_t backlog_add(struct backlog *backlog, const struct event *events, size_t count);
// Updates those of the events that are in the backlog; returns how many differed.
size_t backlog_renew(struct backlog *backlog, const struct event *events, size_t count);
// Compares with the true set of pending ids (ascending): removes other ids, and writes the ids that the
// backlog lacks to `missing` (heap, the caller frees). Ids above `highest` stay: they arrived after the set
// was read.
void backlog_reconcile(struct backlog *backlog, const int64_t *ids, size_t count, int64_t highest,
                       int64_t **missing, size_t *missing_count);
size_t backlog_count(const struct backlog *backlog);
size_t backlog_count_upto(const struct backlog *backlog, int64_t id); // those with ids not above it
int64_t backlog_highest_id(const struct backlog *backlog);            // of all ids ever added; 0: none

// The value by which events are grouped: the names that `redrive groups --by` takes, and a path of the
// payload.
enum pivot {
    PIVOT_ERROR,
    PIVOT_TYPE,
    PIVOT_SOURCE,
    PIVOT_TOPIC,
    PIVOT_CATEGORY,
    PIVOT_HOUR,
    PIVOT_PATH, // only of rows, with backlog_set_paths
    PIVOT_COUNT
};
const char *pivot_name(enum pivot pivot);               // "error", "type", …
bool pivot_parse(struct bytes name, enum pivot *pivot); // also "kind", for category; not a path
// The value that the event is counted under: by error the 16 hex digits of its group, by hour the start of
// the hour in UTC, else the member itself; absent where the event has none. The bytes are the event's or
// `text`'s.
struct bytes pivot_value(enum pivot pivot, const struct event *event, char text[TIME_TEXT]);

// For PIVOT_PATH: the value of each event at a path. Borrowed, until others or NULL are set; events that it
// lacks are counted as PATH_MISSING.
void backlog_set_paths(struct backlog *backlog, struct path_values *paths);

// The description of a group by error, derived once per key from a sample event
// (core/fingerprint/fingerprint).
struct group_text {
    const char *pattern;     // masked root text, placeholders typed
    const char *error_class; // may be NULL
    const char *sample;      // first line of the sample's message, at most 300 bytes
    const char *frame;       // may be NULL
    enum category category;  // with has_category: of the group, where no event gave it
    bool has_category;
    bool is_overridden; // likewise: the category was set by hand
};
void backlog_describe(struct backlog *backlog, uint64_t key, const struct group_text *text);
// The next group by error that has no description yet, with an event to take the sample from. *cursor starts
// with 0; false: no more.
bool backlog_undescribed(const struct backlog *backlog, size_t *cursor, uint64_t *key, int64_t *sample_id);
// Keeps the texts of about so many groups from now on, and of the others their category alone. A list in
// which a group has no pattern may describe it again, which keeps its texts.
void backlog_keep_texts(struct backlog *backlog, size_t most);
// Room for so many texts more: forgets all where too many would be kept (true).
bool backlog_make_room(struct backlog *backlog, size_t more);
// Groups without texts are undescribed again, because what decides categories has changed. false: there are
// none.
bool backlog_describe_again(struct backlog *backlog);
// Asks for the category of each group by error again, after overrides changed. CATEGORY_COUNT keeps the old
// category. Texts are NULL while a group is not described.
typedef enum category backlog_category_fn(const void *context, uint64_t key, const struct group_text *text,
                                          bool *is_overridden);
void backlog_categorize(struct backlog *backlog, backlog_category_fn *category_of_group, const void *context);
// The category of a group by error; false: unknown group.
bool backlog_category(const struct backlog *backlog, uint64_t key, enum category *category);

// The rollup: counts instead of rows. A series is the group, type, source and topic that its events share;
// its events are counted by `at`.
struct backlog_series {
    uint64_t group;                               // fingerprint
    struct bytes event_type, source_table, topic; // empty: absent
    int64_t first_at, last_at;                    // created_at, whole seconds since 1970; TIME_ABSENT
    int64_t newest_id;                            // of the event created last
    int64_t returned;                             // events that returned after they were republished
};
struct rollup_count {
    uint32_t series; // index
    int32_t at;
    int64_t count; // not 0
};
#define BUCKET_SECONDS 10
struct backlog_rollup {
    struct backlog_series *series;
    size_t series_count;
    struct rollup_count *retries; // at: retry_count; together all events
    size_t retry_count;
    struct rollup_count *hours; // at: hours since 1970; of the last 24 at least, of all for PIVOT_HOUR
    size_t hour_count;
    struct rollup_count *buckets; // at: BUCKET_SECONDS since 1970; of the last hour
    size_t bucket_count;
    int64_t highest_id;
};
// Replaces the rows or the rollup that the backlog held; descriptions stay. Takes the heap arrays over; the
// texts of series are copied.
void backlog_adopt_rollup(struct backlog *backlog, struct backlog_rollup *rollup);
bool backlog_has_rollup(const struct backlog *backlog);
// The fingerprints of the groups by error of one category; heap, the caller frees.
uint64_t *backlog_keys_of(const struct backlog *backlog, enum category category, size_t *count);

// Outcomes of the events of a group by error, counted since the rollup exists.
struct group_outcomes {
    int64_t resolved, discarded, reprocessed;
    int64_t since;    // start of counting, µs; of merged groups the earliest; 0: nothing was counted
    int64_t returned; // of those that are pending: returned after they were republished
    bool is_partial;  // more of them may have returned: not all ids are listed yet
};
// `returned` is ignored: it is counted by series.
void backlog_outcomes(struct backlog *backlog, uint64_t key, const struct group_outcomes *outcomes);

#define GROUP_SPARK 8 // columns for the last hour
#define GROUP_HEAT 24 // the last 24 hours
#define GROUP_TOP 3

struct group_share {
    const char *name; // NULL: absent in the table
    int64_t count;
};

// More of a group than its most common types and topics.
struct group_details {
    const struct group_share *types, *topics; // all that are present, most events first, then by name
    size_t type_count, topic_count;
    int64_t returned;                 // events that returned after they were republished
    const struct event_group *second; // of a pair: what its events have by the second pivot (value,
                                      // path_kind, text and category); else NULL
};

struct event_group {
    uint64_t key;             // by error: the fingerprint; else, and of merged ones, a number of this process
    const char *value;        // by error: 16 hex digits (of merged ones the smallest of their keys); else the
                              // value grouped by ("" where it is absent, or has no name)
    enum path_kind path_kind; // by path: the kind of that value
    const char *path, *path_term; // by path, where the maker of the list fills them in: the path, and the
                                  // term that chooses the group's events
    const uint64_t *parts;        // merged ones: their fingerprints, ascending; else NULL
    size_t part_count;            // 0: not merged
    struct group_text text;       // by error; pattern NULL while it is not described
    enum category category;       // by error, or of most events
    bool is_overridden;           // by error: the category was set by hand
    int64_t count;
    int64_t first_at, last_at;   // created_at, whole seconds; by error first_at is that of the group's life
    int64_t sample_id;           // the newest event
    uint32_t spark[GROUP_SPARK]; // arrivals in the last hour, oldest first
    uint32_t heat[GROUP_HEAT];   // arrivals per hour of the clock, the current one last
    double per_minute;           // over the last 5 whole minutes and this one so far
    int32_t retries_low, retries_high; // -1: not known (by hour, from the rollup)
    bool is_new;                       // first_at is less than an hour ago
    bool is_returned; // most of its events were republished before, or an operation had emptied it
    struct group_share types[GROUP_TOP], topics[GROUP_TOP];
    struct group_outcomes outcomes;      // by error; without the rollup only `returned`
    const struct group_details *details; // NULL: not asked for
};

// Groups by a pivot, largest first. within: only events of this group by error (two-level pivot), or NULL.
// Rates, curves and is_new fade only at the start of a minute of the clock; in between only events change
// them.
struct group_list {
    struct event_group *groups;
    size_t count;
    size_t total;   // groups that there are; more than count where the list is limited
    int64_t events; // of all groups, as are the two below
    uint32_t spark[GROUP_SPARK];
    double per_minute;
};
void backlog_groups(const struct backlog *backlog, enum pivot pivot, const uint64_t *within, int64_t now,
                    struct arena *arena, struct group_list *list);

// Where hostile or careless messages make each event a group of its own, a list has the first groups only:
// the largest, or those that come first in another order.
enum group_rank { RANK_COUNT, RANK_NEWEST, RANK_RATE, RANK_FIRST };
struct group_limit {
    size_t most;
    enum group_rank rank; // greatest first: most events, newest last event, highest rate, youngest
    bool is_reversed;     // smallest first
};
void backlog_groups_limited(const struct backlog *backlog, enum pivot pivot, const uint64_t *within,
                            const struct group_limit *limit, int64_t now, struct arena *arena,
                            struct group_list *list);

// For qsort and bsearch over pointers to groups.
int event_group_by_key(const void *left, const void *right);

// By error, with near-equal groups (core/fingerprint/merge) as one; `parts`: the single groups that were
// merged, and the total of single groups. Only groups within the limit are compared (NULL: all).
void backlog_groups_merged(const struct backlog *backlog, const struct group_limit *limit, int64_t now,
                           struct arena *arena, struct group_list *list, struct group_list *parts);

// One of the two above with the details of each group within the limit (NULL: all). From the rollup, groups
// by hour have none that returned.
void backlog_groups_detailed(const struct backlog *backlog, enum pivot pivot, bool is_merged,
                             const struct group_limit *limit, int64_t now, struct arena *arena,
                             struct group_list *list);

// By the pairs of values of two pivots, with details. A pair is named by the first, and by details->second.
// Only of rows, and what is known of a group's whole life is left out.
struct second_pivot {
    enum pivot pivot;
    struct path_values *paths; // of PIVOT_PATH; else NULL
};
void backlog_groups_paired(const struct backlog *backlog, enum pivot pivot, const struct second_pivot *second,
                           const struct group_limit *limit, int64_t now, struct arena *arena,
                           struct group_list *list);

// Notes that an operation that ended at this instant emptied the group, which need not be known yet. Events
// created later make the group is_returned. Returns false where it was known.
bool backlog_emptied(struct backlog *backlog, uint64_t key, int64_t at);

// Notes when the first event of the group was created (whole seconds) that was ever known: its first_at, also
// after the group was emptied.
void backlog_seen(struct backlog *backlog, uint64_t key, int64_t first_at);

// Ids of the events in a group of a pivot (value as in struct event_group, or by error several with commas
// between; NULL: all), newest first
// (created_at, then id); the caller frees.
void backlog_ids(const struct backlog *backlog, enum pivot pivot, const char *value, bool oldest_first,
                 int64_t **ids, size_t *count);
// Fills one pending event from the table: id, status, event_type, source_table, topic, retry_count, group,
// category, error_class, created_at to the second, and 1 for having returned. False: not pending, or known
// only in part. *hint (begin with 0) makes walking the ids up or down quick. The bytes are the backlog's.
bool backlog_event(const struct backlog *backlog, int64_t id, size_t *hint, struct event *event);
// How many events have each retry_count; the last one stands for all above. Returns their sum.
#define BACKLOG_RETRIES 256
int64_t backlog_retries(const struct backlog *backlog, int64_t counts[BACKLOG_RETRIES]);
// The group by error of one pending event; false: not pending.
bool backlog_group_of(const struct backlog *backlog, int64_t id, uint64_t *key);

#endif
