#include "base/alloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*failure_hook)(const char *sentence);

static _Noreturn void
stop(const char *sentence)
{
    if (failure_hook)
        failure_hook(sentence);
    fprintf(stderr, "redrive: %s\n", sentence);
    abort();
}

void
alloc_share_heap(void)
{
    mallopt(M_ARENA_MAX, 1);
}

void
alloc_return_large(void)
{
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

void
alloc_on_failure(void (*hook)(const char *sentence))
{
    failure_hook = hook;
}

void
die(const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    stop(sentence);
}

size_t
size_add(size_t a, size_t b)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        stop("a length is too large to be true; this is a bug");
    return sum;
}

size_t
size_mul(size_t a, size_t b)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        stop("a length is too large to be true; this is a bug");
    return product;
}

void *
alloc_array(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        stop("out of memory; nothing is lost, every decision is in PostgreSQL");
    return memory;
}

void *
alloc_bytes(size_t size)
{
    return alloc_array(1, size);
}

void *
alloc_resize(void *old, size_t count, size_t size)
{
    size_t total = size_mul(count, size);
    void *memory = realloc(old, total ? total : 1);
    if (!memory)
        stop("out of memory; nothing is lost, every decision is in PostgreSQL");
    return memory;
}

char *
alloc_text(const char *text)
{
    size_t len = strlen(text);
    char *copy = alloc_bytes(size_add(len, 1));
    memcpy(copy, text, len);
    return copy;
}

void *
alloc_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (items && count < *capacity)
        return items;

    size_t wanted = *capacity ? size_mul(*capacity, 2) : 16;
    while (wanted <= count)
        wanted = size_mul(wanted, 2);
    *capacity = wanted;
    return alloc_resize(items, wanted, size);
}
