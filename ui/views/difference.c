#include "ui/views/difference.h"

#include <string.h>
#include "core/diff/diff.h"

// With a line end behind the last line too, so that it is like the others.
static struct bytes
ended(struct bytes text, struct arena *arena)
{
    char *copy = arena_alloc(arena, text.len + 1);
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\n';
    return (struct bytes){copy, text.len + 1};
}

static void
difference_add(struct difference *difference, enum difference_kind kind, const struct diff_text *text,
               size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        struct bytes line = diff_line(text, i);
        difference->lines[difference->count++] =
            (struct difference_line){.kind = kind, .text = bytes_slice(line, 0, line.len - 1)};
    }
    difference->removed += kind == DIFFERENCE_REMOVED ? count : 0;
    difference->added += kind == DIFFERENCE_ADDED ? count : 0;
}

static void
add_gap(struct difference *difference)
{
    difference->lines[difference->count++] = (struct difference_line){.kind = DIFFERENCE_GAP};
}

static void
add_hunk(struct difference *difference, const struct diff *diff, const struct diff_hunk *hunk)
{
    size_t at = hunk->a;
    for (size_t i = hunk->first_change; i < hunk->first_change + hunk->change_count; i++) {
        const struct diff_change *change = &diff->changes[i];
        difference_add(difference, DIFFERENCE_SAME, &diff->a, at, change->a - at);
        difference_add(difference, DIFFERENCE_REMOVED, &diff->a, change->a, change->a_count);
        difference_add(difference, DIFFERENCE_ADDED, &diff->b, change->b, change->b_count);
        at = change->a + change->a_count;
    }
    difference_add(difference, DIFFERENCE_SAME, &diff->a, at, hunk->a + hunk->a_count - at);
}

struct difference
difference_of(struct bytes before, struct bytes after, size_t around, struct arena *arena)
{
    struct difference difference = {0};
    struct diff_hunk hunk = {0};
    struct diff *diff = diff_create(ended(before, arena), ended(after, arena), DIFF_WORK);
    // A line each, and a gap before each hunk and at the end.
    difference.lines =
        arena_array(arena, 2 * (diff->a.line_count + diff->b.line_count) + 2, sizeof *difference.lines);
    size_t at = 0;
    while (diff_next_hunk(diff, around, &hunk)) {
        if (hunk.a > at)
            add_gap(&difference);
        add_hunk(&difference, diff, &hunk);
        at = hunk.a + hunk.a_count;
    }
    if (at < diff->a.line_count)
        add_gap(&difference);
    diff_destroy(diff);
    return difference;
}
