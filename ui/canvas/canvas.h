// canvas: a grid of cells, and the one way for text to reach the screen.
//
// Views and widgets draw the whole picture into a canvas from their state each time; ui/term/term compares it
// with what the terminal shows. Every function that takes bytes treats them as hostile: control characters,
// bidi and zero-width characters, private use and invalid UTF-8 become visible escapes in
// ROLE_ESCAPE; at most four combining marks stay on a base. Text is clipped by cells, never by
// bytes, and a wide character is never split. Rows and columns count from 0; drawing outside is clipped
// silently.
#ifndef REDRIVE_UI_CANVAS_CANVAS_H
#define REDRIVE_UI_CANVAS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "ui/canvas/roles.h"

#define CELL_MARKS 4
#define CANVAS_LINKS 32

// Attributes on top of the role's look.
enum cell_attribute {
    CELL_DIM = 1,
    CELL_STRONG = 2,
    CELL_UNDERLINE = 4,
    CELL_CURSOR = 8 // the letters of the role, on what is behind the cursor row
};

struct cell {
    uint32_t base;              // the character; 0: right half of the wide one to the left
    uint32_t marks[CELL_MARKS]; // combining, 0: none
    uint8_t width;              // 1 or 2; 0 for a right half
    uint8_t role;
    uint8_t attributes;
    uint8_t link; // 1 + the place of its address in the canvas; 0: none
};

struct canvas {
    int rows, cols;
    bool is_ascii; // plain twins of our own glyphs, everything else as escapes (`--ascii`, a locale that is
                   // not UTF-8)
    struct cell *cells;              // rows * cols
    const char *links[CANVAS_LINKS]; // addresses that cells lead to; borrowed until canvas_clear
    int link_count;
    int caret_row, caret_col; // where the terminal's cursor is shown; row -1: hidden
};

// A rectangle of it.
struct area {
    int row, col, rows, cols;
};

void canvas_init(struct canvas *canvas, int rows, int cols, bool is_ascii);
void canvas_resize(struct canvas *canvas, int rows, int cols); // and clears
void canvas_release(struct canvas *canvas);
void canvas_clear(struct canvas *canvas); // all blanks in ROLE_TEXT, caret hidden
const struct cell *canvas_cell(const struct canvas *canvas, int row, int col); // NULL outside
struct area canvas_area(const struct canvas *canvas);                          // all of it

// Splitting an area: takes rows or columns off one side and returns them; `area` keeps the rest. Never more
// than there is.
struct area area_take_top(struct area *area, int rows);
struct area area_take_bottom(struct area *area, int rows);
struct area area_take_left(struct area *area, int cols);
struct area area_take_right(struct area *area, int cols);

// Where a text that is too long is cut; the cut shows as "…" ("~" in ASCII).
enum canvas_cut { CUT_END, CUT_MIDDLE, CUT_START, CUT_SILENT };

// A byte range of a text in its own role. Ranges ascend and do not overlap.
struct canvas_span {
    size_t from, len;
    enum role role;
};

struct canvas_style {
    enum role role;
    uint8_t attributes;
    enum canvas_cut cut;
    bool at_right;  // flush right
    bool is_filled; // blanks up to width take the role too
    int skip;       // cells left out at the beginning: scrolled sideways
    const struct canvas_span *spans;
    size_t span_count;
};

// All return the number of cells drawn. Width is the room in cells; text that needs more is cut.
int canvas_text(struct canvas *canvas, int row, int col, int width, struct bytes untrusted, enum role role);
int canvas_styled(struct canvas *canvas, int row, int col, int width, struct bytes untrusted,
                  const struct canvas_style *style);
// Formats (up to 4 KiB) and draws; what "%s" brings in is as hostile as anything.
int canvas_printf(struct canvas *canvas, int row, int col, int width, enum role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
int canvas_count(struct canvas *canvas, int row, int col, int width, int64_t n,
                 enum role role); // "1,204,000", flush right

// Our own glyphs, each with an ASCII twin.
enum glyph {
    GLYPH_CURSOR,     // ▌ >
    GLYPH_SELECTED,   // ● *
    GLYPH_DOT,        // ● *   state of a worker
    GLYPH_CRUMB,      // ▸ >
    GLYPH_ELLIPSIS,   // … ~
    GLYPH_EDITED,     // ~ ~
    GLYPH_BACK,       // ↩ <
    GLYPH_BUSY,       // ⧗ %
    GLYPH_QUARANTINE, // ! !
    GLYPH_CLOSED,     // × x   no longer pending
    GLYPH_LINE,       // ─ -
    GLYPH_BAR,        // │ |
    GLYPH_TOP_LEFT,
    GLYPH_TOP_RIGHT,
    GLYPH_BOTTOM_LEFT,
    GLYPH_BOTTOM_RIGHT, // ┌ ┐ └ ┘ +
    GLYPH_TEE_LEFT,
    GLYPH_TEE_RIGHT, // ├ ┤ +
    GLYPH_FULL,      // █ #
    GLYPH_EMPTY,     // ░ .
    GLYPH_WATCHED,   // ▒ =   the next three: parts of a bar, told apart without colour
    GLYPH_RETURNED,  // ▞ <
    GLYPH_FAILED,    // ╳ x
    GLYPH_NONE,      // – -   no value
    GLYPH_SEPARATOR, // · |   between the parts of a sentence
    GLYPH_FOLDED,
    GLYPH_UNFOLDED, // ▸ ▾  + -
    GLYPH_UP,
    GLYPH_DOWN, // ↑ ↓  ^ v   order, more above and below
    GLYPH_RISING,
    GLYPH_FALLING, // ▲ ▼  ^ v   a number that has doubled or halved
    GLYPH_SCROLL,  // ▐ |   the part of a list that is on the screen
    GLYPH_COUNT
};
int canvas_glyph(struct canvas *canvas, int row, int col, enum glyph glyph, enum role role);
// The glyph as text, for building sentences: "8,420 sent – …".
const char *glyph_text(const struct canvas *canvas, enum glyph glyph);

// Copies a rectangle of `from`, which begins at its cell (row, col), to an area; a wide character that the
// edge of the rectangle cuts becomes blanks.
void canvas_copy(struct canvas *canvas, struct area area, const struct canvas *from, int row, int col);
// Cells up to the last one in a row that is not a blank.
int canvas_used(const struct canvas *canvas, int row);

void canvas_fill(struct canvas *canvas, struct area area, enum role role); // blanks
void canvas_hline(struct canvas *canvas, int row, int col, int width, enum role role);
void canvas_vline(struct canvas *canvas, int row, int col, int height, enum role role);
void canvas_box(struct canvas *canvas, struct area area, enum role role); // frame; the inside is left
void canvas_restyle(struct canvas *canvas, struct area area,
                    enum role role); // everything in it takes this one role
// The row of the cursor: what says something by its hue keeps it, the rest takes the cursor's role.
void canvas_cursor_row(struct canvas *canvas, struct area area);
void canvas_add_attributes(struct canvas *canvas, struct area area, uint8_t attributes);
// Cells that were drawn become a link, where the terminal knows links. The address is printable ASCII without
// blanks, else it is none; borrowed until canvas_clear. Of more than CANVAS_LINKS the others are none.
void canvas_link(struct canvas *canvas, int row, int col, int cells, const char *address);
void canvas_caret(struct canvas *canvas, int row, int col);

// Cells that the text takes when drawn whole.
int text_cells(struct bytes untrusted, bool is_ascii);
// For wrapping: how many bytes of `text` from `at` fit into `width` cells (at least one character; up to a
// newline; at a blank if one is near).
size_t text_fit(struct bytes text, size_t at, int width, bool is_ascii);
// Where the next row begins when one ended at `at`: behind the newline or the blank at which it broke.
size_t text_resume(struct bytes text, size_t at);

// The picture as text, trailing blanks cut, one line per row; and which roles stand where, for golden tests.
void canvas_to_text(const struct canvas *canvas, struct strbuf *out);
void canvas_to_roles(const struct canvas *canvas, struct strbuf *out);

#endif
