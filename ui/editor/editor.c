#include "ui/editor/editor.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/private.h"

static void
take_document(struct editor *editor, struct bytes document, bool is_json)
{
    editor->buffer = buffer_create(document);
    buffer_set_ascii(editor->buffer, editor->is_ascii);
    editor->place = (struct undo_place){.anchor = SIZE_MAX};
    editor->goal = SIZE_MAX;
    editor->version++;
    editor->cut_version = 0;
    editor_set_json(editor, is_json);
}

struct editor *
editor_create(struct bytes document, bool is_json)
{
    struct editor *editor = alloc_bytes(sizeof *editor);
    take_document(editor, document, is_json);
    return editor;
}

static void
release_document(struct editor *editor)
{
    undo_release(&editor->undo);
    folds_release(&editor->folds);
    checking_release(&editor->checking);
    tree_release(&editor->tree);
    buffer_destroy(editor->buffer);
    editor->buffer = NULL;
}

void
editor_destroy(struct editor *editor)
{
    if (!editor)
        return;
    release_document(editor);
    searching_release(&editor->searching);
    strbuf_release(&editor->cut);
    free(editor);
}

void
editor_load(struct editor *editor, struct bytes document, bool is_json)
{
    release_document(editor);
    take_document(editor, document, is_json);
}

void
editor_set_json(struct editor *editor, bool is_json)
{
    editor->is_json = is_json && buffer_len(editor->buffer) < TREE_BYTES;
    folds_release(&editor->folds);
    checking_release(&editor->checking);
    tree_begin(&editor->tree, editor->buffer);
}

bool
editor_is_json(const struct editor *editor)
{
    return editor->is_json;
}

void
editor_set_read_only(struct editor *editor, bool is_read_only)
{
    editor->is_read_only = is_read_only;
}

bool
editor_is_read_only(const struct editor *editor)
{
    return editor->is_read_only;
}

void
editor_set_ascii(struct editor *editor, bool is_ascii)
{
    editor->is_ascii = is_ascii;
    buffer_set_ascii(editor->buffer, is_ascii);
}

struct buffer *
editor_buffer(struct editor *editor)
{
    return editor->buffer;
}

size_t
editor_len(const struct editor *editor)
{
    return buffer_len(editor->buffer);
}

struct bytes
editor_text(struct editor *editor)
{
    return buffer_text(editor->buffer);
}

uint64_t
editor_version(const struct editor *editor)
{
    return editor->version;
}

// --- cursor and selection ---

size_t
editor_cursor(const struct editor *editor)
{
    return editor->place.cursor;
}

static void
put_cursor(struct editor *editor, size_t at)
{
    editor->place.cursor = buffer_character(editor->buffer, at);
    editor->goal = SIZE_MAX;
    editor->cut_version = 0;
    folds_show(editor, editor->place.cursor);
}

void
editor_set_cursor(struct editor *editor, size_t at, bool extend)
{
    if (!extend)
        editor->place.anchor = SIZE_MAX;
    else if (editor->place.anchor == SIZE_MAX)
        editor->place.anchor = editor->place.cursor;
    put_cursor(editor, at);
}

void
editor_select(struct editor *editor, size_t anchor, size_t cursor)
{
    editor->place.anchor = buffer_character(editor->buffer, anchor);
    put_cursor(editor, cursor);
}

void
editor_unselect(struct editor *editor)
{
    editor->place.anchor = SIZE_MAX;
}

bool
editor_selection(const struct editor *editor, size_t *from, size_t *to)
{
    const struct undo_place *place = &editor->place;
    if (place->anchor == SIZE_MAX || place->anchor == place->cursor)
        return false;
    *from = place->anchor < place->cursor ? place->anchor : place->cursor;
    *to = place->anchor < place->cursor ? place->cursor : place->anchor;
    return true;
}

// --- changes ---

bool
editor_may_edit(const struct editor *editor, size_t removed, size_t inserted)
{
    size_t len = buffer_len(editor->buffer) - removed;
    bool fits = inserted <= removed || (len <= EDITOR_BYTES && inserted <= EDITOR_BYTES - len);
    return !editor->is_read_only && fits;
}

// Changes the bytes and tells every part that follows them.
static void
splice(struct editor *editor, size_t from, size_t len, struct bytes b)
{
    struct buffer *buffer = editor->buffer;
    struct edit edit = {.at = from, .removed = len, .inserted = b.len};
    edit.line = buffer_line_at(buffer, from);
    size_t lines = buffer_lines(buffer);
    edit.removed_lines = buffer_line_at(buffer, from + len) - edit.line;
    buffer_splice(buffer, from, len, b);
    edit.inserted_lines = buffer_lines(buffer) - (lines - edit.removed_lines);
    editor->version++;
    tree_edited(&editor->tree, from, len, b.len);
    folds_edited(editor, &edit);
    checking_edited(editor, &edit);
}

bool
editor_apply(struct editor *editor, enum undo_kind kind, bool begins_word, size_t from, size_t to,
             struct bytes b, int64_t now)
{
    if (!editor_may_edit(editor, to - from, b.len) || (to == from && b.len == 0))
        return false;
    struct strbuf scratch = {0};
    undo_begin(&editor->undo, kind, editor->place, begins_word, now);
    undo_add(&editor->undo, from, buffer_slice(editor->buffer, from, to - from, &scratch), b.len);
    strbuf_release(&scratch);
    splice(editor, from, to - from, b);
    return true;
}

static void
restore_place(struct editor *editor, struct undo_place place)
{
    editor->place.anchor = place.anchor;
    put_cursor(editor, place.cursor);
}

void
editor_finish(struct editor *editor, size_t cursor)
{
    editor_finish_selected(editor, SIZE_MAX, cursor);
}

void
editor_finish_selected(struct editor *editor, size_t anchor, size_t cursor)
{
    // A mark behind the new text may have become part of its last character: the cursor goes behind both.
    size_t start = buffer_character(editor->buffer, cursor);
    cursor = start < cursor ? buffer_next(editor->buffer, start) : cursor;
    restore_place(editor, (struct undo_place){.cursor = cursor, .anchor = anchor});
    if (editor->undo.at > 0)
        editor->undo.steps[editor->undo.at - 1].after = editor->place;
}

void
editor_begin_step(struct editor *editor, int64_t now)
{
    (void)now;
    if (editor->undo.nested++ == 0)
        editor->undo.is_closed = true;
}

void
editor_end_step(struct editor *editor)
{
    if (editor->undo.nested > 0 && --editor->undo.nested == 0)
        editor->undo.is_closed = true;
}

// Puts the other side of a change into the document, and keeps this one.
static void
swap_change(struct editor *editor, struct undo_change *change)
{
    struct strbuf scratch = {0};
    struct bytes here = buffer_slice(editor->buffer, change->at, change->len, &scratch);
    struct strbuf kept = undo_copy(here);
    strbuf_release(&scratch);
    splice(editor, change->at, change->len, strbuf_bytes(&change->other));
    change->len = change->other.len;
    strbuf_release(&change->other);
    change->other = kept;
}

bool
editor_undo(struct editor *editor)
{
    struct undo *undo = &editor->undo;
    if (undo->at == 0 || editor->is_read_only)
        return false;
    const struct undo_step *step = &undo->steps[--undo->at];
    for (size_t i = step->count; i > 0; i--)
        swap_change(editor, &undo->changes[step->first + i - 1]);
    undo->is_closed = true;
    restore_place(editor, step->before);
    return true;
}

bool
editor_redo(struct editor *editor)
{
    struct undo *undo = &editor->undo;
    if (undo->at == undo->step_count || editor->is_read_only)
        return false;
    const struct undo_step *step = &undo->steps[undo->at++];
    for (size_t i = 0; i < step->count; i++)
        swap_change(editor, &undo->changes[step->first + i]);
    undo->is_closed = true;
    restore_place(editor, step->after);
    return true;
}

bool
editor_can_undo(const struct editor *editor)
{
    return editor->undo.at > 0 && !editor->is_read_only;
}

bool
editor_can_redo(const struct editor *editor)
{
    return editor->undo.at < editor->undo.step_count && !editor->is_read_only;
}

void
editor_set_saved(struct editor *editor)
{
    editor->undo.saved = editor->undo.at;
    editor->undo.is_closed = true;
}

bool
editor_is_modified(const struct editor *editor)
{
    return editor->undo.saved != editor->undo.at;
}

uint64_t
editor_work(const struct editor *editor)
{
    return buffer_work(editor->buffer) + editor->tree.work + editor->searching.work;
}

static size_t
chain_memory(const struct tree_chain *chain)
{
    return chain->point_capacity * sizeof *chain->points + chain->level_capacity * sizeof *chain->levels +
           chain->error_capacity * sizeof *chain->errors;
}

size_t
editor_memory(const struct editor *editor)
{
    const struct tree *tree = &editor->tree;
    const struct folds *folds = &editor->folds;
    const struct checking *checking = &editor->checking;
    return sizeof *editor + buffer_memory(editor->buffer) + editor->cut.capacity +
           chain_memory(&tree->known) + chain_memory(&tree->aside) + folds->capacity * sizeof *folds->folds +
           folds->row_capacity * sizeof *folds->rows +
           (checking->error_capacity + checking->warning_capacity) * sizeof *checking->errors +
           editor->searching.scratch.capacity;
}
