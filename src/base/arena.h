// arena: memory that is released all at once. The lifetime of a page (rows of one reply) or of a frame (one
// draw).
//
// Zero-initialise, use, arena_release. Pointers into it are valid until reset or release.
#ifndef REDRIVE_BASE_ARENA_H
#define REDRIVE_BASE_ARENA_H

#include <stddef.h>
#include "base/bytes.h"

struct arena {
    struct arena_block *blocks;
    size_t used;  // bytes handed out
    size_t limit; // 0: none; past it the program stops
};

void *arena_alloc(struct arena *arena, size_t size)
    __attribute__((returns_nonnull)); // zeroed, aligned for any type
void *arena_array(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));
// A copy with a NUL behind it (not counted), so that it may also serve as text. Absent stays absent.
struct bytes arena_copy(struct arena *arena, struct bytes b);
const char *arena_text(struct arena *arena, struct bytes b); // NUL-terminated copy; NULL for absent
const char *arena_int(struct arena *arena, int64_t n); // in decimal, in a tenth of the time of arena_printf
// One text of all of them, in a fraction of the time of arena_printf.
const char *arena_join(struct arena *arena, const struct bytes *parts, size_t count);
const char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Gives back what was taken since the mark; what was taken before stays. Nothing may be adopted in between.
struct arena_mark {
    struct arena_block *block;
    size_t block_used, used;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
void arena_reset(struct arena *arena); // frees all but one block, for reuse
void arena_release(struct arena *arena);
// Moves everything from one arena into another (pointers stay valid); from is left empty.
void arena_adopt(struct arena *into, struct arena *from);

#endif
