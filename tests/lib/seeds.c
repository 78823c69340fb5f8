#include "tests/lib/seeds.h"

#include <stdlib.h>

void
seeds_wanted(uint64_t usual, uint64_t *first, uint64_t *count)
{
    const char *wish = getenv("REDRIVE_SEEDS");
    *first = 1;
    *count = usual;
    if (wish) {
        char *end;
        *first = strtoull(wish, &end, 10);
        *count = *end == ',' ? strtoull(end + 1, NULL, 10) : 1;
    }
}
