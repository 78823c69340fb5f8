#include "base/bytes.h"

#include <string.h>

struct bytes
bytes_of(const char *text)
{
    return text ? (struct bytes){text, strlen(text)} : BYTES_ABSENT;
}

bool
bytes_equal(struct bytes a, struct bytes b)
{
    if (!a.data || !b.data)
        return !a.data && !b.data;
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

int
bytes_compare(struct bytes a, struct bytes b)
{
    if (!a.data || !b.data)
        return (a.data != NULL) - (b.data != NULL);

    size_t shared = a.len < b.len ? a.len : b.len;
    int order = memcmp(a.data, b.data, shared);
    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

size_t
bytes_find(struct bytes b, struct bytes needle, size_t from)
{
    if (!b.data || from > b.len)
        return SIZE_MAX;
    if (needle.len == 0)
        return from;
    const char *hit = needle.len == 1 ? memchr(b.data + from, needle.data[0], b.len - from)
                                      : memmem(b.data + from, b.len - from, needle.data, needle.len);
    return hit ? (size_t)(hit - b.data) : SIZE_MAX;
}

size_t
bytes_find_last(struct bytes b, struct bytes needle)
{
    if (!b.data || needle.len > b.len || needle.len == 0)
        return SIZE_MAX;
    size_t before = b.len - needle.len + 1; // it begins before this
    const char *at;
    while ((at = memrchr(b.data, needle.data[0], before)) && memcmp(at, needle.data, needle.len) != 0)
        before = (size_t)(at - b.data);
    return at ? (size_t)(at - b.data) : SIZE_MAX;
}

static bool
bytes_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct bytes
bytes_trim(struct bytes b)
{
    while (b.len && bytes_is_blank(b.data[0])) {
        b.data++;
        b.len--;
    }
    while (b.len && bytes_is_blank(b.data[b.len - 1]))
        b.len--;
    return b;
}

struct bytes
bytes_take_word(struct bytes *rest)
{
    *rest = bytes_trim(*rest);
    size_t len = 0;
    while (len < rest->len && rest->data[len] != ' ' && rest->data[len] != '\t')
        len++;
    struct bytes word = bytes_slice(*rest, 0, len);
    *rest = bytes_trim(bytes_slice(*rest, len, rest->len));
    return word;
}

uint64_t
bytes_hash(struct bytes b)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < b.len; i++)
        hash = (hash ^ (unsigned char)b.data[i]) * 1099511628211ULL;
    return hash;
}
