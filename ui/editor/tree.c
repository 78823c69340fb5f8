#include "ui/editor/tree.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/check.h"

static void
tree_add_point(struct tree *tree)
{
    struct scan_head *head = &tree->front.head;
    tree->points = alloc_grow(tree->points, tree->point_count, &tree->point_capacity, sizeof *tree->points);
    tree->points[tree->point_count++] =
        (struct tree_point){.head = *head, .levels = tree->level_count, .errors = tree->error_count};
    for (int i = 0; i < head->depth; i++) {
        tree->levels =
            alloc_grow(tree->levels, tree->level_count, &tree->level_capacity, sizeof *tree->levels);
        tree->levels[tree->level_count++] = tree->front.levels[i];
    }
    head->lowest = head->depth;
}

static void
load_point(const struct tree *tree, size_t i, struct syntax_scan *scan)
{
    const struct tree_point *point = &tree->points[i];
    scan->head = point->head;
    scan->head.lowest = point->head.depth;
    if (point->head.depth)
        memcpy(scan->levels, tree->levels + point->levels, (size_t)point->head.depth * sizeof *tree->levels);
}

static void
copy_scan(struct syntax_scan *to, const struct syntax_scan *from)
{
    to->head = from->head;
    memcpy(to->levels, from->levels, (size_t)from->head.depth * sizeof *from->levels);
}

void
tree_begin(struct tree *tree, struct buffer *buffer)
{
    tree->buffer = buffer;
    tree->stride = tree->stride ? tree->stride : TREE_STRIDE;
    tree->point_count = tree->level_count = tree->error_count = 0;
    scan_begin(&tree->front);
    tree->near.head.at = SIZE_MAX;
    tree_add_point(tree);
}

void
tree_release(struct tree *tree)
{
    free(tree->points);
    free(tree->levels);
    free(tree->errors);
    *tree = (struct tree){0};
}

// The last point at or before `at`.
static size_t
point_at(const struct tree *tree, size_t at)
{
    size_t low = 0;
    size_t high = tree->point_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tree->points[middle].head.at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void
tree_edited(struct tree *tree, size_t at)
{
    if (tree->near.head.at != SIZE_MAX && tree->near.head.at + SCAN_REACH > at)
        tree->near.head.at = SIZE_MAX;
    if (tree->front.head.at + SCAN_REACH <= at)
        return;
    size_t last = point_at(tree, at < SCAN_REACH ? 0 : at - SCAN_REACH);
    const struct tree_point *point = &tree->points[last];
    tree->point_count = last + 1;
    tree->level_count = point->levels + (size_t)point->head.depth;
    tree->error_count = point->errors;
    load_point(tree, last, &tree->front);
}

static void
add_error(struct tree *tree, size_t at, const char *expected)
{
    if (!expected || tree->error_count == CHECK_ERRORS)
        return;
    tree->errors = alloc_grow(tree->errors, tree->error_count, &tree->error_capacity, sizeof *tree->errors);
    tree->errors[tree->error_count++] = (struct tree_error){.at = at, .expected = expected};
}

bool
tree_is_read(const struct tree *tree)
{
    return tree->front.head.at >= buffer_len(tree->buffer);
}

bool
tree_next(struct tree *tree, struct syntax_scan *scan, size_t limit, struct syntax_piece *piece)
{
    size_t from = scan->head.at;
    bool is_found = scan_next(scan, tree->buffer, limit, piece);
    tree->work += scan->head.at - from;
    return is_found;
}

void
tree_read(struct tree *tree, size_t to)
{
    struct syntax_scan *front = &tree->front;
    size_t len = buffer_len(tree->buffer);
    if (to > len)
        to = len;
    while (front->head.at < to) {
        size_t point = tree->points[tree->point_count - 1].head.at + tree->stride;
        struct syntax_piece piece;
        if (tree_next(tree, front, point < to ? point : to, &piece))
            add_error(tree, piece.from, piece.expected);
        if (front->head.at >= point)
            tree_add_point(tree);
    }
}

void
tree_keep(struct tree *tree, const struct syntax_scan *scan)
{
    copy_scan(&tree->near, scan);
}

void
tree_seek(struct tree *tree, size_t at, struct syntax_scan *scan)
{
    tree_read(tree, at);
    size_t point = point_at(tree, at);
    size_t from = tree->points[point].head.at;
    const struct syntax_scan *base = NULL;
    if (tree->near.head.at != SIZE_MAX && tree->near.head.at <= at && tree->near.head.at > from)
        base = &tree->near;
    if (tree->front.head.at <= at && tree->front.head.at > (base ? base->head.at : from))
        base = &tree->front;
    if (base)
        copy_scan(scan, base);
    else
        load_point(tree, point, scan);
    struct syntax_piece piece;
    while (scan->head.at < at && tree_next(tree, scan, at, &piece))
        continue;
}

bool
tree_leave(struct tree *tree, struct syntax_scan *scan, int depth, struct syntax_piece *piece)
{
    size_t len = buffer_len(tree->buffer);
    for (;;) {
        size_t point = point_at(tree, scan->head.at) + 1;
        if (point == tree->point_count)
            tree_read(tree, tree->points[point - 1].head.at + tree->stride);
        bool has_next = point < tree->point_count;
        // The depth falls below in no token up to the next point.
        if (has_next && tree->points[point - 1].head.at == scan->head.at &&
            tree->points[point].head.lowest > depth) {
            load_point(tree, point, scan);
            continue;
        }
        size_t end = has_next ? tree->points[point].head.at : len;
        while (scan->head.at < end && tree_next(tree, scan, end, piece))
            if (scan->head.depth <= depth)
                return true;
        if (end >= len)
            return false;
        load_point(tree, point, scan);
    }
}

static size_t
token_end(struct tree *tree, struct syntax_scan *scan, struct syntax_piece piece)
{
    size_t end = piece.from + piece.len;
    while (scan->head.token != SCAN_BETWEEN && tree_next(tree, scan, scan->head.at + TREE_STRIDE, &piece) &&
           !piece.begins)
        end = piece.from + piece.len;
    return end;
}

bool
tree_value_end(struct tree *tree, size_t from, size_t *end)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    tree_seek(tree, from, &scan);
    if (!tree_next(tree, &scan, from + TREE_STRIDE, &piece) || piece.from != from || !piece.begins)
        return false;
    bool is_container = piece.kind == JSON_OBJECT_BEGIN || piece.kind == JSON_ARRAY_BEGIN;
    if (is_container) {
        if (!tree_leave(tree, &scan, piece.depth, &piece) || scan.head.value != from)
            return false;
        *end = piece.from + piece.len;
        return true;
    }
    if (!scan_is_value(&piece) && scan.head.value != from)
        return false;
    *end = token_end(tree, &scan, piece);
    return true;
}

size_t
tree_string_end(struct tree *tree, size_t from)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    tree_seek(tree, from, &scan);
    if (!tree_next(tree, &scan, from + TREE_STRIDE, &piece))
        return buffer_len(tree->buffer);
    return token_end(tree, &scan, piece);
}

bool
tree_children(struct tree *tree, size_t from, struct tree_children *children)
{
    struct syntax_piece piece;
    *children = (struct tree_children){.from = from, .name = SIZE_MAX, .index = SIZE_MAX};
    tree_seek(tree, from, &children->scan);
    if (!tree_next(tree, &children->scan, from + 1, &piece) || piece.from != from)
        return false;
    children->depth = children->scan.head.depth;
    children->is_object = piece.kind == JSON_OBJECT_BEGIN;
    return piece.kind == JSON_OBJECT_BEGIN || piece.kind == JSON_ARRAY_BEGIN;
}

bool
tree_child(struct tree *tree, struct tree_children *children)
{
    struct syntax_scan *scan = &children->scan;
    struct syntax_piece piece;
    if (children->is_inside && !tree_leave(tree, scan, children->depth, &piece))
        return false;
    children->is_inside = false;
    children->name = SIZE_MAX;
    while (scan->head.depth >= children->depth &&
           tree_next(tree, scan, scan->head.at + TREE_STRIDE, &piece)) {
        if (scan->head.depth < children->depth)
            return false;
        if (!piece.begins)
            continue;
        if (piece.kind == JSON_NAME)
            children->name = piece.from;
        else if (piece.kind == JSON_COMMA)
            children->name = SIZE_MAX;
        else if (scan_is_value(&piece) || (piece.kind == JSON_ERROR && scan->head.value == piece.from)) {
            children->value = piece.from;
            children->is_inside = scan->head.depth > children->depth;
            children->index =
                children->is_object ? children->index + 1 : scan->levels[children->depth - 1].place;
            return true;
        }
    }
    return false;
}
