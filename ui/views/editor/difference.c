#include "ui/views/editor/difference.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    AROUND = 3,           // lines that are the same, shown beside those that differ
    CELLS_MOST = 1 << 20, // of the table; larger parts are shown as replaced whole
};

struct lines {
    struct bytes *list;
    size_t count;
};

static struct lines
split_lines(struct bytes text, struct arena *arena)
{
    struct lines lines = {0};
    size_t count = 1;
    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == '\n';
    lines.list = arena_array(arena, count, sizeof *lines.list);
    for (size_t at = 0; lines.count < count; lines.count++) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        end = end == SIZE_MAX ? text.len : end;
        lines.list[lines.count] = bytes_slice(text, at, end - at);
        at = end + 1;
    }
    return lines;
}

static void
add_line(struct difference *difference, enum difference_kind kind, struct bytes text)
{
    difference->lines[difference->count++] = (struct difference_line){.kind = kind, .text = text};
    difference->removed += kind == DIFFERENCE_REMOVED;
    difference->added += kind == DIFFERENCE_ADDED;
}

// The longest common subsequence of what is between the common beginning and end.
static void
compare(struct difference *difference, struct lines a, struct lines b, struct arena *arena)
{
    if (a.count + 1 > CELLS_MOST / (b.count + 1)) {
        for (size_t i = 0; i < a.count; i++)
            add_line(difference, DIFFERENCE_REMOVED, a.list[i]);
        for (size_t i = 0; i < b.count; i++)
            add_line(difference, DIFFERENCE_ADDED, b.list[i]);
        return;
    }
    size_t width = b.count + 1;
    uint32_t *longest = arena_array(arena, (a.count + 1) * width, sizeof *longest);
    for (size_t i = a.count; i-- > 0;) {
        for (size_t j = b.count; j-- > 0;) {
            uint32_t down = longest[(i + 1) * width + j], right = longest[i * width + j + 1];
            longest[i * width + j] = bytes_equal(a.list[i], b.list[j]) ? longest[(i + 1) * width + j + 1] + 1
                                     : down > right                    ? down
                                                                       : right;
        }
    }
    size_t i = 0, j = 0;
    while (i < a.count || j < b.count) {
        if (i < a.count && j < b.count && bytes_equal(a.list[i], b.list[j])) {
            add_line(difference, DIFFERENCE_SAME, b.list[j]);
            i++;
            j++;
        } else if (i < a.count &&
                   (j == b.count || longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
            add_line(difference, DIFFERENCE_REMOVED, a.list[i++]);
        } else {
            add_line(difference, DIFFERENCE_ADDED, b.list[j++]);
        }
    }
}

// Lines far from every difference become one gap.
static void
leave_out(struct difference *difference)
{
    size_t kept = 0;
    size_t next = 0; // the first line at or behind i that differs
    size_t since = SIZE_MAX;
    for (size_t i = 0; i < difference->count; i++) {
        struct difference_line line = difference->lines[i];
        if (next < i)
            next = i;
        while (next < difference->count && difference->lines[next].kind == DIFFERENCE_SAME)
            next++;
        since = line.kind != DIFFERENCE_SAME ? 0 : since == SIZE_MAX ? SIZE_MAX : since + 1;
        bool is_near = since <= AROUND || (next < difference->count && next - i <= AROUND);
        if (is_near)
            difference->lines[kept++] = line;
        else if (kept == 0 || difference->lines[kept - 1].kind != DIFFERENCE_GAP)
            difference->lines[kept++] = (struct difference_line){.kind = DIFFERENCE_GAP};
    }
    difference->count = kept;
}

struct difference
difference_of(struct bytes before, struct bytes after, struct arena *arena)
{
    struct lines a = split_lines(before, arena), b = split_lines(after, arena);
    struct difference difference = {0};
    size_t first = 0, last = 0;
    while (first < a.count && first < b.count && bytes_equal(a.list[first], b.list[first]))
        first++;
    while (last < a.count - first && last < b.count - first &&
           bytes_equal(a.list[a.count - 1 - last], b.list[b.count - 1 - last]))
        last++;
    difference.lines = arena_array(arena, a.count + b.count + 1, sizeof *difference.lines);
    for (size_t i = 0; i < first; i++)
        add_line(&difference, DIFFERENCE_SAME, a.list[i]);
    compare(&difference, (struct lines){a.list + first, a.count - first - last},
            (struct lines){b.list + first, b.count - first - last}, arena);
    for (size_t i = 0; i < last; i++)
        add_line(&difference, DIFFERENCE_SAME, a.list[a.count - last + i]);
    leave_out(&difference);
    return difference;
}
