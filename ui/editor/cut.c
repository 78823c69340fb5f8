// The cut text.
#include "ui/editor/fold.h"
#include "ui/editor/private.h"

struct bytes
editor_cut_text(const struct editor *editor, bool *is_lines)
{
    if (is_lines)
        *is_lines = editor->cut_is_lines;
    return strbuf_bytes(&editor->cut);
}

void
editor_set_cut_text(struct editor *editor, struct bytes text, bool is_lines)
{
    strbuf_reset(&editor->cut);
    strbuf_add(&editor->cut, text);
    editor->cut_is_lines = is_lines;
}

bool
editor_copy(struct editor *editor, size_t from, size_t to, bool is_lines, bool append)
{
    size_t len = buffer_len(editor->buffer);
    to = to < len ? to : len;
    if (from >= to)
        return false;
    if (!append)
        strbuf_release(&editor->cut);
    while (from < to) {
        struct bytes run = bytes_slice(buffer_run(editor->buffer, from), 0, to - from);
        strbuf_add(&editor->cut, run);
        from += run.len;
    }
    // The last line of a document may have no line end, but has one where it is put.
    bool is_open = is_lines && editor->cut.data[editor->cut.len - 1] != '\n';
    if (is_open)
        strbuf_add_char(&editor->cut, '\n');
    editor->cut_is_lines = is_lines;
    return true;
}

// The line end before a last line, which goes together with it: else an empty line would stay.
static size_t
with_line_end(const struct editor *editor, size_t from, size_t to)
{
    const struct buffer *buffer = editor->buffer;
    if (to < buffer_len(buffer) || from == 0 || buffer_byte(buffer, to - 1) == '\n')
        return from;
    return buffer_previous(buffer, from);
}

bool
editor_cut(struct editor *editor, size_t from, size_t to, bool is_lines, bool append, int64_t now)
{
    size_t len = buffer_len(editor->buffer);
    to = to < len ? to : len;
    if (!editor_may_edit(editor, 0, 0) || !editor_copy(editor, from, to, is_lines, append))
        return false;
    if (!is_lines)
        return editor_delete(editor, from, to, now);
    if (!editor_apply(editor, UNDO_ALONE, false, with_line_end(editor, from, to), to, BYTES(""), now))
        return false;
    size_t at = from < buffer_len(editor->buffer) ? from : buffer_len(editor->buffer);
    editor_finish(editor, buffer_line_start(editor->buffer, buffer_line_at(editor->buffer, at)));
    return true;
}

bool
editor_copy_selection(struct editor *editor)
{
    size_t from;
    size_t to;
    return editor_selection(editor, &from, &to) && editor_copy(editor, from, to, false, false);
}

bool
editor_cut_selection(struct editor *editor, int64_t now)
{
    size_t from;
    size_t to;
    return editor_selection(editor, &from, &to) && editor_cut(editor, from, to, false, false, now);
}

void
editor_line_range(struct editor *editor, size_t count, size_t *from, size_t *to)
{
    size_t line = buffer_line_at(editor->buffer, editor->place.cursor);
    *from = buffer_line_start(editor->buffer, line);
    for (; count > 0 && line < buffer_lines(editor->buffer); count--)
        line += 1 + editor_folded_at(editor, line);
    *to = buffer_line_start(editor->buffer, line);
    if (line >= buffer_lines(editor->buffer))
        *to = buffer_len(editor->buffer);
}

bool
editor_cut_line(struct editor *editor, int64_t now)
{
    if (editor_cut_selection(editor, now))
        return true;
    bool append = editor->cut_version == editor->version && editor->cut_is_lines;
    size_t from;
    size_t to;
    editor_line_range(editor, 1, &from, &to);
    if (!editor_cut(editor, from, to, true, append, now))
        return false;
    editor->cut_version = editor->version;
    return true;
}

bool
editor_put(struct editor *editor, bool is_behind, int64_t now)
{
    struct bytes text = strbuf_bytes(&editor->cut);
    struct buffer *buffer = editor->buffer;
    size_t cursor = editor->place.cursor;
    if (text.len == 0)
        return false;
    if (!editor->cut_is_lines) {
        size_t line_end = buffer_line_end(buffer, buffer_line_at(buffer, cursor));
        size_t at = is_behind && cursor < line_end ? buffer_next(buffer, cursor) : cursor;
        return editor_replace(editor, at, at, text, now);
    }
    size_t line = buffer_line_at(buffer, cursor);
    size_t next = line + 1 + editor_folded_at(editor, line);
    size_t at = buffer_line_start(buffer, is_behind ? next : line);
    struct strbuf lines = {0};
    bool is_last = is_behind && next >= buffer_lines(buffer);
    // Behind a last line without line end, the line end comes first.
    if (is_last) {
        bool has_return = bytes_ends(text, "\r\n");
        strbuf_add_text(&lines, has_return ? "\r\n" : "\n");
        text.len -= 1 + (size_t)has_return;
    }
    size_t before = lines.len;
    strbuf_add(&lines, text);
    bool is_done = editor_apply(editor, UNDO_ALONE, false, at, at, strbuf_bytes(&lines), now);
    if (is_done)
        editor_finish(editor, at + before);
    strbuf_release(&lines);
    return is_done;
}
