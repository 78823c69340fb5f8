// column: one text of many events: id → text, for searching (core/backlog/texts).
//
// Filled from the newest event down and, for arrivals, upwards. Its loader sets `low … high`, the range of
// ids that is complete. An id in that range without a text belongs to an event that arrived late, or to none.
// One thread.
#ifndef REDRIVE_CORE_BACKLOG_COLUMN_H
#define REDRIVE_CORE_BACKLOG_COLUMN_H

#include <stdbool.h>
#include "core/backlog/texts.h"

struct column {
    struct texts *texts;
    struct column_side {
        int64_t *ids;
        uint32_t *numbers;
        size_t count, id_capacity, number_capacity;
    } older, newer;    // older: ids descending; newer: ascending, all above those of older
    int64_t low, high; // the complete range, both included; high 0: nothing yet
    bool is_bottom;    // complete also below low
};

void column_init(struct column *column, const uint64_t key[2]);
void column_release(struct column *column);
// In any order, quick at both ends; an id that has a text gets the new one.
void column_add(struct column *column, int64_t id, struct bytes text);
void column_put(struct column *column, int64_t id,
                uint32_t number); // of a known text, or TEXT_ABSENT, TEXT_ELSEWHERE
// The number of the event's text. *hint (begin with 0) makes walking the ids up or down quick.
bool column_find(const struct column *column, int64_t id, size_t *hint, uint32_t *number);
// The same for many ids in any order, quickest for neighbours in descending order. Stops at the first id
// without a number; returns how many it found.
size_t column_numbers(const struct column *column, const int64_t *ids, size_t count, size_t *hint,
                      uint32_t *numbers);
bool column_covers(const struct column *column, int64_t id);
size_t column_count(const struct column *column);
size_t column_memory(const struct column *column);

// The events of a column that was filled downwards, as a pack for others (core/backlog/pack); appended.
void column_pack(const struct column *column, struct strbuf *out);
// Adds the events of a pack with ids below `below` that are not among `without` (descending). `below` is not
// above any id that the column holds. Every pack is checked; false: the bytes are no pack, and no event was
// added.
struct column_ids {
    const int64_t *ids;
    size_t count;
};
bool column_adopt(struct column *column, struct bytes pack, int64_t below, struct column_ids without);

#endif
