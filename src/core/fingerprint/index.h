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

#define INDEX_BUCKETS 2048 // a power of two, and at least twice the rows of the largest table

struct index_row {
    const char *text; // ASCII letters small
    uint32_t value;   // not 0
};

struct text_index {
    const struct index_row *rows;
    uint64_t shapes[256];            // by first byte: which last bytes and lengths occur; rejects most texts
    uint16_t buckets[INDEX_BUCKETS]; // a row's number plus 1; 0: empty
};

#define INDEX_CONSTRUCTOR __attribute__((constructor)) static void

// `rows` must outlive the index. Of two rows with the same text the first counts.
void index_build(struct text_index *index, const struct index_row *rows, size_t count);

// The value of the row with this text, or 0. The text must not be empty.
uint32_t index_find(const struct text_index *index, struct bytes text);

#endif
