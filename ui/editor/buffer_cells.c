// Characters and cells of a buffer. The widths are those of canvas_text: a character that cannot be shown is
// an escape, and so is a combining mark that has no character to stand on or is the fifth one there.
#include "base/utf8.h"
#include "ui/editor/buffer_private.h"

enum { MARKS = 4 }; // as many as a cell of the canvas holds

static uint32_t
decode_at(const struct buffer *buffer, size_t at, size_t *len)
{
    struct bytes run = buffer_run(buffer, at);
    uint32_t point;
    char near[4];
    if (run.len < sizeof near && (unsigned char)run.data[0] >= 0x80) {
        size_t count = 0;
        for (; count < sizeof near && at + count < buffer->len; count++)
            near[count] = (char)buffer_at(buffer, at + count);
        run = (struct bytes){near, count};
    }
    *len = utf8_decode(run, 0, &point);
    return point;
}

// The beginning of the code point that holds the byte at `at`: a byte that continues none begins one.
static size_t
point_start(const struct buffer *buffer, size_t at)
{
    if (at >= buffer->len || (buffer_at(buffer, at) & 0xC0) != 0x80)
        return at;
    for (size_t back = 1; back <= 3 && back <= at; back++) {
        size_t len;
        if (decode_at(buffer, at - back, &len) != UTF8_INVALID && len > back)
            return at - back;
    }
    return at;
}

// Is there a character with room for a mark right before `at`?
static bool
carries_mark(const struct buffer *buffer, size_t at)
{
    for (int marks = 0; at > 0 && marks < MARKS; marks++) {
        at = point_start(buffer, at - 1);
        size_t len;
        uint32_t point = decode_at(buffer, at, &len);
        if (point == UTF8_INVALID || !utf8_printable(point))
            return false;
        if (utf8_width(point) > 0)
            return true;
    }
    return false;
}

static int
hex_cells(uint32_t point)
{
    return (point > 0xFFFFF ? 6 : point > 0xFFFF ? 5 : 4) + 4; // <U+…>
}

static int
escape_cells(const struct buffer *buffer, uint32_t point)
{
    if (point == UTF8_INVALID)
        return 4; // \xNN
    if (utf8_printable(point)) {
        if (!buffer->is_ascii)
            return hex_cells(point);
        return point > 0xFFFF ? 10 : 6; // \U0001F600, \u00e9
    }
    if (point == '\t' || point == '\r' || point == '\n' || point == 0x1B || point == 0)
        return 2; // \t
    return point < 0x20 || point == 0x7F ? 4 : hex_cells(point);
}

struct buffer_piece
buffer_piece(const struct buffer *buffer, size_t at)
{
    unsigned char c = buffer_at(buffer, at);
    if (c >= 0x20 && c < 0x7F)
        return (struct buffer_piece){.len = 1, .cells = 1};
    bool ends_line = c == '\n' || (c == '\r' && at + 1 < buffer->len && buffer_at(buffer, at + 1) == '\n');
    if (ends_line)
        return (struct buffer_piece){.len = 1};

    struct buffer_piece piece = {0};
    uint32_t point = decode_at(buffer, at, &piece.len);
    piece.is_escape = point == UTF8_INVALID || !utf8_printable(point) || buffer->is_ascii;
    piece.cells = piece.is_escape ? 0 : utf8_width(point);
    if (piece.cells == 0 && !piece.is_escape && !carries_mark(buffer, at))
        piece.is_escape = true;
    if (piece.is_escape)
        piece.cells = escape_cells(buffer, point);
    return piece;
}

static bool
is_attached_mark(const struct buffer *buffer, size_t at)
{
    return buffer_at(buffer, at) >= 0x80 && buffer_piece(buffer, at).cells == 0;
}

size_t
buffer_character(const struct buffer *buffer, size_t at)
{
    if (at >= buffer->len)
        return buffer->len;
    at = point_start(buffer, at);
    while (at > 0 && is_attached_mark(buffer, at))
        at = point_start(buffer, at - 1);
    bool is_second = at > 0 && buffer_at(buffer, at) == '\n' && buffer_at(buffer, at - 1) == '\r';
    return is_second ? at - 1 : at;
}

size_t
buffer_next(const struct buffer *buffer, size_t at)
{
    if (at >= buffer->len)
        return buffer->len;
    unsigned char c = buffer_at(buffer, at);
    at += buffer_piece(buffer, at).len;
    if (c == '\r' && at < buffer->len && buffer_at(buffer, at) == '\n')
        return at + 1;
    while (at < buffer->len && is_attached_mark(buffer, at))
        at += buffer_piece(buffer, at).len;
    return at;
}

size_t
buffer_previous(const struct buffer *buffer, size_t at)
{
    return at == 0 ? 0 : buffer_character(buffer, (at > buffer->len ? buffer->len : at) - 1);
}

// --- counting ---

// The length of the run of plain characters in [from, to): each takes one byte and one cell.
static size_t
plain_length(const struct buffer *buffer, size_t from, size_t to)
{
    struct bytes run = bytes_slice(buffer_run(buffer, from), 0, to - from);
    size_t len = 0;
    while (len < run.len && (unsigned char)(run.data[len] - 0x20) < 0x7F - 0x20)
        len++;
    return len;
}

// What begins in [from, to).
static struct buffer_tally
read_tally(struct buffer *buffer, size_t from, size_t to)
{
    struct buffer_tally tally = {0};
    size_t at = from;
    size_t start = from < to ? point_start(buffer, from) : from;
    if (start < from)
        at = start + buffer_piece(buffer, start).len;
    buffer->work += to - from;
    while (at < to) {
        size_t plain = plain_length(buffer, at, to);
        tally.cells += (uint32_t)plain;
        tally.characters += (uint32_t)plain;
        at += plain;
        if (at >= to)
            break;
        struct buffer_piece piece = buffer_piece(buffer, at);
        tally.cells += (uint32_t)piece.cells;
        tally.characters++;
        at += piece.len;
    }
    return tally;
}

// What begins between `from` and the end of its chunk, or `to` if that is nearer: *end.
static struct buffer_tally
chunk_tally(struct buffer *buffer, size_t from, size_t to, size_t *end)
{
    size_t block;
    *end = buffer_chunk_end(buffer, from);
    if (*end > to || !buffer_is_block(buffer, from, &block)) {
        *end = *end < to ? *end : to;
        return read_tally(buffer, from, *end);
    }
    struct buffer_tally *kept = &buffer->tallies[block];
    if (kept->cells == BUFFER_UNCOUNTED)
        *kept = read_tally(buffer, from, *end);
    return *kept;
}

static void
count_between(struct buffer *buffer, size_t from, size_t to, size_t *cells, size_t *characters)
{
    *cells = *characters = 0;
    while (from < to) {
        struct buffer_tally tally = chunk_tally(buffer, from, to, &from);
        *cells += tally.cells;
        *characters += tally.characters;
    }
}

// The piece in [from, end) before which there are at most `wanted` cells (or characters) and behind which
// there are more; *before is how many there are before it. `end` if there are not so many.
static size_t
seek(struct buffer *buffer, size_t from, size_t end, size_t wanted, bool by_cells, size_t *before)
{
    *before = 0;
    size_t next;
    for (; from < end; from = next) {
        struct buffer_tally tally = chunk_tally(buffer, from, end, &next);
        size_t count = by_cells ? tally.cells : tally.characters;
        if (*before + count > wanted)
            break;
        *before += count;
    }
    size_t start = point_start(buffer, from);
    if (from < end && start < from)
        from = start + buffer_piece(buffer, start).len;
    while (from < end) {
        struct buffer_piece piece = buffer_piece(buffer, from);
        size_t count = by_cells ? (size_t)piece.cells : 1;
        buffer->work += piece.len;
        if (*before + count > wanted)
            break;
        *before += count;
        from += piece.len;
    }
    return from;
}

size_t
buffer_cell_at(struct buffer *buffer, size_t at)
{
    size_t cells;
    size_t characters;
    size_t line = buffer_line_at(buffer, at);
    count_between(buffer, buffer_line_start(buffer, line), at < buffer->len ? at : buffer->len, &cells,
                  &characters);
    return cells;
}

size_t
buffer_at_cell(struct buffer *buffer, size_t line, size_t wanted, size_t *cell)
{
    size_t before;
    size_t end = buffer_line_end(buffer, line);
    size_t at = seek(buffer, buffer_line_start(buffer, line), end, wanted, true, &before);
    if (cell)
        *cell = before;
    return at;
}

void
buffer_set_ascii(struct buffer *buffer, bool is_ascii)
{
    if (buffer->is_ascii == is_ascii)
        return;
    buffer->is_ascii = is_ascii;
    for (size_t i = 0; i < buffer->capacity / BUFFER_BLOCK; i++)
        buffer->tallies[i].cells = BUFFER_UNCOUNTED;
}

void
buffer_position(struct buffer *buffer, size_t at, size_t *line, size_t *column)
{
    size_t cells;
    if (at > buffer->len)
        at = buffer->len;
    *line = buffer_line_at(buffer, at);
    count_between(buffer, buffer_line_start(buffer, *line), at, &cells, column);
    (*line)++;
    (*column)++;
}

size_t
buffer_at_position(struct buffer *buffer, size_t line, size_t column)
{
    size_t before;
    if (line > 0)
        line--;
    if (line >= buffer_lines(buffer))
        return buffer->len;
    return seek(buffer, buffer_line_start(buffer, line), buffer_line_end(buffer, line),
                column > 0 ? column - 1 : 0, false, &before);
}
