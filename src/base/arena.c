#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

struct arena_block {
    struct arena_block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) char memory[];
};

enum { FIRST_BLOCK = 4096, LARGEST_STEP = 4 << 20 };

static struct arena_block *
block_add(struct arena *arena, size_t need)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (size < need)
        size = need;

    struct arena_block *block = alloc_resize(NULL, size_add(sizeof *block, size), 1);
    block->next = arena->blocks;
    block->size = size;
    block->used = 0;
    arena->blocks = block;
    return block;
}

// Not zeroed; *taken is `size` and what aligns the next one.
static char *
take(struct arena *arena, size_t size, size_t *taken)
{
    size_t need = size_add(size, alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    arena->used = size_add(arena->used, need);
    if (arena->limit && arena->used > arena->limit)
        die("a page of %zu bytes is past its limit of %zu", arena->used, arena->limit);

    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < need)
        block = block_add(arena, need);
    char *memory = block->memory + block->used;
    block->used += need;
    *taken = need;
    return memory;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
    size_t taken;
    char *memory = take(arena, size, &taken);
    return memset(memory, 0, taken);
}

void *
arena_array(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, size_mul(count, size));
}

struct bytes
arena_copy(struct arena *arena, struct bytes b)
{
    if (!b.data)
        return b;
    size_t taken;
    char *copy = take(arena, size_add(b.len, 1), &taken);
    memcpy(copy, b.data, b.len);
    memset(copy + b.len, 0, taken - b.len);
    return (struct bytes){copy, b.len};
}

const char *
arena_text(struct arena *arena, struct bytes b)
{
    return arena_copy(arena, b).data;
}

const char *
arena_int(struct arena *arena, int64_t n)
{
    char digits[20]; // "-9223372036854775808"
    size_t at = sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (n < 0)
        digits[--at] = '-';
    return arena_text(arena, (struct bytes){digits + at, sizeof digits - at});
}

const char *
arena_join(struct arena *arena, const struct bytes *parts, size_t count)
{
    size_t len = 0, taken;
    for (size_t i = 0; i < count; i++)
        len = size_add(len, parts[i].len);
    char *text = take(arena, size_add(len, 1), &taken), *at = text;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len)
            memcpy(at, parts[i].data, parts[i].len);
        at += parts[i].len;
    }
    *at = '\0';
    return text;
}

const char *
arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    char small[400]; // what fits, which is nearly everything, is formatted once
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    char *text = arena_alloc(arena, (size_t)(len < 0 ? 0 : len) + 1);
    if (len > 0 && (size_t)len < sizeof small)
        memcpy(text, small, (size_t)len + 1);
    else if (len > 0)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

struct arena_mark
arena_mark(const struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    return (struct arena_mark){.block = block, .block_used = block ? block->used : 0, .used = arena->used};
}

// The newest block stays, empty: whoever rewinds takes again at once.
void
arena_rewind(struct arena *arena, struct arena_mark mark)
{
    struct arena_block *newest = arena->blocks;
    arena->used = mark.used;
    if (!newest)
        return;
    if (newest == mark.block) {
        newest->used = mark.block_used;
        return;
    }
    for (struct arena_block *block = newest->next, *next; block != mark.block; block = next) {
        next = block->next;
        free(block);
    }
    newest->next = mark.block;
    newest->used = 0;
    if (mark.block)
        mark.block->used = mark.block_used;
}

void
arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->blocks;
    if (keep) {
        for (struct arena_block *block = keep->next, *next; block; block = next) {
            next = block->next;
            free(block);
        }
        keep->next = NULL;
        keep->used = 0;
    }
    arena->used = 0;
}

void
arena_release(struct arena *arena)
{
    arena_reset(arena);
    free(arena->blocks);
    arena->blocks = NULL;
}

void
arena_adopt(struct arena *into, struct arena *from)
{
    if (!from->blocks)
        return;
    struct arena_block *last = from->blocks;
    while (last->next)
        last = last->next;
    // Behind the first block of `into`, which goes on being filled.
    if (into->blocks) {
        last->next = into->blocks->next;
        into->blocks->next = from->blocks;
    } else {
        into->blocks = from->blocks;
    }
    into->used = size_add(into->used, from->used);
    from->blocks = NULL;
    from->used = 0;
}
