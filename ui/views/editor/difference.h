// difference: the lines in which two texts differ, with three lines around each place.
#ifndef REDRIVE_UI_VIEWS_EDITOR_DIFFERENCE_H
#define REDRIVE_UI_VIEWS_EDITOR_DIFFERENCE_H

#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"

enum difference_kind { DIFFERENCE_SAME, DIFFERENCE_REMOVED, DIFFERENCE_ADDED, DIFFERENCE_GAP };

struct difference_line {
    enum difference_kind kind;
    struct bytes text; // a view of the one or the other; not of a gap
};

struct difference {
    struct difference_line *lines; // in the arena
    size_t count;
    size_t removed, added;
};

// Removed lines stand before the added ones of a place.
struct difference difference_of(struct bytes before, struct bytes after, struct arena *arena);

#endif
