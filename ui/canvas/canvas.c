#include "ui/canvas/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"

static const struct {
    const char *utf8;
    const char *ascii;
} glyphs[GLYPH_COUNT] = {
    [GLYPH_CURSOR] = {"▌", ">"},       [GLYPH_SELECTED] = {"●", "*"},  [GLYPH_DOT] = {"●", "*"},
    [GLYPH_CRUMB] = {"▸", ">"},        [GLYPH_ELLIPSIS] = {"…", "~"},  [GLYPH_EDITED] = {"~", "~"},
    [GLYPH_BACK] = {"↩", "<"},         [GLYPH_BUSY] = {"⧗", "%"},      [GLYPH_QUARANTINE] = {"!", "!"},
    [GLYPH_CLOSED] = {"×", "x"},       [GLYPH_LINE] = {"─", "-"},      [GLYPH_BAR] = {"│", "|"},
    [GLYPH_TOP_LEFT] = {"┌", "+"},     [GLYPH_TOP_RIGHT] = {"┐", "+"}, [GLYPH_BOTTOM_LEFT] = {"└", "+"},
    [GLYPH_BOTTOM_RIGHT] = {"┘", "+"}, [GLYPH_TEE_LEFT] = {"├", "+"},  [GLYPH_TEE_RIGHT] = {"┤", "+"},
    [GLYPH_FULL] = {"█", "#"},         [GLYPH_EMPTY] = {"░", "."},     [GLYPH_WATCHED] = {"▒", "="},
    [GLYPH_RETURNED] = {"▞", "<"},     [GLYPH_FAILED] = {"╳", "x"},    [GLYPH_NONE] = {"–", "-"},
    [GLYPH_SEPARATOR] = {"·", "|"},    [GLYPH_FOLDED] = {"▸", "+"},    [GLYPH_UNFOLDED] = {"▾", "-"},
    [GLYPH_RISING] = {"▲", "^"},       [GLYPH_FALLING] = {"▼", "v"},   [GLYPH_UP] = {"↑", "^"},
    [GLYPH_DOWN] = {"↓", "v"},         [GLYPH_SCROLL] = {"▐", "|"},
};

static const struct cell blank = {.base = ' ', .width = 1, .role = ROLE_TEXT};

void
canvas_init(struct canvas *canvas, int rows, int cols, bool is_ascii)
{
    *canvas = (struct canvas){.is_ascii = is_ascii};
    canvas_resize(canvas, rows, cols);
}

void
canvas_resize(struct canvas *canvas, int rows, int cols)
{
    canvas->rows = rows > 0 ? rows : 0;
    canvas->cols = cols > 0 ? cols : 0;
    size_t count = size_mul((size_t)canvas->rows, (size_t)canvas->cols);
    canvas->cells = alloc_resize(canvas->cells, count ? count : 1, sizeof *canvas->cells);
    canvas_clear(canvas);
}

void
canvas_release(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

void
canvas_clear(struct canvas *canvas)
{
    size_t count = (size_t)canvas->rows * (size_t)canvas->cols;
    for (size_t i = 0; i < count; i++)
        canvas->cells[i] = blank;
    canvas->link_count = 0;
    canvas->caret_row = -1;
    canvas->caret_col = 0;
}

static struct cell *
cell_at(struct canvas *canvas, int row, int col)
{
    if (row < 0 || row >= canvas->rows || col < 0 || col >= canvas->cols)
        return NULL;
    return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

const struct cell *
canvas_cell(const struct canvas *canvas, int row, int col)
{
    if (row < 0 || row >= canvas->rows || col < 0 || col >= canvas->cols)
        return NULL;
    return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

struct area
canvas_area(const struct canvas *canvas)
{
    return (struct area){.rows = canvas->rows, .cols = canvas->cols};
}

static int
at_most(int wanted, int there)
{
    if (wanted < 0)
        return 0;
    return wanted < there ? wanted : there;
}

struct area
area_take_top(struct area *area, int rows)
{
    struct area taken = *area;
    taken.rows = at_most(rows, area->rows);
    area->row += taken.rows;
    area->rows -= taken.rows;
    return taken;
}

struct area
area_take_bottom(struct area *area, int rows)
{
    struct area taken = *area;
    taken.rows = at_most(rows, area->rows);
    area->rows -= taken.rows;
    taken.row = area->row + area->rows;
    return taken;
}

struct area
area_take_left(struct area *area, int cols)
{
    struct area taken = *area;
    taken.cols = at_most(cols, area->cols);
    area->col += taken.cols;
    area->cols -= taken.cols;
    return taken;
}

struct area
area_take_right(struct area *area, int cols)
{
    struct area taken = *area;
    taken.cols = at_most(cols, area->cols);
    area->cols -= taken.cols;
    taken.col = area->col + area->cols;
    return taken;
}

// The half of a wide character that is not overwritten becomes blank.
static void
split_wide(struct canvas *canvas, int row, int col)
{
    struct cell *cell = cell_at(canvas, row, col);
    if (!cell)
        return;
    struct cell *left = cell->width == 0 ? cell_at(canvas, row, col - 1) : NULL;
    struct cell *right = cell->width == 2 ? cell_at(canvas, row, col + 1) : NULL;
    if (left)
        *left = (struct cell){.base = ' ', .width = 1, .role = left->role};
    if (right)
        *right = (struct cell){.base = ' ', .width = 1, .role = right->role};
}

// Puts one character; a wide one needs both cells on the canvas, else blanks stand there.
static void
canvas_put(struct canvas *canvas, int row, int col, uint32_t base, int width, enum role role,
           uint8_t attributes)
{
    struct cell *cell = cell_at(canvas, row, col);
    struct cell *right = width == 2 ? cell_at(canvas, row, col + 1) : NULL;
    if (width == 2 && !right)
        base = ' ';
    if (cell) {
        split_wide(canvas, row, col);
        *cell = (struct cell){
            .base = base, .width = right ? 2 : 1, .role = (uint8_t)role, .attributes = attributes};
    }
    if (right) {
        if (right->width == 2)
            split_wide(canvas, row, col + 1);
        // The left half lies off the canvas: no half of a character alone.
        *right = cell ? (struct cell){.role = (uint8_t)role, .attributes = attributes}
                      : (struct cell){.base = ' ', .width = 1, .role = (uint8_t)role};
    }
}

// One piece of a text as it is drawn: a character, a combining mark for the character before, or an escape.
struct piece {
    size_t bytes;
    int width;      // cells; 0: a mark
    uint32_t point; // unless escaped
    bool is_escape;
    int escape_len;
    char escape[20]; // ASCII
};

static void
escape_piece(struct piece *piece, struct bytes text, size_t at, bool is_ascii)
{
    piece->is_escape = true;
    if (is_ascii && piece->point != UTF8_INVALID && utf8_printable(piece->point)) {
        piece->escape_len = snprintf(piece->escape, sizeof piece->escape,
                                     piece->point > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)piece->point);
    } else if (piece->point != UTF8_INVALID && utf8_printable(piece->point)) {
        piece->escape_len = snprintf(piece->escape, sizeof piece->escape, "<U+%04X>", (unsigned)piece->point);
    } else {
        struct strbuf words = {0};
        text_visible(&words, bytes_slice(text, at, piece->bytes), false);
        piece->escape_len = snprintf(piece->escape, sizeof piece->escape, "%s", strbuf_text(&words));
        strbuf_release(&words);
    }
    piece->width = piece->escape_len;
}

// `marks`: how many marks the character before has, or -1 where there is none to carry one.
static struct piece
piece_at(struct bytes text, size_t at, int marks, bool is_ascii)
{
    struct piece piece = {.bytes = 1, .width = 1, .point = (unsigned char)text.data[at]};
    if (piece.point >= 0x20 && piece.point < 0x7f)
        return piece;

    piece.bytes = utf8_decode(text, at, &piece.point);
    bool is_shown = piece.point != UTF8_INVALID && utf8_printable(piece.point) && !is_ascii;
    piece.width = is_shown ? utf8_width(piece.point) : 1;
    bool is_lone_mark = piece.width == 0 && (marks < 0 || marks >= CELL_MARKS);
    if (!is_shown || is_lone_mark)
        escape_piece(&piece, text, at, is_ascii);
    return piece;
}

// Follows how many marks the character before has.
static int
marks_after(const struct piece *piece, int marks)
{
    if (piece->is_escape)
        return -1;
    return piece->width == 0 ? marks + 1 : 0;
}

int
text_cells(struct bytes untrusted, bool is_ascii)
{
    int cells = 0;
    int marks = -1;
    for (size_t at = 0; at < untrusted.len && cells < (1 << 24);) {
        struct piece piece = piece_at(untrusted, at, marks, is_ascii);
        cells += piece.width;
        marks = marks_after(&piece, marks);
        at += piece.bytes;
    }
    return cells;
}

size_t
text_fit(struct bytes text, size_t at, int width, bool is_ascii)
{
    size_t end = at;
    size_t blank_end = at; // behind the last blank
    int blank_cells = 0;
    int cells = 0;
    int marks = -1;
    while (end < text.len && text.data[end] != '\n') {
        struct piece piece = piece_at(text, end, marks, is_ascii);
        if (cells + piece.width > width && end > at) {
            bool is_near = blank_end > at && blank_cells * 3 >= width * 2;
            return (is_near && text.data[end] != ' ' ? blank_end : end) - at;
        }
        cells += piece.width;
        marks = marks_after(&piece, marks);
        end += piece.bytes;
        if (text.data[end - 1] == ' ') {
            blank_end = end;
            blank_cells = cells;
        }
    }
    return end - at;
}

size_t
text_resume(struct bytes text, size_t at)
{
    return at + (at < text.len && (text.data[at] == '\n' || text.data[at] == ' '));
}

// A run of cells in one row: where drawing happens and what of the text lies before it.
struct text_run {
    struct canvas *canvas;
    int row, col, width;
    int cell; // of the text, relative to col: negative while skipped
    const struct canvas_style *style;
    size_t span;
    int last; // column of the last base drawn, or -1
};

static enum role
role_at(struct text_run *run, size_t at)
{
    const struct canvas_style *style = run->style;
    while (run->span < style->span_count && style->spans[run->span].from + style->spans[run->span].len <= at)
        run->span++;
    if (run->span < style->span_count && style->spans[run->span].from <= at)
        return style->spans[run->span].role;
    return style->role;
}

static void
run_put(struct text_run *run, uint32_t base, int width, enum role role)
{
    int left = run->cell;
    run->cell += width;
    run->last = -1;
    if (left >= 0 && run->cell <= run->width) {
        run->last = run->col + left;
        canvas_put(run->canvas, run->row, run->last, base, width, role, run->style->attributes);
        return;
    }
    // A wide character cut by an edge leaves a blank in the half that is inside.
    for (int cell = left; cell < run->cell; cell++)
        if (cell >= 0 && cell < run->width)
            canvas_put(run->canvas, run->row, run->col + cell, ' ', 1, role, run->style->attributes);
}

static void
run_mark(struct text_run *run, uint32_t mark)
{
    struct cell *cell = run->last < 0 ? NULL : cell_at(run->canvas, run->row, run->last);
    for (int i = 0; cell && i < CELL_MARKS; i++) {
        if (!cell->marks[i]) {
            cell->marks[i] = mark;
            return;
        }
    }
}

// Draws until the text or the room ends; true when the text did not fit.
static bool
run_text(struct text_run *run, struct bytes text)
{
    int marks = -1;
    for (size_t at = 0; at < text.len;) {
        struct piece piece = piece_at(text, at, marks, run->canvas->is_ascii);
        if (run->cell + piece.width > run->width && piece.width > 0 && !piece.is_escape) {
            run_put(run, ' ', 1, role_at(run, at));
            return true;
        }
        if (piece.width == 0)
            run_mark(run, piece.point);
        else if (!piece.is_escape)
            run_put(run, piece.point, piece.width, role_at(run, at));
        for (int i = 0; piece.is_escape && i < piece.escape_len; i++)
            run_put(run, (unsigned char)piece.escape[i], 1, ROLE_ESCAPE);
        marks = marks_after(&piece, marks);
        at += piece.bytes;
        if (run->cell > run->width)
            return true;
    }
    return false;
}

static void
draw_ellipsis(struct canvas *canvas, int row, int col, const struct canvas_style *style)
{
    uint32_t point;
    utf8_decode(bytes_of(glyph_text(canvas, GLYPH_ELLIPSIS)), 0, &point);
    canvas_put(canvas, row, col, point, 1, style->role, style->attributes);
}

// The text is longer than the room, and its beginning or middle is to be left out.
static void
draw_cut(struct canvas *canvas, int row, int col, int width, struct bytes text, int cells,
         const struct canvas_style *style)
{
    int before = style->cut == CUT_MIDDLE ? (width - 1) / 2 : 0;
    int after = width - 1 - before;
    struct text_run head = {
        .canvas = canvas, .row = row, .col = col, .width = before, .style = style, .last = -1};
    run_text(&head, text);
    draw_ellipsis(canvas, row, col + before, style);
    struct text_run tail = {.canvas = canvas,
                            .row = row,
                            .col = col + before + 1,
                            .width = after,
                            .cell = after - cells,
                            .style = style,
                            .last = -1};
    run_text(&tail, text);
}

static void
fill_run(struct canvas *canvas, int row, int from, int to, const struct canvas_style *style)
{
    for (int col = from; col < to; col++)
        canvas_put(canvas, row, col, ' ', 1, style->role, style->attributes);
}

int
canvas_styled(struct canvas *canvas, int row, int col, int width, struct bytes untrusted,
              const struct canvas_style *style)
{
    if (col + width > canvas->cols)
        width = canvas->cols - col;
    if (width <= 0 || row < 0 || row >= canvas->rows)
        return 0;

    bool needs_length = style->at_right || style->cut == CUT_MIDDLE || style->cut == CUT_START;
    int cells = needs_length ? text_cells(untrusted, canvas->is_ascii) : 0;
    if (cells > width && style->skip == 0 && (style->cut == CUT_MIDDLE || style->cut == CUT_START)) {
        draw_cut(canvas, row, col, width, untrusted, cells, style);
        return width;
    }

    int indent = style->at_right && cells < width ? width - cells : 0;
    struct text_run run = {.canvas = canvas,
                           .row = row,
                           .col = col,
                           .width = width,
                           .cell = indent - style->skip,
                           .style = style,
                           .last = -1};
    bool is_cut = run_text(&run, untrusted);
    if (is_cut && style->cut != CUT_SILENT)
        draw_ellipsis(canvas, row, col + width - 1, style);
    int end = at_most(run.cell, width);
    if (style->is_filled) {
        fill_run(canvas, row, col, col + indent, style);
        fill_run(canvas, row, col + end, col + width, style);
        return width;
    }
    return end;
}

int
canvas_text(struct canvas *canvas, int row, int col, int width, struct bytes untrusted, enum role role)
{
    return canvas_styled(canvas, row, col, width, untrusted, &(struct canvas_style){.role = role});
}

int
canvas_printf(struct canvas *canvas, int row, int col, int width, enum role role, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct bytes all = {text, len < 0 ? 0 : (size_t)at_most(len, (int)sizeof text - 1)};
    if (len >= (int)sizeof text)
        all.len = utf8_cut(all, all.len);
    return canvas_text(canvas, row, col, width, all, role);
}

int
canvas_count(struct canvas *canvas, int row, int col, int width, int64_t n, enum role role)
{
    char text[TEXT_SHORT];
    return canvas_styled(canvas, row, col, width, bytes_of(text_count(n, text)),
                         &(struct canvas_style){.role = role, .at_right = true});
}

const char *
glyph_text(const struct canvas *canvas, enum glyph glyph)
{
    return canvas->is_ascii ? glyphs[glyph].ascii : glyphs[glyph].utf8;
}

int
canvas_glyph(struct canvas *canvas, int row, int col, enum glyph glyph, enum role role)
{
    uint32_t point;
    utf8_decode(bytes_of(glyph_text(canvas, glyph)), 0, &point);
    canvas_put(canvas, row, col, point, 1, role, 0);
    return 1;
}

void
canvas_fill(struct canvas *canvas, struct area area, enum role role)
{
    for (int row = area.row; row < area.row + area.rows; row++)
        for (int col = area.col; col < area.col + area.cols; col++)
            canvas_put(canvas, row, col, ' ', 1, role, 0);
}

void
canvas_hline(struct canvas *canvas, int row, int col, int width, enum role role)
{
    for (int i = 0; i < width; i++)
        canvas_glyph(canvas, row, col + i, GLYPH_LINE, role);
}

void
canvas_vline(struct canvas *canvas, int row, int col, int height, enum role role)
{
    for (int i = 0; i < height; i++)
        canvas_glyph(canvas, row + i, col, GLYPH_BAR, role);
}

void
canvas_box(struct canvas *canvas, struct area area, enum role role)
{
    if (area.rows < 2 || area.cols < 2)
        return;
    int bottom = area.row + area.rows - 1;
    int right = area.col + area.cols - 1;
    canvas_hline(canvas, area.row, area.col + 1, area.cols - 2, role);
    canvas_hline(canvas, bottom, area.col + 1, area.cols - 2, role);
    canvas_vline(canvas, area.row + 1, area.col, area.rows - 2, role);
    canvas_vline(canvas, area.row + 1, right, area.rows - 2, role);
    canvas_glyph(canvas, area.row, area.col, GLYPH_TOP_LEFT, role);
    canvas_glyph(canvas, area.row, right, GLYPH_TOP_RIGHT, role);
    canvas_glyph(canvas, bottom, area.col, GLYPH_BOTTOM_LEFT, role);
    canvas_glyph(canvas, bottom, right, GLYPH_BOTTOM_RIGHT, role);
}

void
canvas_copy(struct canvas *canvas, struct area area, const struct canvas *from, int row, int col)
{
    for (int r = 0; r < area.rows; r++) {
        for (int c = 0; c < area.cols; c++) {
            const struct cell *source = canvas_cell(from, row + r, col + c);
            struct cell *cell = cell_at(canvas, area.row + r, area.col + c);
            if (!source || !cell)
                continue;
            bool is_cut = (source->width == 0 && c == 0) || (source->width == 2 && c == area.cols - 1);
            *cell = *source;
            if (is_cut)
                *cell = (struct cell){.base = ' ', .width = 1, .role = source->role};
        }
    }
}

int
canvas_used(const struct canvas *canvas, int row)
{
    int used = canvas->cols;
    for (; used > 0; used--) {
        const struct cell *cell = canvas_cell(canvas, row, used - 1);
        if (!cell || cell->base != ' ')
            break;
    }
    return used;
}

void
canvas_restyle(struct canvas *canvas, struct area area, enum role role)
{
    for (int row = area.row; row < area.row + area.rows; row++) {
        for (int col = area.col; col < area.col + area.cols; col++) {
            struct cell *cell = cell_at(canvas, row, col);
            if (!cell)
                continue;
            cell->role = (uint8_t)role;
            cell->attributes = 0;
        }
    }
}

static bool
is_plain(enum role role)
{
    return role == ROLE_TEXT || role == ROLE_DIM || role == ROLE_STRONG || role == ROLE_GROUP_COUNT ||
           role == ROLE_GROUP_BAR || role == ROLE_EVENT_PENDING || role == ROLE_GRAPH_AXIS;
}

void
canvas_cursor_row(struct canvas *canvas, struct area area)
{
    for (int col = area.col; col < area.col + area.cols; col++) {
        struct cell *cell = cell_at(canvas, area.row, col);
        if (!cell)
            continue;
        bool keeps_hue = cell->base != ' ' && !is_plain((enum role)cell->role);
        cell->attributes = keeps_hue ? CELL_CURSOR : 0;
        cell->role = keeps_hue ? cell->role : (uint8_t)ROLE_CURSOR;
    }
}

void
canvas_add_attributes(struct canvas *canvas, struct area area, uint8_t attributes)
{
    for (int row = area.row; row < area.row + area.rows; row++) {
        for (int col = area.col; col < area.col + area.cols; col++) {
            struct cell *cell = cell_at(canvas, row, col);
            if (cell)
                cell->attributes |= attributes;
        }
    }
}

static bool
is_address(const char *text)
{
    for (; *text > ' ' && *text < 0x7f; text++)
        continue;
    return *text == '\0';
}

void
canvas_link(struct canvas *canvas, int row, int col, int cells, const char *address)
{
    int at = 0;
    while (at < canvas->link_count && strcmp(canvas->links[at], address) != 0)
        at++;
    if (at == CANVAS_LINKS || !is_address(address))
        return;
    canvas->links[at] = address;
    canvas->link_count = at < canvas->link_count ? canvas->link_count : at + 1;
    for (int i = 0; i < cells; i++) {
        struct cell *cell = cell_at(canvas, row, col + i);
        if (cell)
            cell->link = (uint8_t)(at + 1);
    }
}

void
canvas_caret(struct canvas *canvas, int row, int col)
{
    bool is_inside = row >= 0 && row < canvas->rows && col >= 0 && col < canvas->cols;
    canvas->caret_row = is_inside ? row : -1;
    canvas->caret_col = is_inside ? col : 0;
}

static void
add_point(struct strbuf *out, uint32_t point)
{
    char encoded[4];
    size_t len = utf8_encode(point, encoded);
    strbuf_add(out, (struct bytes){encoded, len});
}

void
canvas_to_text(const struct canvas *canvas, struct strbuf *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        size_t inked = out->len;
        for (int col = 0; col < canvas->cols; col++) {
            const struct cell *cell = canvas_cell(canvas, row, col);
            if (cell->width == 0)
                continue;
            add_point(out, cell->base);
            for (int i = 0; i < CELL_MARKS && cell->marks[i]; i++)
                add_point(out, cell->marks[i]);
            if (cell->base != ' ' || cell->marks[0])
                inked = out->len;
        }
        strbuf_splice(out, inked, out->len - inked, BYTES(""));
        strbuf_add_char(out, '\n');
    }
}

void
canvas_to_roles(const struct canvas *canvas, struct strbuf *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        for (int col = 0; col < canvas->cols;) {
            const struct cell *first = canvas_cell(canvas, row, col);
            int end = col + 1;
            for (; end < canvas->cols; end++) {
                const struct cell *cell = canvas_cell(canvas, row, end);
                if (cell->role != first->role || cell->attributes != first->attributes)
                    break;
            }
            if (first->role != ROLE_TEXT || first->attributes)
                strbuf_printf(out, "%d:%d-%d %s%s%s%s%s\n", row, col, end - 1, role_name(first->role),
                              first->attributes & CELL_DIM ? " dim" : "",
                              first->attributes & CELL_STRONG ? " strong" : "",
                              first->attributes & CELL_UNDERLINE ? " underline" : "",
                              first->attributes & CELL_CURSOR ? " on cursor" : "");
            col = end;
        }
    }
}
