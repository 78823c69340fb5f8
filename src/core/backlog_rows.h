// backlog_rows: the table inside a backlog, for what is derived from it.
#ifndef REDRIVE_CORE_BACKLOG_ROWS_H
#define REDRIVE_CORE_BACKLOG_ROWS_H

#include "core/backlog.h"
#include "core/words.h"

// One pending event.
struct row {
    int64_t id;
    uint32_t created; // seconds since 1970, 0: absent
    uint32_t group;   // index into keys and infos
    uint16_t type, topic, source;
    uint8_t retries; // 255: that or more
};

// What is known of a group by error apart from its rows.
struct group_info {
    struct group_text text; // in the backlog's arena; pattern NULL while it is not described
    enum category category;
    int64_t sample_id; // the event it was first seen with
    int64_t emptied_at;
};

// The rows in two arrays that are both sorted and grow at their ends: a scan from the newest event down fills
// `older` (descending), arrivals go to `newer` (ascending), and every id in older is below every id in newer.
struct side {
    struct row *rows;
    size_t count;
    size_t capacity;
    bool is_descending;
};

struct backlog {
    struct side older, newer;
    int64_t highest;
    struct keys keys;
    struct group_info *infos;
    size_t info_capacity;
    struct words types, topics, sources;
    struct arena texts;
};

// The i-th row, newest id first.
const struct row *backlog_row(const struct backlog *backlog, size_t i);

#endif
