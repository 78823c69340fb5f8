// States of the scan in a row, and how those behind an edit are met again.
#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/check.h"
#include "ui/editor/tree.h"

static const uint32_t GONE = 0x7FFFFFFF; // the offset of a byte that was taken away

void
chain_add_point(struct tree_chain *chain, const struct scan_head *head, const struct scan_level *levels)
{
    chain->points =
        alloc_grow(chain->points, chain->point_count, &chain->point_capacity, sizeof *chain->points);
    chain->points[chain->point_count++] =
        (struct tree_point){.head = *head, .levels = chain->level_count, .errors = chain->error_count};
    for (int i = 0; i < head->depth; i++) {
        chain->levels =
            alloc_grow(chain->levels, chain->level_count, &chain->level_capacity, sizeof *chain->levels);
        chain->levels[chain->level_count++] = levels[i];
    }
}

void
chain_add_error(struct tree_chain *chain, size_t at, const char *expected)
{
    if (!expected || chain->error_count == CHECK_ERRORS)
        return;
    chain->errors =
        alloc_grow(chain->errors, chain->error_count, &chain->error_capacity, sizeof *chain->errors);
    chain->errors[chain->error_count++] = (struct tree_error){.at = at, .expected = expected};
}

// A document without containers has no levels at all.
static const struct scan_level *
levels_of(const struct tree_chain *chain, size_t i)
{
    return chain->levels ? chain->levels + chain->points[i].levels : NULL;
}

void
chain_load(const struct tree_chain *chain, size_t i, struct syntax_scan *scan)
{
    const struct tree_point *point = &chain->points[i];
    scan->head = point->head;
    scan->head.lowest = point->head.depth;
    if (point->head.depth)
        memcpy(scan->levels, chain->levels + point->levels,
               (size_t)point->head.depth * sizeof *chain->levels);
}

void
chain_release(struct tree_chain *chain)
{
    free(chain->points);
    free(chain->levels);
    free(chain->errors);
    *chain = (struct tree_chain){0};
}

size_t
chain_point_at(const struct tree_chain *chain, size_t at)
{
    size_t low = 0;
    size_t high = chain->point_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (chain->points[middle].head.at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// The index of the first point from `first` on that does not lie before `at`.
static size_t
first_behind(const struct tree_chain *chain, size_t first, size_t at)
{
    while (first < chain->point_count && chain->points[first].head.at < at)
        first++;
    return first;
}

// Copies the points from index `first` on, with what belongs to them.
static void
copy_chain(struct tree_chain *to, const struct tree_chain *from, size_t first)
{
    to->point_count = to->level_count = to->error_count = 0;
    for (size_t i = first; i < from->point_count; i++) {
        const struct tree_point *point = &from->points[i];
        chain_add_point(to, &point->head, levels_of(from, i));
        to->points[to->point_count - 1].errors = point->errors - from->points[first].errors;
    }
    for (size_t i = from->points[first].errors; i < from->error_count; i++)
        chain_add_error(to, from->errors[i].at, from->errors[i].expected);
}

struct shift {
    size_t at, end; // what was replaced
    size_t by;      // and moves what is behind, modulo 2^64
};

static uint32_t
shift_offset(uint32_t offset, const struct shift *shift)
{
    if (offset < shift->at || offset == SCAN_NONE)
        return offset;
    return offset >= shift->end ? (uint32_t)(offset + shift->by) : GONE;
}

static void
shift_level(struct scan_level *level, const struct shift *shift)
{
    uint32_t is_object = level->open & SCAN_OBJECT;
    level->open = shift_offset(level->open & ~SCAN_OBJECT, shift) | is_object;
    if (is_object)
        level->place = shift_offset(level->place, shift);
}

static void
shift_chain(struct tree_chain *chain, size_t first, const struct shift *shift)
{
    if (first == chain->point_count)
        return;
    for (size_t i = first; i < chain->point_count; i++) {
        struct scan_head *head = &chain->points[i].head;
        head->at += shift->by;
        if (head->value != SIZE_MAX && head->value >= shift->at)
            head->value = head->value >= shift->end ? head->value + shift->by : GONE;
    }
    for (size_t i = chain->points[first].levels; i < chain->level_count; i++)
        shift_level(&chain->levels[i], shift);
    for (size_t i = chain->points[first].errors; i < chain->error_count; i++)
        chain->errors[i].at += shift->by;
}

void
tree_set_aside(struct tree *tree, size_t first, size_t at, size_t removed, size_t inserted)
{
    struct tree_chain *known = &tree->known;
    struct tree_chain *aside = &tree->aside;
    size_t end = at + removed;
    size_t old = first_behind(aside, tree->aside_first, end);
    size_t next = first_behind(known, first, end);
    // Errors beyond the limit are not known, so they cannot be known again.
    bool is_whole = known->error_count < CHECK_ERRORS;
    if (next < known->point_count && is_whole && known->point_count - next > aside->point_count - old) {
        copy_chain(aside, known, next);
        old = 0;
    }
    tree->aside_first = old;
    shift_chain(aside, old, &(struct shift){.at = at, .end = end, .by = inserted - removed});
}

size_t
tree_next_aside(struct tree *tree)
{
    tree->aside_first = first_behind(&tree->aside, tree->aside_first, tree->front.head.at + 1);
    return tree->aside_first < tree->aside.point_count ? tree->aside.points[tree->aside_first].head.at
                                                       : SIZE_MAX;
}

static bool
same_head(const struct scan_head *a, const struct scan_head *b)
{
    return a->at == b->at && a->value == b->value && a->depth == b->depth && a->path_depth == b->path_depth &&
           a->state == b->state && a->token == b->token && a->is_recovering == b->is_recovering &&
           (a->token != SCAN_NUMBER || a->phase == b->phase) &&
           (a->token != SCAN_STRING || a->is_name == b->is_name);
}

// The same containers around, and the same names; indexes may differ, because elements came or went.
static bool
same_levels(const struct scan_level *a, const struct scan_level *b, int depth)
{
    for (int i = 0; i < depth; i++) {
        bool is_object = a[i].open & SCAN_OBJECT;
        if (a[i].open != b[i].open || (is_object && a[i].place != b[i].place))
            return false;
    }
    return true;
}

// Adds the point to those that are known, unless one is near; *lowest is the least depth since the last one.
static void
add_thinly(struct tree *tree, const struct syntax_scan *scan, int *lowest)
{
    struct tree_chain *known = &tree->known;
    *lowest = scan->head.lowest < *lowest ? scan->head.lowest : *lowest;
    if (scan->head.at - known->points[known->point_count - 1].head.at < tree->stride / 2)
        return;
    chain_add_point(known, &scan->head, scan->levels);
    known->points[known->point_count - 1].head.lowest = *lowest;
    *lowest = scan->head.depth;
}

// In the containers that both states share, the elements behind have moved by as many as the current one.
static void
renumber(struct syntax_scan *scan, const struct syntax_scan *met, const struct scan_level *old)
{
    for (int i = 0; i < scan->head.depth && i < met->head.depth; i++) {
        bool is_array = !(scan->levels[i].open & SCAN_OBJECT);
        if (scan->levels[i].open != met->levels[i].open)
            return;
        if (is_array)
            scan->levels[i].place += met->levels[i].place - old[i].place;
    }
}

bool
tree_resume(struct tree *tree)
{
    struct tree_chain *aside = &tree->aside;
    struct syntax_scan *front = &tree->front;
    size_t first = first_behind(aside, tree->aside_first, front->head.at);
    tree->aside_first = first;
    if (first == aside->point_count)
        return false;
    const struct tree_point *old = &aside->points[first];
    const struct scan_level *levels = levels_of(aside, first);
    if (!same_head(&front->head, &old->head) || !same_levels(front->levels, levels, front->head.depth))
        return false;

    struct syntax_scan met = *front;
    struct syntax_scan scan = met;
    int lowest = front->head.lowest;
    size_t errors = old->errors;
    add_thinly(tree, front, &lowest);
    for (size_t i = first + 1; i < aside->point_count; i++) {
        for (; errors < aside->points[i].errors && errors < aside->error_count; errors++)
            chain_add_error(&tree->known, aside->errors[errors].at, aside->errors[errors].expected);
        chain_load(aside, i, &scan);
        renumber(&scan, &met, levels);
        scan.head.lowest = aside->points[i].head.lowest;
        add_thinly(tree, &scan, &lowest);
    }
    bool is_on = scan.head.at > front->head.at;
    *front = scan;
    front->head.lowest = lowest;
    aside->point_count = tree->aside_first = 0;
    return is_on;
}
