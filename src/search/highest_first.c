#include "search/highest_first.h"

#include <stdint.h>
#include <stdlib.h>

static int
compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

void
sort_highest_first(void *structs, size_t count, size_t size)
{
    if (count)
        qsort(structs, count, size, compare);
}
