#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/buffer_private.h"

static const size_t GAP_LEAST = 4096;
// A change of a byte can change the decoding of the character that begins up to three bytes before it, and
// whether the marks behind it have a character: four marks of four bytes, and what is behind them.
static const size_t REACH_BEFORE = 3;
static const size_t REACH_BEHIND = 24;

static size_t
memory_place(const struct buffer *buffer, size_t at)
{
    return at < buffer->gap ? at : at + buffer->gap_len;
}

// --- counts of blocks ---

static size_t
block_count(const struct buffer *buffer)
{
    return buffer->capacity / BUFFER_BLOCK;
}

static void
add_ends(struct buffer *buffer, size_t block, int64_t ends)
{
    for (size_t i = block + 1; i <= block_count(buffer); i += i & (~i + 1))
        buffer->ends[i] = (uint32_t)(buffer->ends[i] + ends);
}

static size_t
count_ends(struct bytes b)
{
    size_t count = 0;
    const char *at = b.data;
    const char *end = b.data + b.len;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        count++;
        at++;
    }
    return count;
}

// The bytes at the places [from, to) come (sign 1) or go (-1).
static void
count_places(struct buffer *buffer, size_t from, size_t to, int sign)
{
    buffer->work += to - from;
    while (from < to) {
        size_t block = from / BUFFER_BLOCK;
        size_t end = (block + 1) * BUFFER_BLOCK;
        if (end > to)
            end = to;
        size_t ends = count_ends((struct bytes){buffer->data + from, end - from});
        if (ends)
            add_ends(buffer, block, sign * (int64_t)ends);
        buffer->line_ends = sign > 0 ? buffer->line_ends + ends : buffer->line_ends - ends;
        buffer->tallies[block].cells = BUFFER_UNCOUNTED;
        from = end;
    }
}

static void
forget_tallies(struct buffer *buffer, size_t from, size_t to)
{
    for (size_t at = from; at < to && at < buffer->len; at = buffer_chunk_end(buffer, at))
        buffer->tallies[memory_place(buffer, at) / BUFFER_BLOCK].cells = BUFFER_UNCOUNTED;
}

size_t
buffer_chunk_end(const struct buffer *buffer, size_t at)
{
    size_t end = (memory_place(buffer, at) / BUFFER_BLOCK + 1) * BUFFER_BLOCK;
    if (at < buffer->gap)
        return end < buffer->gap ? end : buffer->gap;
    end -= buffer->gap_len;
    return end < buffer->len ? end : buffer->len;
}

bool
buffer_is_block(const struct buffer *buffer, size_t at, size_t *block)
{
    size_t place = memory_place(buffer, at);
    *block = place / BUFFER_BLOCK;
    return place % BUFFER_BLOCK == 0 && buffer_chunk_end(buffer, at) - at == BUFFER_BLOCK;
}

// --- memory ---

// Lays the document out anew with this gap, at the place where the gap is.
static void
lay_out(struct buffer *buffer, size_t gap_len)
{
    size_t blocks = size_add(size_add(buffer->len, gap_len), BUFFER_BLOCK - 1) / BUFFER_BLOCK;
    size_t capacity = size_mul(blocks, BUFFER_BLOCK);
    gap_len = capacity - buffer->len;
    char *data = alloc_bytes(capacity);
    size_t behind = buffer->len - buffer->gap;
    if (buffer->data) {
        memcpy(data, buffer->data, buffer->gap);
        memcpy(data + buffer->gap + gap_len, buffer->data + buffer->gap + buffer->gap_len, behind);
        free(buffer->data);
    }
    buffer->data = data;
    buffer->capacity = capacity;
    buffer->gap_len = gap_len;
    free(buffer->ends);
    free(buffer->tallies);
    buffer->ends = alloc_array(blocks + 1, sizeof *buffer->ends);
    buffer->tallies = alloc_array(blocks, sizeof *buffer->tallies);
    for (size_t i = 0; i < blocks; i++)
        buffer->tallies[i].cells = BUFFER_UNCOUNTED;
    buffer->line_ends = 0;
    count_places(buffer, 0, buffer->gap, 1);
    count_places(buffer, buffer->gap + gap_len, capacity, 1);
}

static size_t
spare(const struct buffer *buffer)
{
    return buffer->len / 8 + GAP_LEAST;
}

struct buffer *
buffer_create(struct bytes text)
{
    struct buffer *buffer = alloc_bytes(sizeof *buffer);
    lay_out(buffer, text.len + text.len / 16 + GAP_LEAST);
    buffer_splice(buffer, 0, 0, text);
    return buffer;
}

void
buffer_destroy(struct buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->data);
    free(buffer->ends);
    free(buffer->tallies);
    free(buffer);
}

static void
move_gap(struct buffer *buffer, size_t at)
{
    size_t gap = buffer->gap;
    size_t gap_len = buffer->gap_len;
    if (at == gap)
        return;
    size_t from = at < gap ? at : gap + gap_len;
    size_t to = at < gap ? at + gap_len : gap;
    size_t len = at < gap ? gap - at : at - gap;
    count_places(buffer, from, from + len, -1);
    memmove(buffer->data + to, buffer->data + from, len);
    buffer->gap = at;
    count_places(buffer, to, to + len, 1);
}

// --- bytes ---

size_t
buffer_len(const struct buffer *buffer)
{
    return buffer->len;
}

unsigned char
buffer_byte(const struct buffer *buffer, size_t at)
{
    return (unsigned char)buffer->data[memory_place(buffer, at)];
}

struct bytes
buffer_run(const struct buffer *buffer, size_t at)
{
    size_t end = at < buffer->gap ? buffer->gap : buffer->len;
    return (struct bytes){buffer->data + memory_place(buffer, at), end - at};
}

struct bytes
buffer_slice(const struct buffer *buffer, size_t from, size_t len, struct strbuf *scratch)
{
    if (from > buffer->len)
        from = buffer->len;
    if (len > buffer->len - from)
        len = buffer->len - from;
    struct bytes run = buffer_run(buffer, from);
    if (run.len >= len)
        return bytes_slice(run, 0, len);
    strbuf_reset(scratch);
    strbuf_add(scratch, run);
    strbuf_add(scratch, bytes_slice(buffer_run(buffer, buffer->gap), 0, len - run.len));
    return strbuf_bytes(scratch);
}

struct bytes
buffer_text(struct buffer *buffer)
{
    move_gap(buffer, buffer->len);
    return (struct bytes){buffer->data, buffer->len};
}

void
buffer_splice(struct buffer *buffer, size_t from, size_t len, struct bytes b)
{
    buffer->near.is_known = false;
    move_gap(buffer, from);
    size_t behind = buffer->gap + buffer->gap_len;
    count_places(buffer, behind, behind + len, -1);
    buffer->gap_len += len;
    buffer->len -= len;
    if (buffer->gap_len < b.len) {
        lay_out(buffer, b.len + (buffer->len + b.len) / 16 + GAP_LEAST);
    } else if (buffer->gap_len - b.len > 2 * spare(buffer) + b.len / 8) {
        lay_out(buffer, b.len + spare(buffer) / 2);
    }
    if (b.len) {
        memcpy(buffer->data + from, b.data, b.len);
        buffer->gap += b.len;
        buffer->gap_len -= b.len;
        buffer->len += b.len;
        count_places(buffer, from, from + b.len, 1);
    }
    forget_tallies(buffer, from > REACH_BEFORE ? from - REACH_BEFORE : 0, from);
    forget_tallies(buffer, from + b.len, from + b.len + REACH_BEHIND);
}

// --- lines ---

size_t
buffer_lines(const struct buffer *buffer)
{
    return buffer->line_ends + 1;
}

// The offset of the first byte in a block.
static size_t
block_start(const struct buffer *buffer, size_t block)
{
    size_t place = block * BUFFER_BLOCK;
    if (place <= buffer->gap)
        return place;
    return place < buffer->gap + buffer->gap_len ? buffer->gap : place - buffer->gap_len;
}

size_t
buffer_line_at(struct buffer *buffer, size_t at)
{
    const struct buffer_line *near = &buffer->near;
    if (at > buffer->len)
        at = buffer->len;
    if (near->is_known && at >= near->start && (at < near->next || near->line == buffer->line_ends))
        return near->line;
    size_t block = memory_place(buffer, at) / BUFFER_BLOCK;
    size_t line = 0;
    for (size_t i = block; i > 0; i -= i & (~i + 1))
        line += buffer->ends[i];
    size_t from = block_start(buffer, block);
    buffer->work += at - from;
    while (from < at) {
        struct bytes run = bytes_slice(buffer_run(buffer, from), 0, at - from);
        line += count_ends(run);
        from += run.len;
    }
    return line;
}

// Behind the n-th line end (from 1) at or behind `from`.
static size_t
behind_end(struct buffer *buffer, size_t from, size_t n)
{
    for (;;) {
        struct bytes run = buffer_run(buffer, from);
        const char *end = memchr(run.data, '\n', run.len);
        size_t len = end ? (size_t)(end - run.data) + 1 : run.len;
        buffer->work += len;
        from += len;
        if (end && --n == 0)
            return from;
    }
}

// Where a line begins that is not the first, by the counts of blocks.
static size_t
counted_start(struct buffer *buffer, size_t line)
{
    size_t blocks = block_count(buffer);
    size_t step = 1;
    while (step * 2 <= blocks)
        step *= 2;
    size_t block = 0; // so many of them lie before
    for (; step > 0; step /= 2) {
        if (block + step > blocks || buffer->ends[block + step] >= line)
            continue;
        block += step;
        line -= buffer->ends[block];
    }
    return behind_end(buffer, block_start(buffer, block), line);
}

// Where the line behind one that is not the last begins: mostly nearby.
static size_t
next_start(struct buffer *buffer, size_t line, size_t start)
{
    struct bytes run = bytes_slice(buffer_run(buffer, start), 0, BUFFER_BLOCK);
    const char *end = memchr(run.data, '\n', run.len);
    buffer->work += end ? (size_t)(end - run.data) + 1 : run.len;
    return end ? start + (size_t)(end - run.data) + 1 : counted_start(buffer, line + 1);
}

static const struct buffer_line *
find_line(struct buffer *buffer, size_t line)
{
    struct buffer_line *near = &buffer->near;
    if (near->is_known && near->line == line)
        return near;
    size_t start = near->is_known && near->line + 1 == line ? near->next
                   : line == 0                              ? 0
                                                            : counted_start(buffer, line);
    *near = (struct buffer_line){.is_known = true, .line = line, .start = start};
    near->next = line < buffer->line_ends ? next_start(buffer, line, start) : buffer->len;
    return near;
}

size_t
buffer_line_start(struct buffer *buffer, size_t line)
{
    return line > buffer->line_ends ? buffer->len : find_line(buffer, line)->start;
}

size_t
buffer_line_end(struct buffer *buffer, size_t line)
{
    if (line >= buffer->line_ends)
        return buffer->len;
    const struct buffer_line *found = find_line(buffer, line);
    size_t end = found->next - 1;
    return end > found->start && buffer_byte(buffer, end - 1) == '\r' ? end - 1 : end;
}

uint64_t
buffer_work(const struct buffer *buffer)
{
    return buffer->work;
}

size_t
buffer_memory(const struct buffer *buffer)
{
    size_t blocks = block_count(buffer);
    return sizeof *buffer + buffer->capacity + (blocks + 1) * sizeof *buffer->ends +
           blocks * sizeof *buffer->tallies;
}
