// buffer_private: how the document lies in memory.
#ifndef REDRIVE_UI_EDITOR_BUFFER_PRIVATE_H
#define REDRIVE_UI_EDITOR_BUFFER_PRIVATE_H

#include "ui/editor/buffer.h"

enum { BUFFER_BLOCK = 4096 };

// What the characters that begin in a block amount to. Counted when it is asked for.
struct buffer_tally {
    uint32_t cells;
    uint32_t characters; // code points
};
#define BUFFER_UNCOUNTED UINT32_MAX // in cells

// A line and where the next one begins; the length of the document behind the last one.
struct buffer_line {
    bool is_known;
    size_t line, start, next;
};

// A place in memory is the offset in the document, plus the gap's length behind the gap. Blocks are places,
// so an edit at the gap changes the counts of few of them.
struct buffer {
    char *data;
    size_t capacity;     // a multiple of BUFFER_BLOCK
    size_t gap, gap_len; // place of the gap
    size_t len;
    size_t line_ends;
    uint32_t *ends; // \n of each block as a binary indexed tree, from 1
    struct buffer_tally *tallies;
    struct buffer_line
        near; // the line that was asked for last: the next question is mostly for it or the next
    bool is_ascii;
    uint64_t work;
};

// buffer_byte, for loops over characters.
static inline unsigned char
buffer_at(const struct buffer *buffer, size_t at)
{
    return (unsigned char)buffer->data[at < buffer->gap ? at : at + buffer->gap_len];
}

// The bytes from `at` to the end of its block, or to the gap: where the next count begins.
size_t buffer_chunk_end(const struct buffer *buffer, size_t at);
// Does the chunk [at, buffer_chunk_end) fill its block? Then *block is which.
bool buffer_is_block(const struct buffer *buffer, size_t at, size_t *block);

#endif
