// index: looks a text up in a table, ASCII case ignored, in a handful of instructions. Nearly every word of
// every message is looked up.
//
// An index is static, built by a constructor before main and only read from then on: safe from several
// threads.
#ifndef REDRIVE_CORE_FINGERPRINT_INDEX_H
#define REDRIVE_CORE_FINGERPRINT_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

#define INDEX_BUCKETS 4096 // a power of two, and at least twice the rows of the largest table

struct index_row {
    const char *text; // ASCII letters small
    uint32_t value;   // not 0
};

// Which ends and inner bytes occur: rejects most texts.
struct text_shapes {
    uint64_t ends;
    uint64_t inner;
};

// Of a row: with its length, both ends tell a text of up to 16 bytes.
struct index_ends {
    uint64_t head;
    uint64_t tail;
    uint32_t len;
    uint32_t value;
};

struct text_index {
    const struct index_row *rows;
    struct text_shapes shapes[256];            // by first byte
    struct index_ends ends[INDEX_BUCKETS / 2]; // by row
    uint16_t buckets[INDEX_BUCKETS];           // a row's number plus 1; 0: empty
};

#define INDEX_CONSTRUCTOR __attribute__((constructor)) static void

// `rows` must outlive the index. Of two rows with the same text the first counts.
void index_build(struct text_index *index, const struct index_row *rows, size_t count);

// The value of the row with this text, or 0. The text must not be empty.
uint32_t index_find(const struct text_index *index, struct bytes text);

#endif
