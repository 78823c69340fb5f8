// intern: texts as small numbers, so that a table of a million rows names its types and topics in two bytes
// each.
#ifndef REDRIVE_BASE_INTERN_H
#define REDRIVE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

// Zero-initialise; 0 is the absent text. After WORDS_LIMIT different texts each new one is WORDS_OTHER.
struct intern {
    char **names; // by number - 1
    size_t count;
    size_t capacity;
    uint32_t *buckets; // open addressing, numbers; 0: free
    size_t bucket_count;
};

#define WORDS_OTHER 65535
#define WORDS_LIMIT 65534

uint16_t intern_number(struct intern *intern, struct bytes text);
const char *intern_text(const struct intern *intern,
                        uint16_t number); // NULL: absent; "(others)" for WORDS_OTHER
// The number of a text that was interned before, or -1.
int32_t intern_find(const struct intern *intern, struct bytes text);
void intern_release(struct intern *intern);

// The same for 64-bit keys, without a limit: their index in order of arrival.
struct keys {
    uint64_t *keys;
    size_t count;
    size_t capacity;
    uint32_t *buckets;
    size_t bucket_count;
};
uint32_t keys_index(struct keys *keys, uint64_t key);
int64_t keys_find(const struct keys *keys, uint64_t key); // -1: not there
void keys_release(struct keys *keys);

#endif
