#include "core/backlog/column.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

void
column_init(struct column *column, const uint64_t key[2])
{
    *column = (struct column){.texts = texts_create(key)};
}

static void
side_release(struct column_side *side)
{
    free(side->ids);
    free(side->numbers);
}

void
column_release(struct column *column)
{
    texts_destroy(column->texts);
    side_release(&column->older);
    side_release(&column->newer);
    *column = (struct column){0};
}

// Where id stands, or would be put.
static size_t
column_position(const struct column_side *side, bool is_descending, int64_t id)
{
    size_t low = 0;
    size_t high = side->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_descending ? side->ids[middle] > id : side->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
side_put(struct column_side *side, bool is_descending, int64_t id, uint32_t number)
{
    bool is_last = side->count == 0 ||
                   (is_descending ? id < side->ids[side->count - 1] : id > side->ids[side->count - 1]);
    size_t at = is_last ? side->count : column_position(side, is_descending, id);
    if (at < side->count && side->ids[at] == id) {
        side->numbers[at] = number;
        return;
    }
    side->ids = alloc_grow(side->ids, side->count, &side->id_capacity, sizeof *side->ids);
    side->numbers = alloc_grow(side->numbers, side->count, &side->number_capacity, sizeof *side->numbers);
    memmove(side->ids + at + 1, side->ids + at, (side->count - at) * sizeof *side->ids);
    memmove(side->numbers + at + 1, side->numbers + at, (side->count - at) * sizeof *side->numbers);
    side->ids[at] = id;
    side->numbers[at] = number;
    side->count++;
}

static bool
is_newer(const struct column *column, int64_t id)
{
    return column->newer.count ? id >= column->newer.ids[0]
                               : column->older.count && id > column->older.ids[0];
}

void
column_put(struct column *column, int64_t id, uint32_t number)
{
    if (is_newer(column, id))
        side_put(&column->newer, false, id, number);
    else
        side_put(&column->older, true, id, number);
}

void
column_add(struct column *column, int64_t id, struct bytes text)
{
    column_put(column, id, texts_add(column->texts, text));
}

bool
column_find(const struct column *column, int64_t id, size_t *hint, uint32_t *number)
{
    bool newer = is_newer(column, id);
    const struct column_side *side = newer ? &column->newer : &column->older;
    size_t at = *hint;
    // Walking down meets the next place in one direction, walking up in the other.
    if (at >= side->count || side->ids[at] != id) {
        if (at + 1 < side->count && side->ids[at + 1] == id)
            at++;
        else if (at > 0 && at - 1 < side->count && side->ids[at - 1] == id)
            at--;
        else
            at = column_position(side, !newer, id);
    }
    if (at >= side->count || side->ids[at] != id)
        return false;
    *hint = at;
    *number = side->numbers[at];
    return true;
}

size_t
column_numbers(const struct column *column, const int64_t *ids, size_t count, size_t *hint, uint32_t *numbers)
{
    const struct column_side *older = &column->older;
    size_t done = 0;
    while (done < count && column_find(column, ids[done], hint, &numbers[done])) {
        done++;
        size_t at = *hint + 1;
        while (done < count && at < older->count && older->ids[at] == ids[done])
            numbers[done++] = older->numbers[at++];
        *hint = at - 1;
    }
    return done;
}

bool
column_covers(const struct column *column, int64_t id)
{
    return column->high && id <= column->high && (id >= column->low || column->is_bottom);
}

size_t
column_count(const struct column *column)
{
    return column->older.count + column->newer.count;
}

size_t
column_memory(const struct column *column)
{
    const struct column_side *sides[] = {&column->older, &column->newer};
    size_t bytes = column->texts ? texts_memory(column->texts) : 0;
    for (int i = 0; i < 2; i++)
        bytes += sides[i]->id_capacity * sizeof *sides[i]->ids +
                 sides[i]->number_capacity * sizeof *sides[i]->numbers;
    return bytes;
}
