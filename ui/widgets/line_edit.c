// Edits one line of text: moves the cursor and deletes by character and by word.
#include "base/utf8.h"
#include "ui/widgets/prompt.h"

// A character's beginning at or before `at`.
static size_t
character_start(struct bytes text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.data[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static size_t
previous(struct bytes text, size_t at)
{
    return at == 0 ? 0 : character_start(text, at - 1);
}

static size_t
next(struct bytes text, size_t at)
{
    uint32_t point;
    return at >= text.len ? text.len : at + utf8_decode(text, at, &point);
}

static size_t
word_left(struct bytes text, size_t at)
{
    while (at > 0 && text.data[at - 1] == ' ')
        at--;
    while (at > 0 && text.data[at - 1] != ' ')
        at--;
    return at;
}

static size_t
word_right(struct bytes text, size_t at)
{
    while (at < text.len && text.data[at] == ' ')
        at++;
    while (at < text.len && text.data[at] != ' ')
        at++;
    return at;
}

void
line_edit_set(struct line_edit *edit, struct bytes text)
{
    strbuf_reset(&edit->text);
    edit->caret = 0;
    line_edit_insert(edit, text);
}

void
line_edit_insert(struct line_edit *edit, struct bytes typed)
{
    for (size_t at = 0; at < typed.len;) {
        uint32_t point;
        size_t len = utf8_decode(typed, at, &point);
        struct bytes piece = bytes_slice(typed, at, len);
        at += len;
        if (point == '\n' || point == '\r' || point == '\t')
            piece = BYTES(" ");
        else if (point == UTF8_INVALID || !utf8_printable(point))
            continue;
        if (point == '\r' && at < typed.len && typed.data[at] == '\n')
            at++;
        strbuf_splice(&edit->text, edit->caret, 0, piece);
        edit->caret += piece.len;
    }
}

static void
cut(struct line_edit *edit, size_t from, size_t to)
{
    strbuf_splice(&edit->text, from, to - from, BYTES(""));
    edit->caret = from;
}

static size_t
line_start(struct bytes text, size_t at)
{
    (void)text;
    (void)at;
    return 0;
}

static size_t
line_end(struct bytes text, size_t at)
{
    (void)at;
    return text.len;
}

// Where each action takes the caret, or up to where it deletes.
static const struct {
    enum action action;
    size_t (*target)(struct bytes text, size_t at);
    bool deletes;
} edits[] = {
    {DO_CHAR_LEFT, previous, false},    {DO_CHAR_RIGHT, next, false},
    {DO_WORD_LEFT, word_left, false},   {DO_WORD_RIGHT, word_right, false},
    {DO_LINE_START, line_start, false}, {DO_LINE_END, line_end, false},
    {DO_DELETE_LEFT, previous, true},   {DO_DELETE_RIGHT, next, true},
    {DO_DELETE_WORD, word_left, true},  {DO_DELETE_TO_START, line_start, true},
    {DO_DELETE_TO_END, line_end, true},
};

bool
line_edit_handle(struct line_edit *edit, enum action action)
{
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        if (edits[i].action != action)
            continue;
        size_t caret = edit->caret;
        size_t target = edits[i].target(strbuf_bytes(&edit->text), caret);
        if (edits[i].deletes)
            cut(edit, target < caret ? target : caret, target < caret ? caret : target);
        else
            edit->caret = target;
        return true;
    }
    return false;
}

void
line_edit_draw(const struct line_edit *edit, struct canvas *canvas, int row, int col, int width,
               enum role role, bool has_focus)
{
    if (width < 1)
        return;
    struct bytes text = strbuf_bytes(&edit->text);
    int before = text_cells(bytes_slice(text, 0, edit->caret), canvas->is_ascii);
    int skip = before >= width ? before - width + 1 : 0;
    struct canvas_style style = {.role = role,
                                 .cut = has_focus ? CUT_SILENT : CUT_END,
                                 .is_filled = true,
                                 .skip = has_focus ? skip : 0};
    (void)canvas_styled(canvas, row, col, width, text, &style);
    if (has_focus)
        canvas_caret(canvas, row, col + before - skip);
}

void
line_edit_release(struct line_edit *edit)
{
    strbuf_release(&edit->text);
    edit->caret = 0;
}
