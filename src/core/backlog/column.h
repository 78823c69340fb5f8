// column: one text of many events: id → text, for searching (core/backlog/texts).
//
// Filled from the newest event down and, for arrivals, upwards; `low … high` is the range of ids in which it
// holds every event it was told to hold, which is for its loader to say. An id within that is not there came
// late, or is no such event. One thread.
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
    int64_t low, high; // complete in between, both included; high 0: nothing yet
    bool is_bottom;    // complete also below low
};

void column_init(struct column *column, const uint64_t key[2]);
void column_release(struct column *column);
// In any order, quick at both ends; an id that is there gets the new text.
void column_add(struct column *column, int64_t id, struct bytes text);
void column_put(struct column *column, int64_t id, uint32_t number); // of a text that is there, or of none
// The number of the event's text. *hint (begin with 0) makes walking the ids up or down quick.
bool column_find(const struct column *column, int64_t id, size_t *hint, uint32_t *number);
// The same of many, in any order, quickest where they stand in a row downwards: of how many, from the first
// on, there is one.
size_t column_numbers(const struct column *column, const int64_t *ids, size_t count, size_t *hint,
                      uint32_t *numbers);
bool column_covers(const struct column *column, int64_t id);
size_t column_count(const struct column *column);
size_t column_memory(const struct column *column);

// The events of a column that was filled downwards, as a pack for others (core/backlog/pack); appended.
void column_pack(const struct column *column, struct strbuf *out);
// Adds those events of a pack whose ids lie below `below`, under all that are held, and are not among
// `without`, which is descending. It is checked, wherever it comes from; false: it is none, and no event was
// added.
struct column_ids {
    const int64_t *ids;
    size_t count;
};
bool column_adopt(struct column *column, struct bytes pack, int64_t below, struct column_ids without);

#endif
