// difference: the lines in which two texts differ, for pages that show them (core/diff).
#ifndef REDRIVE_UI_VIEWS_DIFFERENCE_H
#define REDRIVE_UI_VIEWS_DIFFERENCE_H

#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"

enum difference_kind { DIFFERENCE_SAME, DIFFERENCE_REMOVED, DIFFERENCE_ADDED, DIFFERENCE_GAP };

struct difference_line {
    enum difference_kind kind;
    struct bytes text; // without its line end, in the arena; not of a gap
};

struct difference {
    struct difference_line *lines; // in the arena
    size_t count;
    size_t removed, added;
};

// With `around` equal lines beside those that differ; the others become gaps. Removed lines stand before the
// added ones of a place. A line end at the end of one text only counts as an empty line.
struct difference difference_of(struct bytes before, struct bytes after, size_t around, struct arena *arena);

#endif
