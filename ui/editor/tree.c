#include "ui/editor/tree.h"

static void
copy_scan(struct syntax_scan *to, const struct syntax_scan *from)
{
    to->head = from->head;
    memcpy(to->levels, from->levels, (size_t)from->head.depth * sizeof *from->levels);
}

static void
add_front(struct tree *tree)
{
    chain_add_point(&tree->known, &tree->front.head, tree->front.levels);
    tree->front.head.lowest = tree->front.head.depth;
}

void
tree_begin(struct tree *tree, struct buffer *buffer)
{
    tree->buffer = buffer;
    tree->stride = tree->stride ? tree->stride : TREE_STRIDE;
    tree->known.point_count = tree->known.level_count = tree->known.error_count = 0;
    tree->aside.point_count = tree->aside_first = 0;
    scan_begin(&tree->front);
    tree->near.head.at = SIZE_MAX;
    add_front(tree);
}

void
tree_release(struct tree *tree)
{
    chain_release(&tree->known);
    chain_release(&tree->aside);
    *tree = (struct tree){0};
}

void
tree_edited(struct tree *tree, size_t at, size_t removed, size_t inserted)
{
    struct tree_chain *known = &tree->known;
    if (tree->near.head.at != SIZE_MAX && tree->near.head.at + SCAN_REACH > at)
        tree->near.head.at = SIZE_MAX;
    bool is_read = tree->front.head.at + SCAN_REACH > at;
    size_t last = chain_point_at(known, at < SCAN_REACH ? 0 : at - SCAN_REACH);
    tree_set_aside(tree, is_read ? last + 1 : known->point_count, at, removed, inserted);
    if (!is_read)
        return;
    const struct tree_point *point = &known->points[last];
    known->point_count = last + 1;
    known->level_count = point->levels + (size_t)point->head.depth;
    known->error_count = point->errors;
    chain_load(known, last, &tree->front);
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
        if (tree_resume(tree))
            continue;
        size_t point = tree->known.points[tree->known.point_count - 1].head.at + tree->stride;
        size_t aside = tree_next_aside(tree);
        size_t limit = point < to ? point : to;
        struct syntax_piece piece;
        if (tree_next(tree, front, limit < aside ? limit : aside, &piece))
            chain_add_error(&tree->known, piece.from, piece.expected);
        if (front->head.at >= point)
            add_front(tree);
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
    size_t point = chain_point_at(&tree->known, at);
    size_t from = tree->known.points[point].head.at;
    const struct syntax_scan *base = NULL;
    if (tree->near.head.at != SIZE_MAX && tree->near.head.at <= at && tree->near.head.at > from)
        base = &tree->near;
    if (tree->front.head.at <= at && tree->front.head.at > (base ? base->head.at : from))
        base = &tree->front;
    if (base)
        copy_scan(scan, base);
    else
        chain_load(&tree->known, point, scan);
    struct syntax_piece piece;
    while (scan->head.at < at && tree_next(tree, scan, at, &piece))
        continue;
}

bool
tree_leave(struct tree *tree, struct syntax_scan *scan, int depth, struct syntax_piece *piece)
{
    const struct tree_chain *known = &tree->known;
    size_t len = buffer_len(tree->buffer);
    for (;;) {
        size_t point = chain_point_at(known, scan->head.at) + 1;
        if (point == known->point_count)
            tree_read(tree, known->points[point - 1].head.at + 2 * tree->stride);
        bool has_next = point < known->point_count;
        // The depth falls below in no token up to the next point.
        if (has_next && known->points[point - 1].head.at == scan->head.at &&
            known->points[point].head.lowest > depth) {
            chain_load(known, point, scan);
            continue;
        }
        size_t end = has_next ? known->points[point].head.at : len;
        while (scan->head.at < end && tree_next(tree, scan, end, piece))
            if (scan->head.depth <= depth)
                return true;
        if (!has_next)
            return false;
        chain_load(known, point, scan);
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
    // What a string is does not depend on what stands before.
    struct syntax_scan scan;
    struct syntax_piece piece;
    scan_begin(&scan);
    scan.head.at = from;
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
