#include "base/intern.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { FIRST_BUCKETS = 64 };

static uint64_t
intern_mix(uint64_t key)
{
    key ^= key >> 31;
    key *= 0x9E3779B97F4A7C15ULL; // Fibonacci hashing, Knuth, The Art of Computer Programming, 6.4
    return key ^ key >> 29;
}

// Doubles the buckets when they are half full; `hash_of` gives the hash of the i-th item.
static uint32_t *
buckets_grow(uint32_t *buckets, size_t *bucket_count, size_t items, uint64_t (*hash_of)(const void *, size_t),
             const void *table)
{
    if (items * 2 < *bucket_count)
        return buckets;

    size_t wanted = *bucket_count ? *bucket_count * 2 : FIRST_BUCKETS;
    free(buckets);
    buckets = alloc_array(wanted, sizeof *buckets);
    for (size_t i = 0; i < items; i++) {
        size_t at = hash_of(table, i) & (wanted - 1);
        while (buckets[at])
            at = (at + 1) & (wanted - 1);
        buckets[at] = (uint32_t)i + 1;
    }
    *bucket_count = wanted;
    return buckets;
}

static uint64_t
word_hash(const void *table, size_t i)
{
    const struct intern *intern = table;
    return intern_mix(bytes_hash(bytes_of(intern->names[i])));
}

int32_t
intern_find(const struct intern *intern, struct bytes text)
{
    if (!text.data)
        return 0;
    if (!intern->bucket_count)
        return -1;
    size_t at = intern_mix(bytes_hash(text)) & (intern->bucket_count - 1);
    for (; intern->buckets[at]; at = (at + 1) & (intern->bucket_count - 1))
        if (bytes_equal_text(text, intern->names[intern->buckets[at] - 1]))
            return (int32_t)intern->buckets[at];
    return -1;
}

uint16_t
intern_number(struct intern *intern, struct bytes text)
{
    // A NUL cannot come from PostgreSQL's text types; cut there so that what is kept is what is compared.
    if (text.data)
        text.len = strnlen(text.data, text.len);
    int32_t known = intern_find(intern, text);
    if (known >= 0)
        return (uint16_t)known;
    if (intern->count == WORDS_LIMIT)
        return WORDS_OTHER;

    intern->buckets = buckets_grow(intern->buckets, &intern->bucket_count, intern->count, word_hash, intern);
    intern->names = alloc_grow(intern->names, intern->count, &intern->capacity, sizeof *intern->names);
    char *name = alloc_bytes(size_add(text.len, 1));
    memcpy(name, text.data, text.len);
    intern->names[intern->count++] = name;
    size_t at = intern_mix(bytes_hash(text)) & (intern->bucket_count - 1);
    while (intern->buckets[at])
        at = (at + 1) & (intern->bucket_count - 1);
    intern->buckets[at] = (uint32_t)intern->count;
    return (uint16_t)intern->count;
}

const char *
intern_text(const struct intern *intern, uint16_t number)
{
    if (number == 0)
        return NULL;
    return number == WORDS_OTHER ? "(others)" : intern->names[number - 1];
}

void
intern_release(struct intern *intern)
{
    for (size_t i = 0; i < intern->count; i++)
        free(intern->names[i]);
    free(intern->names);
    free(intern->buckets);
    *intern = (struct intern){0};
}

static uint64_t
key_hash(const void *table, size_t i)
{
    const struct keys *keys = table;
    return intern_mix(keys->keys[i]);
}

int64_t
keys_find(const struct keys *keys, uint64_t key)
{
    if (!keys->bucket_count)
        return -1;
    size_t at = intern_mix(key) & (keys->bucket_count - 1);
    for (; keys->buckets[at]; at = (at + 1) & (keys->bucket_count - 1))
        if (keys->keys[keys->buckets[at] - 1] == key)
            return (int64_t)keys->buckets[at] - 1;
    return -1;
}

uint32_t
keys_index(struct keys *keys, uint64_t key)
{
    int64_t known = keys_find(keys, key);
    if (known >= 0)
        return (uint32_t)known;

    keys->buckets = buckets_grow(keys->buckets, &keys->bucket_count, keys->count, key_hash, keys);
    keys->keys = alloc_grow(keys->keys, keys->count, &keys->capacity, sizeof *keys->keys);
    keys->keys[keys->count++] = key;
    size_t at = intern_mix(key) & (keys->bucket_count - 1);
    while (keys->buckets[at])
        at = (at + 1) & (keys->bucket_count - 1);
    keys->buckets[at] = (uint32_t)keys->count;
    return (uint32_t)keys->count - 1;
}

void
keys_release(struct keys *keys)
{
    free(keys->keys);
    free(keys->buckets);
    *keys = (struct keys){0};
}
