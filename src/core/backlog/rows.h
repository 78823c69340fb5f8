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

// A group by error, without its rows.
struct group_info {
    struct group_text text; // in the backlog's arena; pattern NULL while it is not described
    enum category category;
    bool is_overridden;
    int64_t sample_id; // the first event of the group that was seen
    int64_t emptied_at;
    struct group_outcomes outcomes;
};

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
    int64_t last_at; // seconds
};

struct backlog {
    struct side older, newer;
    bool has_rollup; // then rollup and series_rows, and no rows
    struct backlog_rollup rollup;
    struct rollup_series_row *series_rows; // in the order of rollup.series
    int64_t counted;                       // all events of the rollup
    int64_t highest;
    struct keys keys;
    struct group_info *infos;
    size_t info_capacity;
    struct intern types, topics, sources;
    struct arena texts;
};

// The index of a group by its key, in keys and infos; a new one has no text yet.
uint32_t backlog_group_index(struct backlog *backlog, uint64_t key, bool *is_new);
void backlog_rollup_release(struct backlog *backlog);

struct tally_query {
    enum pivot pivot;
    const uint64_t *within; // as of backlog_groups
    const uint32_t
        *leaders; // for PIVOT_ERROR: the index of the group that the i-th one is counted with; NULL: itself
    bool is_detailed; // fill event_group.details
};
void backlog_tally(const struct backlog *backlog, const struct tally_query *query, int64_t now,
                   struct arena *arena, struct group_list *list);

// The i-th row, newest id first.
const struct backlog_row *backlog_row(const struct backlog *backlog, size_t i);

#endif
