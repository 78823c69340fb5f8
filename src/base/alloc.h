// alloc: memory for which no caller checks, and length arithmetic that cannot wrap.
//
// Out of memory is not an error that callers handle: PostgreSQL holds the truth, so the program restores
// the terminal (alloc_on_failure), says why, and stops.
#ifndef REDRIVE_BASE_ALLOC_H
#define REDRIVE_BASE_ALLOC_H

#include <stddef.h>

void *alloc_bytes(size_t size) __attribute__((malloc, returns_nonnull));               // zeroed
void *alloc_array(size_t count, size_t size) __attribute__((malloc, returns_nonnull)); // zeroed
void *alloc_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *alloc_text(const char *text) __attribute__((malloc, returns_nonnull)); // a copy, freed by free()

size_t size_add(size_t a, size_t b); // stops the program where the sum would wrap
size_t size_mul(size_t a, size_t b);

// Grows a heap array so that index `count` exists: `items = alloc_grow(items, count, &capacity, sizeof
// *items)`.
void *alloc_grow(void *items, size_t count, size_t *capacity, size_t size) __attribute__((returns_nonnull));

// From here on all threads of the process take memory from one heap. glibc gives each thread its own and
// keeps freed memory there, for that thread alone. A process whose threads take large amounts in turn needs
// less memory with one heap (mallopt(3), M_ARENA_MAX).
void alloc_share_heap(void);

// From here on blocks of 256 kB and more go back to the system as soon as they are freed. glibc keeps them,
// and larger ones with each that is freed, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD): a process that takes
// much now and then would stay as large as it once was.
void alloc_return_large(void);

// Called with a sentence before the program ends for want of memory or by a broken invariant; the screen sets
// it to restore the terminal. It must not allocate.
void alloc_on_failure(void (*hook)(const char *sentence));

// Stops the program at a broken invariant, in the same way.
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
