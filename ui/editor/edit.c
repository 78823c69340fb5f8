// What keys do to the document: typing, line ends, indents, deleting, formatting.
#include "ui/editor/private.h"

enum { BLANKS_MOST = 1024 }; // of a line's indent that are looked at

bool
is_word_byte(unsigned char c)
{
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool
edit_is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

// Puts `b` in place of the selection, or at the cursor; behind it is the cursor.
static bool
put(struct editor *editor, enum undo_kind kind, bool begins_word, struct bytes b, int64_t now)
{
    size_t from = editor->place.cursor;
    size_t to = from;
    (void)editor_selection(editor, &from, &to);
    if (!editor_apply(editor, kind, begins_word, from, to, b, now))
        return false;
    editor_finish(editor, from + b.len);
    return true;
}

bool
editor_type(struct editor *editor, struct bytes typed, int64_t now)
{
    if (typed.len == 0)
        return false;
    size_t cursor = editor->place.cursor;
    bool begins_word = cursor > 0 && is_word_byte((unsigned char)typed.data[0]) &&
                       !is_word_byte(buffer_byte(editor->buffer, cursor - 1));
    bool is_line = memchr(typed.data, '\n', typed.len) != NULL;
    return put(editor, is_line ? UNDO_ALONE : UNDO_TYPED, begins_word, typed, now);
}

bool
editor_paste(struct editor *editor, struct bytes pasted, int64_t now)
{
    return pasted.len > 0 && put(editor, UNDO_ALONE, false, pasted, now);
}

// The line end that the document has here.
static const char *
line_end_text(struct editor *editor, size_t line)
{
    struct buffer *buffer = editor->buffer;
    if (line + 1 == buffer_lines(buffer) && line > 0)
        line--;
    size_t end = buffer_line_end(buffer, line);
    return end < buffer_len(buffer) && buffer_byte(buffer, end) == '\r' ? "\r\n" : "\n";
}

// Appends the blanks that a line begins with, up to `end`.
static void
add_indent(struct editor *editor, size_t line, size_t end, struct strbuf *out)
{
    size_t at = buffer_line_start(editor->buffer, line);
    if (end > at + BLANKS_MOST)
        end = at + BLANKS_MOST;
    for (; at < end && edit_is_blank(buffer_byte(editor->buffer, at)); at++)
        strbuf_add_char(out, (char)buffer_byte(editor->buffer, at));
}

// The byte before the blanks before `at`, or behind those behind it, in its line; '\n' where there is none.
static unsigned char
byte_before(const struct buffer *buffer, size_t at)
{
    for (int i = 0; at > 0 && i < BLANKS_MOST; i++, at--)
        if (!edit_is_blank(buffer_byte(buffer, at - 1)))
            return buffer_byte(buffer, at - 1);
    return '\n';
}

static unsigned char
byte_behind(const struct buffer *buffer, size_t at)
{
    for (int i = 0; at < buffer_len(buffer) && i < BLANKS_MOST; i++, at++)
        if (!edit_is_blank(buffer_byte(buffer, at)))
            return buffer_byte(buffer, at);
    return '\n';
}

bool
editor_enter(struct editor *editor, int64_t now)
{
    struct buffer *buffer = editor->buffer;
    size_t from = editor->place.cursor;
    size_t to = from;
    (void)editor_selection(editor, &from, &to);
    size_t line = buffer_line_at(buffer, from);
    const char *line_end = line_end_text(editor, line);
    struct strbuf text = {0};
    strbuf_add_text(&text, line_end);
    add_indent(editor, line, from, &text);
    unsigned char before = byte_before(buffer, from);
    unsigned char behind = byte_behind(buffer, to);
    bool opens = editor->is_json && (before == '{' || before == '[');
    for (int i = 0; opens && i < EDITOR_INDENT; i++)
        strbuf_add_char(&text, ' ');
    size_t cursor = from + text.len;
    if (opens && behind == (before == '{' ? '}' : ']')) {
        strbuf_add_text(&text, line_end);
        add_indent(editor, line, from, &text);
    }
    bool is_done = editor_apply(editor, UNDO_ALONE, false, from, to, strbuf_bytes(&text), now);
    if (is_done)
        editor_finish(editor, cursor);
    strbuf_release(&text);
    return is_done;
}

// Bytes that one indent less takes from the beginning of a line.
static size_t
outdent(struct bytes line)
{
    size_t count = 0;
    if (line.len && line.data[0] == '\t')
        return 1;
    while (count < EDITOR_INDENT && count < line.len && line.data[count] == ' ')
        count++;
    return count;
}

// Appends the text moved by one indent.
static void
move_lines(struct bytes text, bool is_left, struct strbuf *out)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        end = end == SIZE_MAX ? text.len : end + 1;
        struct bytes line = bytes_slice(text, at, end - at);
        bool is_empty = line.data[0] == '\n' || line.data[0] == '\r';
        for (int i = 0; !is_left && !is_empty && i < EDITOR_INDENT; i++)
            strbuf_add_char(out, ' ');
        strbuf_add(out, bytes_slice(line, is_left ? outdent(line) : 0, SIZE_MAX));
        at = end;
    }
}

static bool
indent_lines(struct editor *editor, size_t from, size_t to, bool is_left, bool is_selected, int64_t now)
{
    struct buffer *buffer = editor->buffer;
    size_t start = buffer_line_start(buffer, buffer_line_at(buffer, from));
    size_t last = buffer_line_at(buffer, to);
    if (last > 0 && to > start && buffer_line_start(buffer, last) == to && is_selected)
        last--;
    size_t end = buffer_line_end(buffer, last);
    struct strbuf scratch = {0}, moved = {0};
    struct bytes text = buffer_slice(buffer, start, end - start, &scratch);
    move_lines(text, is_left, &moved);
    bool is_done = !bytes_equal(text, strbuf_bytes(&moved)) &&
                   editor_apply(editor, UNDO_ALONE, false, start, end, strbuf_bytes(&moved), now);
    if (is_done && is_selected) {
        editor_finish_selected(editor, start, start + moved.len);
    } else if (is_done) {
        size_t less = end - start - moved.len;
        editor_finish(editor, from - start > less ? from - less : start);
    }
    strbuf_release(&scratch);
    strbuf_release(&moved);
    return is_done;
}

bool
editor_indent(struct editor *editor, bool is_left, int64_t now)
{
    size_t from = editor->place.cursor;
    size_t to = from;
    bool is_selected = editor_selection(editor, &from, &to);
    if (is_selected || is_left)
        return indent_lines(editor, from, to, is_left, is_selected, now);
    static const char blanks[EDITOR_INDENT + 1] = "  ";
    size_t len = EDITOR_INDENT - buffer_cell_at(editor->buffer, from) % EDITOR_INDENT;
    return put(editor, UNDO_ALONE, false, (struct bytes){blanks, len}, now);
}

// Was the character deleted before this one in the same step no part of a word?
static bool
deleted_no_word(const struct editor *editor, bool is_left)
{
    const struct undo *undo = &editor->undo;
    if (undo->change_count == 0)
        return false;
    const struct strbuf *last = &undo->changes[undo->change_count - 1].other;
    return last->len > 0 && !is_word_byte((unsigned char)last->data[is_left ? 0 : last->len - 1]);
}

static bool
delete_character(struct editor *editor, bool is_left, int64_t now)
{
    size_t from;
    size_t to;
    if (editor_selection(editor, &from, &to))
        return editor_delete(editor, from, to, now);
    size_t cursor = editor->place.cursor;
    from = is_left ? buffer_previous(editor->buffer, cursor) : cursor;
    to = is_left ? cursor : buffer_next(editor->buffer, cursor);
    if (from == to)
        return false;
    bool begins_word = is_word_byte(buffer_byte(editor->buffer, from)) && deleted_no_word(editor, is_left);
    enum undo_kind kind = is_left ? UNDO_DELETED_LEFT : UNDO_DELETED_RIGHT;
    if (!editor_apply(editor, kind, begins_word, from, to, BYTES(""), now))
        return false;
    editor_finish(editor, from);
    return true;
}

bool
editor_delete_left(struct editor *editor, int64_t now)
{
    return delete_character(editor, true, now);
}

bool
editor_delete_right(struct editor *editor, int64_t now)
{
    return delete_character(editor, false, now);
}

bool
editor_delete(struct editor *editor, size_t from, size_t to, int64_t now)
{
    return editor_replace(editor, from, to, BYTES(""), now);
}

bool
editor_replace(struct editor *editor, size_t from, size_t to, struct bytes b, int64_t now)
{
    size_t len = buffer_len(editor->buffer);
    to = to < len ? to : len;
    if (from > to || !editor_apply(editor, UNDO_ALONE, false, from, to, b, now))
        return false;
    editor_finish(editor, from + b.len);
    return true;
}

// --- formatting ---

// The bytes of tokens before `at`: they are the same before and behind formatting.
static size_t
token_bytes_before(struct bytes text, size_t at)
{
    struct json_scan scan;
    json_begin(&scan, text);
    size_t sum = 0;
    for (;;) {
        struct json_token token = json_next(&scan);
        if (token.kind == JSON_END || token.kind == JSON_ERROR || token.from >= at)
            return sum;
        sum += token.from + token.len <= at ? token.len : at - token.from;
    }
}

static size_t
behind_token_bytes(struct bytes text, size_t sum)
{
    struct json_scan scan;
    json_begin(&scan, text);
    for (;;) {
        struct json_token token = json_next(&scan);
        if (token.kind == JSON_END || token.kind == JSON_ERROR)
            return text.len;
        if (sum < token.len)
            return token.from + sum;
        sum -= token.len;
    }
}

// Replaces the document by a text that differs in the middle; *is_same: it does not differ.
static bool
replace_document(struct editor *editor, struct bytes text, size_t cursor, int64_t now, bool *is_same)
{
    struct bytes old = editor_text(editor);
    size_t least = old.len < text.len ? old.len : text.len;
    size_t head = 0;
    size_t tail = 0;
    while (head < least && old.data[head] == text.data[head])
        head++;
    while (tail < least - head && old.data[old.len - 1 - tail] == text.data[text.len - 1 - tail])
        tail++;
    *is_same = head == old.len && head == text.len;
    struct bytes middle = bytes_slice(text, head, text.len - head - tail);
    if (*is_same || !editor_apply(editor, UNDO_ALONE, false, head, old.len - tail, middle, now))
        return false;
    editor_finish(editor, cursor);
    return true;
}

static bool
rewrite_document(struct editor *editor, bool (*rewrite)(struct bytes, struct strbuf *), int64_t now,
                 struct err *err)
{
    if (!editor->is_json)
        return err_set(err, ERR_USAGE, "this is edited as text; only JSON can be formatted");
    if (editor->is_read_only)
        return err_set(err, ERR_DENIED, "this document is read-only");
    struct bytes text = editor_text(editor);
    if (!json_fits(text, err) || !json_check(text, err))
        return false;
    struct strbuf out = {0};
    if (!rewrite(text, &out)) {
        strbuf_release(&out);
        return err_set(err, ERR_INTERNAL, "the document could not be formatted, though it is JSON");
    }
    size_t cursor = behind_token_bytes(strbuf_bytes(&out), token_bytes_before(text, editor->place.cursor));
    bool is_same;
    bool is_done = replace_document(editor, strbuf_bytes(&out), cursor, now, &is_same);
    if (!is_done && !is_same)
        err_set(err, ERR_USAGE, "the formatted document would have more than 16 MB");
    strbuf_release(&out);
    return is_done;
}

bool
editor_format(struct editor *editor, int64_t now, struct err *err)
{
    return rewrite_document(editor, json_format, now, err);
}

bool
editor_minify(struct editor *editor, int64_t now, struct err *err)
{
    return rewrite_document(editor, json_minify, now, err);
}
