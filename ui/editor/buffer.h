// buffer: the bytes of a document with its lines and the cells that they take on the screen.
//
// The bytes lie in one block with a gap where the last edit was, and everything that is counted (line ends,
// cells) is kept for each 4 KiB of that block. So no length of a line costs anything: an edit moves the bytes
// between the last edit and this one, and a question about lines or cells reads at most one 4 KiB besides the
// counts. A piece table would hold an original that nobody asks for and needs a tree to find a line; the scan
// for JSON and the regular expressions want the bytes side by side, which a gap gives by moving once.
//
// Bytes are kept as they are: CRLF, a missing line end at the end, NUL and bytes that are not UTF-8. Offsets
// count bytes from 0, lines count from 0, and a line ends behind its \n. A document has one line more than it
// has \n: one that ends in \n has an empty last line. Memory: the document, at most a quarter of it as gap
// (and 16 KiB more), and 12 bytes for each 4 KiB.
#ifndef REDRIVE_UI_EDITOR_BUFFER_H
#define REDRIVE_UI_EDITOR_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

struct buffer;

struct buffer *buffer_create(struct bytes text); // copies it
void buffer_destroy(struct buffer *buffer);

size_t buffer_len(const struct buffer *buffer);
// The byte at `at`, which is less than the length.
unsigned char buffer_byte(const struct buffer *buffer, size_t at);
// The bytes from `at` that lie side by side: at least one below the length. Valid until the next change.
struct bytes buffer_run(const struct buffer *buffer, size_t at);
// Bytes [from, from + len), clipped to the document: a view of the buffer, or of a copy in `scratch` where
// the gap lies between them. Valid until the next change of either.
struct bytes buffer_slice(const struct buffer *buffer, size_t from, size_t len, struct strbuf *scratch);
// The whole document side by side. Moves the gap to the end: as long as an edit there. Valid until the next
// change.
struct bytes buffer_text(struct buffer *buffer);
// Puts `b` in place of the bytes [from, from + len). `b` must not be a view of this buffer.
void buffer_splice(struct buffer *buffer, size_t from, size_t len, struct bytes b);

size_t buffer_lines(const struct buffer *buffer); // at least 1
size_t buffer_line_at(struct buffer *buffer, size_t at);
// Where a line begins; the length for a line behind the last.
size_t buffer_line_start(struct buffer *buffer, size_t line);
// Where its text ends: before its \n or \r\n, or at the end of the document.
size_t buffer_line_end(struct buffer *buffer, size_t line);

// A character of the screen: what canvas_text draws for the bytes at one place.
struct buffer_piece {
    size_t len;     // bytes
    int cells;      // 0: a combining mark on the character before it
    bool is_escape; // drawn as \xNN, \t, <U+202E> …
};
// The piece that begins at `at` (below the length). A \n takes no cell.
struct buffer_piece buffer_piece(const struct buffer *buffer, size_t at);
// The beginning of the character with its combining marks that holds the byte at `at`; \r\n counts as one.
size_t buffer_character(const struct buffer *buffer, size_t at);
// Behind that character, and the beginning of the one before: where the cursor goes with one key.
size_t buffer_next(const struct buffer *buffer, size_t at);
size_t buffer_previous(const struct buffer *buffer, size_t at);

// The cells before `at` in its line, as canvas_text draws the line; a \r before \n takes none.
size_t buffer_cell_at(struct buffer *buffer, size_t at);
// The character of a line that covers this cell; the line's end for a cell behind it. With *cell (may be
// NULL) the cell where that character begins.
size_t buffer_at_cell(struct buffer *buffer, size_t line, size_t wanted, size_t *cell);
// Characters beyond ASCII are drawn as escapes (`--ascii`): all cells are counted again.
void buffer_set_ascii(struct buffer *buffer, bool is_ascii);

// Line and column from 1 for people: the column counts characters as core/json does (json_position), not
// cells.
void buffer_position(struct buffer *buffer, size_t at, size_t *line, size_t *column);
// The offset of such a position, clipped to the line and to the document.
size_t buffer_at_position(struct buffer *buffer, size_t line, size_t column);

// Bytes that were moved or read by all calls so far, and the memory held: for tests of what a key costs.
uint64_t buffer_work(const struct buffer *buffer);
size_t buffer_memory(const struct buffer *buffer);

#endif
