// The classes of a range.
#include "ui/editor/private.h"
#include "ui/editor/syntax.h"

// Adds a piece, clipped to [from, to), or makes the last span longer by it.
static size_t
add_span(struct syntax_span *spans, size_t count, const struct syntax_piece *piece, size_t from, size_t to)
{
    size_t start = piece->from > from ? piece->from : from;
    size_t end = piece->from + piece->len < to ? piece->from + piece->len : to;
    if (start >= end)
        return count;
    struct syntax_span *last = count ? &spans[count - 1] : NULL;
    if (last && !piece->begins && last->class == piece->class && last->from + last->len == start) {
        last->len = end - last->from;
        return count;
    }
    spans[count] = (struct syntax_span){.class = piece->class, .from = start, .len = end - start};
    return count + 1;
}

size_t
editor_classes(struct editor *editor, size_t from, size_t to, struct syntax_span *spans, size_t room)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    size_t count = 0;
    if (to > buffer_len(editor->buffer))
        to = buffer_len(editor->buffer);
    if (!editor->is_json || from >= to)
        return 0;
    // A character, an escape or a literal that began before may reach into the range; and the state that is
    // kept is of use for a range that begins where this one ends.
    tree_seek(&editor->tree, from > SCAN_REACH ? from - SCAN_REACH : 0, &scan);
    size_t near = to - from > SCAN_REACH ? to - SCAN_REACH : from;
    while (count < room && scan.head.at < near && tree_next(&editor->tree, &scan, near, &piece))
        count = add_span(spans, count, &piece, from, to);
    tree_keep(&editor->tree, &scan);
    while (count < room && scan.head.at < to && tree_next(&editor->tree, &scan, to, &piece))
        count = add_span(spans, count, &piece, from, to);
    return count;
}
