#include "core/fingerprint/index.h"

#include <assert.h>
#include <string.h>

#include "core/fingerprint/word.h"

#define ALL_BYTES(value) (0x0101010101010101ULL * (value))

// word_fold for eight bytes at once.
static uint64_t
fold_eight(uint64_t bytes)
{
    uint64_t low = bytes & ALL_BYTES(0x7f);
    uint64_t from_a = low + ALL_BYTES(0x80 - 'A');
    uint64_t behind_z = low + ALL_BYTES(0x7f - 'Z');
    uint64_t capitals = ~bytes & (from_a ^ behind_z) & ALL_BYTES(0x80);
    return bytes | capitals >> 2;
}

// Both ends of a text, which overlap in short ones: with the length they tell texts of up to 16 bytes apart.
struct ends {
    uint64_t head;
    uint64_t tail;
};

static inline struct ends
ends_of(struct bytes text)
{
    struct ends ends = {0};
    const char *p = text.data;
    if (text.len >= 8) {
        memcpy(&ends.head, p, 8);
        memcpy(&ends.tail, p + text.len - 8, 8);
    } else if (text.len >= 4) {
        memcpy(&ends.head, p, 4);
        memcpy(&ends.tail, p + text.len - 4, 4);
    } else if (text.len > 0) {
        ends.head = (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[text.len / 2] << 8;
        ends.tail = (unsigned char)p[text.len - 1];
    }
    return (struct ends){fold_eight(ends.head), fold_eight(ends.tail)};
}

// Where the search for a text begins. Of this process only, never stored.
static inline unsigned
first_bucket(struct bytes text, struct ends ends)
{
    uint64_t hash = (ends.head ^ text.len) * 0x9E3779B185EBCA87ULL;
    hash = (hash ^ hash >> 32 ^ ends.tail) * 0xC2B2AE3D27D4EB4FULL;
    return (unsigned)(hash >> 40) % INDEX_BUCKETS;
}

// The bits of shapes[first byte] for a text: one for its length and last byte, one for its second and its
// middle byte. A row has both.
static inline uint64_t
end_bit(struct bytes text)
{
    unsigned last = (unsigned char)word_fold(text.data[text.len - 1]);
    return 1ULL << ((last + 5 * text.len) & 63);
}

static inline uint64_t
inner_bit(struct bytes text)
{
    unsigned second = (unsigned char)word_fold(text.data[text.len / 3]);
    unsigned middle = (unsigned char)word_fold(text.data[text.len / 2]);
    return 1ULL << ((second + 13 * middle) & 63);
}

static inline unsigned
first_byte(struct bytes text)
{
    return (unsigned char)word_fold(text.data[0]);
}

void
index_build(struct text_index *index, const struct index_row *rows, size_t count)
{
    assert(count <= INDEX_BUCKETS / 2);
    index->rows = rows;
    for (size_t i = 0; i < count; i++) {
        struct bytes text = bytes_of(rows[i].text);
        struct ends ends = ends_of(text);
        unsigned at = first_bucket(text, ends);
        while (index->buckets[at] != 0)
            at = (at + 1) % INDEX_BUCKETS;
        index->buckets[at] = (uint16_t)(i + 1);
        index->ends[i] = (struct index_ends){ends.head, ends.tail, (uint32_t)text.len, rows[i].value};
        if (text.len > 0) {
            index->shapes[first_byte(text)].ends |= end_bit(text);
            index->shapes[first_byte(text)].inner |= inner_bit(text);
        }
    }
}

uint32_t
index_find(const struct text_index *index, struct bytes text)
{
    const struct text_shapes *shapes = &index->shapes[first_byte(text)];
    if ((shapes->ends & end_bit(text)) == 0 || (shapes->inner & inner_bit(text)) == 0)
        return 0;
    struct ends ends = ends_of(text);
    for (unsigned at = first_bucket(text, ends); index->buckets[at] != 0; at = (at + 1) % INDEX_BUCKETS) {
        unsigned i = index->buckets[at] - 1U;
        const struct index_ends *row = &index->ends[i];
        if (row->head != ends.head || row->tail != ends.tail || row->len != text.len)
            continue;
        if (text.len <= 16 || word_equals_folded(text, index->rows[i].text))
            return row->value;
    }
    return 0;
}
