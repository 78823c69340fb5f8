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

bool
line_edit_handle(struct line_edit *edit, enum action action)
{
    struct bytes text = strbuf_bytes(&edit->text);
    size_t caret = edit->caret;
    switch ((int)action) {
    case DO_CHAR_LEFT:
        edit->caret = previous(text, caret);
        return true;
    case DO_CHAR_RIGHT:
        edit->caret = next(text, caret);
        return true;
    case DO_WORD_LEFT:
        edit->caret = word_left(text, caret);
        return true;
    case DO_WORD_RIGHT:
        edit->caret = word_right(text, caret);
        return true;
    case DO_LINE_START:
        edit->caret = 0;
        return true;
    case DO_LINE_END:
        edit->caret = text.len;
        return true;
    case DO_DELETE_LEFT:
        cut(edit, previous(text, caret), caret);
        return true;
    case DO_DELETE_RIGHT:
        cut(edit, caret, next(text, caret));
        return true;
    case DO_DELETE_WORD:
        cut(edit, word_left(text, caret), caret);
        return true;
    case DO_DELETE_TO_START:
        cut(edit, 0, caret);
        return true;
    case DO_DELETE_TO_END:
        cut(edit, caret, text.len);
        return true;
    default:
        return false;
    }
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
