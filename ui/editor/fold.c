#include "ui/editor/fold.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/private.h"

void
folds_release(struct folds *folds)
{
    free(folds->folds);
    free(folds->rows);
    *folds = (struct folds){0};
}

// --- the rows ---

static void
make_fold_rows(struct folds *folds)
{
    folds->row_count = 0;
    uint32_t hidden = 0;
    for (size_t i = 0; i < folds->count; i++) {
        const struct fold *fold = &folds->folds[i];
        struct fold_row *last = folds->row_count ? &folds->rows[folds->row_count - 1] : NULL;
        if (last && fold->open < folds->folds[last->fold].close)
            continue;
        folds->rows = alloc_grow(folds->rows, folds->row_count, &folds->row_capacity, sizeof *folds->rows);
        folds->rows[folds->row_count++] =
            (struct fold_row){.line = fold->line, .last = fold->last, .hidden = hidden, .fold = (uint32_t)i};
        hidden += fold->last - fold->line - 1;
    }
    folds->is_stale = false;
}

// The last of the outermost folds that begins on `line` or before; NULL: none.
static const struct fold_row *
row_before(struct folds *folds, size_t line)
{
    if (folds->is_stale)
        make_fold_rows(folds);
    size_t low = 0;
    size_t high = folds->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (folds->rows[middle].line <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &folds->rows[low - 1] : NULL;
}

static bool
hides(const struct fold_row *row, size_t line)
{
    return row && line > row->line && line < row->last;
}

bool
editor_is_hidden(struct editor *editor, size_t line)
{
    return hides(row_before(&editor->folds, line), line);
}

size_t
editor_folded_at(struct editor *editor, size_t line)
{
    const struct fold_row *row = row_before(&editor->folds, line);
    return row && row->line == line ? row->last - row->line - 1 : 0;
}

bool
editor_has_folds(const struct editor *editor)
{
    return editor->folds.count > 0;
}

size_t
editor_rows(struct editor *editor)
{
    return editor_row_of(editor, buffer_lines(editor->buffer) - 1) + 1;
}

size_t
editor_row_of(struct editor *editor, size_t line)
{
    const struct fold_row *row = row_before(&editor->folds, line);
    if (!row)
        return line;
    if (hides(row, line))
        line = row->line;
    return line - row->hidden - (line > row->line ? row->last - row->line - 1 : 0);
}

size_t
editor_line_of(struct editor *editor, size_t row)
{
    struct folds *folds = &editor->folds;
    size_t lines = buffer_lines(editor->buffer);
    if (folds->is_stale)
        make_fold_rows(folds);
    row = row < lines ? row : lines;
    size_t low = 0;
    size_t high = folds->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (folds->rows[middle].line - folds->rows[middle].hidden < row)
            low = middle + 1;
        else
            high = middle;
    }
    size_t line = row;
    if (low)
        line += folds->rows[low - 1].hidden + folds->rows[low - 1].last - folds->rows[low - 1].line - 1;
    return line < lines ? line : lines - 1;
}

// --- folding ---

// The number of folds that begin before `open`.
static size_t
fold_index(const struct folds *folds, size_t open)
{
    size_t low = 0;
    size_t high = folds->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (folds->folds[middle].open < open)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
add_fold(struct editor *editor, struct fold fold)
{
    struct folds *folds = &editor->folds;
    size_t at = fold_index(folds, fold.open);
    bool is_there = at < folds->count && folds->folds[at].open == fold.open;
    if (is_there || folds->count == FOLD_MOST)
        return;
    folds->folds = alloc_grow(folds->folds, folds->count, &folds->capacity, sizeof *folds->folds);
    memmove(folds->folds + at + 1, folds->folds + at, (folds->count - at) * sizeof *folds->folds);
    folds->folds[at] = fold;
    folds->count++;
    folds->is_stale = true;
}

static void
remove_fold(struct folds *folds, size_t at)
{
    memmove(folds->folds + at, folds->folds + at + 1, (folds->count - at - 1) * sizeof *folds->folds);
    folds->count--;
    folds->is_stale = true;
}

// The container that begins at `open`, if it has lines that can be hidden.
static bool
make_fold(struct editor *editor, size_t open, struct fold *fold)
{
    size_t end;
    if (!tree_value_end(&editor->tree, open, &end))
        return false;
    fold->open = (uint32_t)open;
    fold->close = (uint32_t)end - 1;
    fold->line = (uint32_t)buffer_line_at(editor->buffer, open);
    fold->last = (uint32_t)buffer_line_at(editor->buffer, end - 1);
    return fold->last > fold->line + 1;
}

// The first container that begins in [from, to) and can be folded.
static bool
first_fold(struct editor *editor, size_t from, size_t to, struct fold *fold)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    tree_seek(&editor->tree, from, &scan);
    while (scan.head.at < to && tree_next(&editor->tree, &scan, to, &piece)) {
        bool is_open = piece.begins && (piece.kind == JSON_OBJECT_BEGIN || piece.kind == JSON_ARRAY_BEGIN);
        if (is_open && piece.from >= from && make_fold(editor, piece.from, fold))
            return true;
    }
    return false;
}

// The innermost container around `at` that can be folded.
static bool
fold_around(struct editor *editor, size_t at, struct fold *fold)
{
    struct syntax_scan scan;
    tree_seek(&editor->tree, at, &scan);
    for (int depth = scan.head.depth; depth > 0; depth--)
        if (make_fold(editor, scan.levels[depth - 1].open & ~SCAN_OBJECT, fold))
            return true;
    return false;
}

bool
editor_fold(struct editor *editor, size_t at)
{
    struct buffer *buffer = editor->buffer;
    if (!editor->is_json)
        return false;
    size_t line = buffer_line_at(buffer, at);
    size_t from = buffer_line_start(buffer, line);
    struct fold fold;
    bool is_found = first_fold(editor, from, buffer_line_end(buffer, line), &fold);
    if (!is_found && !fold_around(editor, at, &fold))
        return false;
    add_fold(editor, fold);
    size_t cursor_line = buffer_line_at(buffer, editor->place.cursor);
    if (cursor_line > fold.line && cursor_line < fold.last) {
        editor->place = (struct undo_place){.cursor = fold.open, .anchor = SIZE_MAX};
        editor->goal = SIZE_MAX;
    }
    return true;
}

// The innermost fold that hides the line; SIZE_MAX: none.
static size_t
innermost_fold(const struct folds *folds, size_t line)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < folds->count && folds->folds[i].line < line; i++)
        if (line < folds->folds[i].last)
            found = i;
    return found;
}

// The outermost fold that begins on the line; SIZE_MAX: none.
static size_t
fold_on(const struct folds *folds, size_t line)
{
    for (size_t i = 0; i < folds->count && folds->folds[i].line <= line; i++)
        if (folds->folds[i].line == line)
            return i;
    return SIZE_MAX;
}

bool
editor_unfold(struct editor *editor, size_t at)
{
    struct folds *folds = &editor->folds;
    size_t line = buffer_line_at(editor->buffer, at);
    size_t fold = editor_is_hidden(editor, line) ? innermost_fold(folds, line) : fold_on(folds, line);
    if (fold == SIZE_MAX)
        return false;
    remove_fold(folds, fold);
    return true;
}

bool
editor_toggle_fold(struct editor *editor, size_t at)
{
    return editor_unfold(editor, at) || editor_fold(editor, at);
}

void
folds_show(struct editor *editor, size_t at)
{
    if (editor->folds.count == 0)
        return;
    size_t line = buffer_line_at(editor->buffer, at);
    while (editor_is_hidden(editor, line))
        remove_fold(&editor->folds, innermost_fold(&editor->folds, line));
}

// Reads the document once and adds the containers at depths from 1 to `deepest`, or (`counts`) only counts
// them by depth.
static void
fold_by_depth(struct editor *editor, int deepest, size_t *counts)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    struct folds *folds = &editor->folds;
    tree_seek(&editor->tree, 0, &scan);
    while (tree_next(&editor->tree, &scan, SIZE_MAX, &piece)) {
        bool is_end = piece.begins && (piece.kind == JSON_OBJECT_END || piece.kind == JSON_ARRAY_END);
        if (!is_end || piece.depth == 0 || piece.depth > deepest)
            continue;
        struct fold fold = {.open = (uint32_t)scan.head.value, .close = (uint32_t)piece.from};
        fold.line = (uint32_t)buffer_line_at(editor->buffer, fold.open);
        fold.last = (uint32_t)buffer_line_at(editor->buffer, fold.close);
        if (fold.last <= fold.line + 1)
            continue;
        if (counts) {
            counts[piece.depth]++;
            continue;
        }
        folds->folds = alloc_grow(folds->folds, folds->count, &folds->capacity, sizeof *folds->folds);
        folds->folds[folds->count++] = fold;
    }
}

static int
fold_by_place(const void *left, const void *right)
{
    const struct fold *a = left;
    const struct fold *b = right;
    return a->open < b->open ? -1 : a->open > b->open;
}

size_t
editor_fold_all(struct editor *editor)
{
    struct folds *folds = &editor->folds;
    size_t counts[JSON_DEPTH + 1] = {0};
    if (!editor->is_json)
        return 0;
    folds_release(folds);
    fold_by_depth(editor, JSON_DEPTH, counts);
    // Where there are too many, the outer ones are folded.
    int deepest = 0;
    for (size_t sum = 0; deepest < JSON_DEPTH && sum + counts[deepest + 1] <= FOLD_MOST; deepest++)
        sum += counts[deepest + 1];
    fold_by_depth(editor, deepest, NULL);
    if (folds->count > 1)
        qsort(folds->folds, folds->count, sizeof *folds->folds, fold_by_place);
    folds->is_stale = true;
    size_t line = buffer_line_at(editor->buffer, editor->place.cursor);
    const struct fold_row *row = row_before(folds, line);
    if (hides(row, line))
        editor->place = (struct undo_place){.cursor = folds->folds[row->fold].open, .anchor = SIZE_MAX};
    return folds->count;
}

void
editor_unfold_all(struct editor *editor)
{
    folds_release(&editor->folds);
}

bool
editor_can_fold(struct editor *editor, size_t line)
{
    enum { LINE_MOST = 4096, FAR = 64 << 10 };
    struct buffer *buffer = editor->buffer;
    if (!editor->is_json || line + 2 >= buffer_lines(buffer))
        return false;
    struct syntax_scan scan;
    struct syntax_piece piece;
    size_t from = buffer_line_start(buffer, line);
    size_t to = buffer_line_end(buffer, line);
    to = to - from > LINE_MOST ? from + LINE_MOST : to;
    size_t next = buffer_line_start(buffer, line + 2); // a bracket that closes here or behind hides a line
    tree_seek(&editor->tree, from, &scan);
    while (scan.head.at < to && tree_next(&editor->tree, &scan, to, &piece))
        continue;
    int before = scan.head.depth;
    if (before == 0 || (scan.levels[before - 1].open & ~SCAN_OBJECT) < from)
        return false;
    // The outermost container that begins on this line is still open at its end: is it so at the next line
    // but one?
    scan.head.lowest = before;
    size_t end = next - to > FAR ? to + FAR : next;
    while (scan.head.at < end && tree_next(&editor->tree, &scan, end, &piece))
        continue;
    int outermost = before;
    while (outermost > 1 && (scan.levels[outermost - 2].open & ~SCAN_OBJECT) >= from)
        outermost--;
    return scan.head.lowest >= outermost;
}

// --- edits ---

void
folds_edited(struct editor *editor, const struct edit *edit)
{
    struct folds *folds = &editor->folds;
    size_t kept = 0;
    for (size_t i = 0; i < folds->count; i++) {
        struct fold fold = folds->folds[i];
        bool is_behind = fold.open >= edit->at + edit->removed;
        // An edit behind the closing bracket does not touch the fold.
        if (!is_behind && edit->at <= fold.close)
            continue;
        if (is_behind) {
            fold.open = (uint32_t)(fold.open + edit->inserted - edit->removed);
            fold.close = (uint32_t)(fold.close + edit->inserted - edit->removed);
            fold.line = (uint32_t)(fold.line + edit->inserted_lines - edit->removed_lines);
            fold.last = (uint32_t)(fold.last + edit->inserted_lines - edit->removed_lines);
        }
        folds->folds[kept++] = fold;
    }
    folds->is_stale |= folds->count > 0;
    folds->count = kept;
    if (kept == 0)
        folds_release(folds);
}
