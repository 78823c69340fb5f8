// bytes: a view of bytes that somebody else owns. Never NUL-terminated unless its owner says so.
//
// data == NULL means absent (SQL NULL, a Kafka null key); an empty value has data != NULL and len 0. The two
// differ everywhere in this program.
#ifndef REDRIVE_BASE_BYTES_H
#define REDRIVE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const char *data;
    size_t len;
};

#define BYTES(literal) ((struct bytes){(literal), sizeof(literal) - 1})
#define BYTES_ABSENT ((struct bytes){NULL, 0})
#define BYTES_ARGS(b)                                                                                        \
    (int)((b).len > 4096 ? 4096 : (b).len), ((b).data ? (b).data : "") // for "%.*s", cut at 4 KiB

struct bytes bytes_of(const char *text);           // a view of a NUL-terminated text; NULL gives absent
bool bytes_equal(struct bytes a, struct bytes b);  // two absent ones are equal
int bytes_compare(struct bytes a, struct bytes b); // by byte, then by length; absent first

// Clipped to b. Inline: the masks of group keys slice each word several times.
static inline struct bytes
bytes_slice(struct bytes b, size_t from, size_t len)
{
    if (!b.data)
        return b;
    if (from > b.len)
        from = b.len;
    if (len > b.len - from)
        len = b.len - from;
    return (struct bytes){b.data + from, len};
}

static inline bool
bytes_present(struct bytes b)
{
    return b.data != NULL;
}

// Inline: nearly always asked with a literal, whose length the compiler then knows. Absent bytes equal
// NULL, and neither start nor end with any text, not even "".
static inline bool
bytes_equal_text(struct bytes b, const char *text)
{
    if (!b.data || !text)
        return !b.data && !text;
    size_t len = strlen(text);
    return b.len == len && memcmp(b.data, text, len) == 0;
}

static inline bool
bytes_starts(struct bytes b, const char *prefix)
{
    size_t len = strlen(prefix);
    return b.len >= len && (b.len > 0 ? memcmp(b.data, prefix, len) == 0 : b.data != NULL);
}

static inline bool
bytes_ends(struct bytes b, const char *suffix)
{
    size_t len = strlen(suffix);
    return b.len >= len && (b.len > 0 ? memcmp(b.data + b.len - len, suffix, len) == 0 : b.data != NULL);
}

// Offset of needle in b at or after from, or SIZE_MAX.
size_t bytes_find(struct bytes b, struct bytes needle, size_t from);
// Offset of the last occurrence of needle, or SIZE_MAX.
size_t bytes_find_last(struct bytes b, struct bytes needle);
// The first word up to a blank or a tab, taken off *rest with the blanks around it; empty: none is left.
struct bytes bytes_take_word(struct bytes *rest);
struct bytes bytes_trim(struct bytes b); // without ASCII blanks, tabs and line ends at both ends

// FNV-1a 64 bit; for tables in memory only, never stored.
uint64_t bytes_hash(struct bytes b);

#endif
