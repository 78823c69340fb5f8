#include "ui/editor/motion.h"

#include "ui/editor/fold.h"
#include "ui/editor/private.h"

static const size_t WORD_MOST = 64 << 10; // bytes that a motion by word looks at

enum word_class { WORD_BLANK, WORD_WORD, WORD_OTHER };

static enum word_class
class_at(const struct editor *editor, size_t at)
{
    unsigned char c = buffer_byte(editor->buffer, at);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return WORD_BLANK;
    return is_word_byte(c) ? WORD_WORD : WORD_OTHER;
}

// Behind the run of bytes of one class that begins at `at`.
static size_t
motion_skip_class(struct editor *editor, size_t at, enum word_class class)
{
    size_t len = buffer_len(editor->buffer);
    size_t end = len - at > WORD_MOST ? at + WORD_MOST : len;
    size_t from = at;
    while (at < end && class_at(editor, at) == class)
        at++;
    editor->searching.work += at - from;
    return at < len ? buffer_character(editor->buffer, at) : len;
}

static size_t
skip_class_back(struct editor *editor, size_t at, enum word_class class)
{
    size_t end = at > WORD_MOST ? at - WORD_MOST : 0;
    size_t from = at;
    while (at > end && class_at(editor, at - 1) == class)
        at--;
    editor->searching.work += from - at;
    return buffer_character(editor->buffer, at);
}

static size_t
left(struct editor *editor, size_t at)
{
    return buffer_previous(editor->buffer, at);
}

static size_t
right(struct editor *editor, size_t at)
{
    return buffer_next(editor->buffer, at);
}

static size_t
motion_line_start(struct editor *editor, size_t at)
{
    return buffer_line_start(editor->buffer, buffer_line_at(editor->buffer, at));
}

static size_t
motion_line_end(struct editor *editor, size_t at)
{
    return buffer_line_end(editor->buffer, buffer_line_at(editor->buffer, at));
}

static size_t
left_in_line(struct editor *editor, size_t at)
{
    return at > motion_line_start(editor, at) ? left(editor, at) : at;
}

static size_t
right_in_line(struct editor *editor, size_t at)
{
    return at < motion_line_end(editor, at) ? right(editor, at) : at;
}

static size_t
motion_word_left(struct editor *editor, size_t at)
{
    at = skip_class_back(editor, at, WORD_BLANK);
    return at > 0 ? skip_class_back(editor, at, class_at(editor, at - 1)) : 0;
}

static size_t
motion_word_right(struct editor *editor, size_t at)
{
    if (at >= buffer_len(editor->buffer))
        return at;
    if (class_at(editor, at) != WORD_BLANK)
        at = motion_skip_class(editor, at, class_at(editor, at));
    return motion_skip_class(editor, at, WORD_BLANK);
}

static size_t
motion_word_end(struct editor *editor, size_t at)
{
    at = motion_skip_class(editor, at, WORD_BLANK);
    return at < buffer_len(editor->buffer) ? motion_skip_class(editor, at, class_at(editor, at)) : at;
}

static size_t
word_last(struct editor *editor, size_t at)
{
    size_t end = motion_word_end(editor, right(editor, at));
    size_t last = left(editor, end);
    return last > at ? last : at;
}

static size_t
line_text(struct editor *editor, size_t at)
{
    size_t end = motion_line_end(editor, at);
    size_t text = motion_skip_class(editor, motion_line_start(editor, at), WORD_BLANK);
    return text < end ? text : end;
}

static size_t
line_home(struct editor *editor, size_t at)
{
    size_t text = line_text(editor, at);
    return at == text ? motion_line_start(editor, at) : text;
}

static size_t
document_start(struct editor *editor, size_t at)
{
    (void)editor;
    (void)at;
    return 0;
}

static size_t
document_end(struct editor *editor, size_t at)
{
    (void)at;
    return buffer_len(editor->buffer);
}

// --- by tokens ---

static size_t
parent(struct editor *editor, size_t at)
{
    struct syntax_scan scan;
    if (!editor->is_json)
        return at;
    tree_seek(&editor->tree, at, &scan);
    return scan.head.depth ? scan.levels[scan.head.depth - 1].open & ~SCAN_OBJECT : at;
}

// The piece that holds or begins at `at`, with the state before it.
static bool
motion_piece_at(struct editor *editor, size_t at, struct syntax_scan *scan, struct syntax_piece *piece)
{
    tree_seek(&editor->tree, at, scan);
    return tree_next(&editor->tree, scan, at + 1, piece) && piece->from <= at;
}

static bool
is_bracket(unsigned char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']';
}

bool
editor_partner(struct editor *editor, size_t at, size_t *partner)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    if (!editor->is_json || at >= buffer_len(editor->buffer) || !is_bracket(buffer_byte(editor->buffer, at)))
        return false;
    if (!motion_piece_at(editor, at, &scan, &piece) || piece.from != at || !piece.begins)
        return false;
    if (piece.kind == JSON_OBJECT_END || piece.kind == JSON_ARRAY_END) {
        *partner = scan.head.value;
        return true;
    }
    if (piece.kind != JSON_OBJECT_BEGIN && piece.kind != JSON_ARRAY_BEGIN)
        return false;
    if (!tree_leave(&editor->tree, &scan, piece.depth, &piece) || scan.head.value != at)
        return false;
    *partner = piece.from;
    return true;
}

static size_t
bracket(struct editor *editor, size_t at)
{
    size_t partner;
    if (editor_partner(editor, at, &partner) || (at > 0 && editor_partner(editor, at - 1, &partner)))
        return partner;
    size_t open = parent(editor, at);
    return open != at && editor_partner(editor, open, &partner) ? partner : at;
}

static size_t
child(struct editor *editor, size_t at)
{
    struct tree_children children;
    if (!editor->is_json || !tree_children(&editor->tree, at, &children) ||
        !tree_child(&editor->tree, &children))
        return at;
    return children.name != SIZE_MAX ? children.name : children.value;
}

// Where the next child begins: the first name or value at this depth. SIZE_MAX: the container ends.
static size_t
first_at_depth(struct editor *editor, struct syntax_scan *scan, int depth)
{
    struct syntax_piece piece;
    while (tree_next(&editor->tree, scan, scan->head.at + TREE_STRIDE, &piece)) {
        if (scan->head.depth < depth)
            break;
        if (piece.begins && piece.depth == depth && (piece.kind == JSON_NAME || scan_is_value(&piece)))
            return piece.from;
        if (scan->head.depth > depth && !tree_leave(&editor->tree, scan, depth, &piece))
            break;
    }
    return SIZE_MAX;
}

// The comma at this depth behind the state; the scan goes behind it.
static bool
next_comma(struct editor *editor, struct syntax_scan *scan, int depth)
{
    struct syntax_piece piece;
    if (scan->head.depth > depth && !tree_leave(&editor->tree, scan, depth, &piece))
        return false;
    while (tree_next(&editor->tree, scan, scan->head.at + TREE_STRIDE, &piece)) {
        if (scan->head.depth < depth)
            return false;
        if (piece.kind == JSON_COMMA && piece.depth == depth)
            return true;
        if (scan->head.depth > depth && !tree_leave(&editor->tree, scan, depth, &piece))
            return false;
    }
    return false;
}

// The state at `at`, and the depth of the child that `at` is in: on an opening bracket that of its container.
static int
child_depth(struct editor *editor, size_t at, struct syntax_scan *scan)
{
    struct syntax_piece piece;
    tree_seek(&editor->tree, at, scan);
    bool is_at_bracket = at < buffer_len(editor->buffer) && scan->head.token == SCAN_BETWEEN &&
                         is_bracket(buffer_byte(editor->buffer, at));
    if (is_at_bracket && tree_next(&editor->tree, scan, at + 1, &piece))
        return piece.depth;
    return scan->head.depth;
}

static size_t
next_sibling(struct editor *editor, size_t at)
{
    struct syntax_scan scan;
    if (!editor->is_json)
        return at;
    int depth = child_depth(editor, at, &scan);
    if (depth == 0 || !next_comma(editor, &scan, depth))
        return at;
    size_t next = first_at_depth(editor, &scan, depth);
    return next == SIZE_MAX ? at : next;
}

// The children that begin before `to` at this depth: the last one and the one before it.
static void
last_children(struct editor *editor, struct syntax_scan *scan, size_t to, int depth, size_t last[2])
{
    struct syntax_piece piece;
    bool is_object = scan->levels[depth - 1].open & SCAN_OBJECT;
    while (scan->head.at < to && tree_next(&editor->tree, scan, to, &piece)) {
        bool is_child = is_object ? piece.kind == JSON_NAME : scan_is_value(&piece);
        if (!is_child || !piece.begins || piece.depth != depth)
            continue;
        last[1] = last[0];
        last[0] = piece.from;
    }
}

static size_t
previous_sibling(struct editor *editor, size_t at)
{
    struct syntax_scan scan;
    struct tree *tree = &editor->tree;
    if (!editor->is_json)
        return at;
    int depth = child_depth(editor, at, &scan);
    if (depth == 0)
        return at;
    tree_seek(tree, at, &scan);
    size_t open = scan.levels[depth - 1].open & ~SCAN_OBJECT;
    size_t last[2] = {SIZE_MAX,
                      SIZE_MAX}; // children that begin at `at` or before it: this one, and the one before
    size_t to = at + 1;
    // From one point of the tree to the one before, until two are found.
    while (to > open + 1) {
        size_t from = (to - 1) / TREE_STRIDE * TREE_STRIDE;
        from = from > open ? from : open + 1;
        size_t found[2] = {SIZE_MAX, SIZE_MAX};
        tree_seek(tree, from, &scan);
        last_children(editor, &scan, to, depth, found);
        if (last[0] == SIZE_MAX) {
            last[0] = found[0];
            last[1] = found[1];
        } else if (found[0] != SIZE_MAX) {
            last[1] = found[0];
        }
        if (last[1] != SIZE_MAX)
            return last[1];
        to = from;
    }
    return at;
}

// --- all of them ---

static size_t
vertical(struct editor *editor, size_t at, size_t goal, bool is_down, size_t count)
{
    size_t row = editor_row_of(editor, buffer_line_at(editor->buffer, at));
    size_t last = editor_rows(editor) - 1;
    if (is_down)
        row = last - row < count ? last : row + count;
    else
        row = row > count ? row - count : 0;
    return buffer_at_cell(editor->buffer, editor_line_of(editor, row), goal, NULL);
}

static size_t (*const motions[MOTION_COUNT])(struct editor *editor, size_t at) = {
    [MOTION_LEFT] = left,
    [MOTION_RIGHT] = right,
    [MOTION_LEFT_IN_LINE] = left_in_line,
    [MOTION_RIGHT_IN_LINE] = right_in_line,
    [MOTION_WORD_LEFT] = motion_word_left,
    [MOTION_WORD_RIGHT] = motion_word_right,
    [MOTION_WORD_END] = motion_word_end,
    [MOTION_WORD_LAST] = word_last,
    [MOTION_LINE_START] = motion_line_start,
    [MOTION_LINE_TEXT] = line_text,
    [MOTION_LINE_HOME] = line_home,
    [MOTION_LINE_END] = motion_line_end,
    [MOTION_DOCUMENT_START] = document_start,
    [MOTION_DOCUMENT_END] = document_end,
    [MOTION_BRACKET] = bracket,
    [MOTION_NEXT_SIBLING] = next_sibling,
    [MOTION_PREVIOUS_SIBLING] = previous_sibling,
    [MOTION_PARENT] = parent,
    [MOTION_CHILD] = child,
};

size_t
editor_target(struct editor *editor, enum motion motion, size_t at, size_t count)
{
    if (motion == MOTION_UP || motion == MOTION_DOWN)
        return vertical(editor, at, buffer_cell_at(editor->buffer, at), motion == MOTION_DOWN, count);
    for (; count > 0; count--) {
        size_t target = motions[motion](editor, at);
        if (target == at)
            break;
        at = target;
    }
    return at;
}

bool
editor_move(struct editor *editor, enum motion motion, size_t count, bool extend)
{
    size_t at = editor->place.cursor;
    if (motion != MOTION_UP && motion != MOTION_DOWN) {
        editor_set_cursor(editor, editor_target(editor, motion, at, count), extend);
        return editor->place.cursor != at;
    }
    size_t goal = editor->goal != SIZE_MAX ? editor->goal : buffer_cell_at(editor->buffer, at);
    editor_set_cursor(editor, vertical(editor, at, goal, motion == MOTION_DOWN, count), extend);
    editor->goal = goal;
    return editor->place.cursor != at;
}
