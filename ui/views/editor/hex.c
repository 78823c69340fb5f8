// The bytes of the payload in hexadecimal: to be looked at, also where they are no text.
#include "ui/views/editor/state.h"

#include "base/hex.h"
#include "base/utf8.h"

bool
editing_is_hex(const struct editing *editing)
{
    return editing->hex.is_on && editing->section == SECTION_PAYLOAD;
}

// Text that is not UTF-8 opens like this.
void
editing_hex_begin(struct editing *editing)
{
    struct bytes text = editing_origin(editing, SECTION_PAYLOAD);
    editing->hex = (struct editing_hex){.is_on = editing->read_only.payload && !utf8_valid(text)};
}

// What else moves the cursor, a search or a path, moves it here too.
static void
follow(struct editing *editing)
{
    size_t cursor = editor_cursor(editing_editor(editing));
    if (cursor != editing->hex.seen)
        editing->hex.at = editing->hex.seen = cursor;
}

bool
editing_toggle_hex(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN)
        return true;
    if (editing->section != SECTION_PAYLOAD)
        editing_show(editing, SECTION_PAYLOAD);
    editing->hex.is_on = !editing->hex.is_on;
    editing->keys.is_marking = false;
    editing->hex.at = editing->hex.seen = editor_cursor(editing_editor(editing));
    return true;
}

static void
hex_set(struct editing *editing, size_t at)
{
    struct editor *editor = editing_editor(editing);
    size_t len = editor_len(editor);
    editing->hex.at = at < len ? at : len ? len - 1 : 0;
    editor_set_cursor(editor, editing->hex.at, false);
    editing->hex.seen = editor_cursor(editor);
}

void
editing_hex_move(struct editing *editing, enum action action)
{
    size_t page = editing->place.rows > 1 ? (size_t)editing->place.rows - 1 : 1;
    follow(editing);
    const struct {
        enum action action;
        bool is_back;
        size_t bytes;
    } moves[] = {
        {DO_UP, true, HEX_ROW},
        {DO_DOWN, false, HEX_ROW},
        {DO_PAGE_UP, true, page * HEX_ROW},
        {DO_PAGE_DOWN, false, page * HEX_ROW},
        {DO_TOP, true, SIZE_MAX},
        {DO_BOTTOM, false, SIZE_MAX},
        {DO_CHAR_LEFT, true, 1},
        {DO_CHAR_RIGHT, false, 1},
        {DO_WORD_LEFT, true, HEX_ROW / 2},
        {DO_WORD_RIGHT, false, HEX_ROW / 2},
        {DO_LINE_START, true, editing->hex.at % HEX_ROW},
        {DO_LINE_END, false, HEX_ROW - 1 - editing->hex.at % HEX_ROW},
    };
    size_t at = editing->hex.at;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].action != action)
            continue;
        bool is_far = action == DO_TOP || action == DO_PAGE_UP;
        if (!moves[i].is_back)
            hex_set(editing, moves[i].bytes < SIZE_MAX - at ? at + moves[i].bytes : SIZE_MAX);
        else if (moves[i].bytes <= at)
            hex_set(editing, at - moves[i].bytes);
        else if (is_far)
            hex_set(editing, action == DO_TOP ? 0 : at % HEX_ROW);
    }
}

void
editing_hex_fit(struct editing *editing)
{
    struct editing_hex *hex = &editing->hex;
    size_t rows = editing->place.rows > 0 ? (size_t)editing->place.rows : 1;
    follow(editing);
    size_t line = hex->at / HEX_ROW;
    if (line < hex->top)
        hex->top = line;
    else if (line >= hex->top + rows)
        hex->top = line - rows + 1;
}

// Cells that are scrolled away so that the byte of the cursor can be seen.
static int
hidden_cells(const struct editing *editing, int cols)
{
    int col = (int)hex_digits_column(editing->hex.at % HEX_ROW);
    return col + 3 > cols ? col + 3 - cols : 0;
}

void
editing_hex_click(struct editing *editing, int row, int col)
{
    int cell = col + hidden_cells(editing, editing->place.cols);
    size_t i = 0;
    while (i + 1 < HEX_ROW && (int)hex_digits_column(i + 1) <= cell)
        i++;
    hex_set(editing, (editing->hex.top + (size_t)row) * HEX_ROW + i);
}

void
editing_hex_draw(const struct editing *editing, struct canvas *canvas, struct area area)
{
    const struct editing_hex *hex = &editing->hex;
    struct buffer *buffer = editor_buffer(editing_editor(editing));
    struct strbuf scratch = {0}, line = {0};
    int skip = hidden_cells(editing, area.cols - 1);
    for (int i = 0; i < area.rows; i++) {
        size_t from = (hex->top + (size_t)i) * HEX_ROW;
        if (from >= buffer_len(buffer))
            break;
        strbuf_reset(&line);
        hex_row(from, buffer_slice(buffer, from, HEX_ROW, &scratch), &line);
        (void)canvas_styled(canvas, area.row + i, area.col + 1, area.cols - 1, strbuf_bytes(&line),
                            &(struct canvas_style){.role = ROLE_TEXT, .skip = skip});
        if (hex->at / HEX_ROW != from / HEX_ROW)
            continue;
        int digits = (int)hex_digits_column(hex->at % HEX_ROW) - skip;
        int text = (int)hex_text_column(hex->at % HEX_ROW) - skip;
        canvas_caret(canvas, area.row + i, area.col + 1 + digits);
        if (text < area.cols - 1)
            canvas_add_attributes(canvas, (struct area){area.row + i, area.col + 1 + text, 1, 1},
                                  CELL_UNDERLINE | CELL_STRONG);
    }
    strbuf_release(&scratch);
    strbuf_release(&line);
}
