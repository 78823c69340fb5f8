// backlog_rows: the table inside a backlog, for the files that derive groups and lists.
#ifndef REDRIVE_CORE_BACKLOG_ROWS_H
#define REDRIVE_CORE_BACKLOG_ROWS_H

#include "core/backlog/backlog.h"
#include "base/intern.h"

// One pending event.
struct backlog_row {
    int64_t id;
    uint32_t created; // seconds since 1970, 0: absent
    uint32_t group;   // index into keys and infos
    uint16_t type, topic, source;
    uint8_t retries; // 255: that or more
    bool is_returned;
};

// A group by error, without its rows. There may be hundreds of thousands, most without texts and outcomes.
struct group_info {
    struct group_text *text; // in the backlog's arena; NULL: not described, or not kept
    enum category category;
    bool is_overridden;
    bool is_left_out;     // its category is known, its texts are not kept
    uint16_t error_class; // of that event, among the backlog's classes, which many groups share
    int64_t sample_id;    // the first event of the group that was seen
};
// Of a group; of one that is not described only the class, or nothing.
struct group_text backlog_text(const struct backlog *backlog, const struct group_info *info);

// What is known of a group beyond its pending events; most backlogs know it of no group.
struct group_life {
    int64_t emptied_at;
    int64_t seen_at;                 // seconds; TIME_ABSENT: not known
    struct group_outcomes *outcomes; // in the backlog's arena; NULL: none
};
const struct group_life *backlog_life(const struct backlog *backlog, size_t index);
struct group_outcomes *backlog_outcomes_of(struct backlog *backlog,
                                           size_t index); // made where there are none

// The rows in two arrays that are both sorted and grow at their ends: a scan from the newest event down fills
// `older` (descending), arrivals go to `newer` (ascending), and every id in older is below every id in newer.
struct side {
    struct backlog_row *rows;
    size_t count;
    size_t capacity;
    bool is_descending;
};

// A series as a row: its id is that of the newest event; created and last_at are the first and the last time.
struct rollup_series_row {
    struct backlog_row row;
    int64_t last_at;  // seconds
    int64_t returned; // events that returned after they were republished
};

struct backlog {
    struct side older, newer;
    bool has_rollup;              // then rollup and series_rows, and no rows
    struct backlog_rollup rollup; // without its series:
    struct rollup_series_row *series_rows;
    size_t series_count;
    int64_t counted; // all events of the rollup
    int64_t highest;
    struct keys keys;
    struct group_info *infos;
    size_t info_capacity;
    struct group_life *lives; // of the first groups, as many as anything is known of
    size_t life_count, life_capacity;
    struct intern types, topics, sources, classes;
    struct arena texts, outcomes;
    struct path_values *paths;     // borrowed; NULL: none
    size_t texts_kept, texts_most; // groups with texts; 0: all of them
};

// The index of a group by its key, in keys and infos; a new one has no text yet.
uint32_t backlog_group_index(struct backlog *backlog, uint64_t key, bool *is_new);
void backlog_rollup_release(struct backlog *backlog);

struct tally_query {
    enum pivot pivot;
    const struct second_pivot *second; // as of backlog_groups_paired; NULL: none
    const uint64_t *within;            // as of backlog_groups
    const uint32_t
        *leaders; // for PIVOT_ERROR: the index of the group that the i-th one is counted with; NULL: itself
    bool is_detailed;                // fill event_group.details
    const struct group_limit *limit; // NULL: none
};
// The number of the value that a row is counted under; of a pair the first is in the upper half.
uint64_t backlog_value(const struct backlog *backlog, const struct backlog_row *row,
                       const struct tally_query *query);
// The texts that rows hold numbers of, or NULL: this pivot counts no text.
const struct intern *backlog_interned(const struct backlog *backlog, enum pivot pivot);
// The values of the groups that a limited list has; returns how many groups there are. recent_from: seconds
// since 1970, from which events count for the rate. `within` is a known group.
size_t backlog_rank(const struct backlog *backlog, const struct tally_query *query, int64_t recent_from,
                    struct keys *chosen);
void backlog_tally(const struct backlog *backlog, const struct tally_query *query, int64_t now,
                   struct arena *arena, struct group_list *list);

// The i-th row, newest id first.
const struct backlog_row *backlog_row(const struct backlog *backlog, size_t i);

#endif
