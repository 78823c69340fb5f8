// Any bytes as a recipe, up to a line "%%"; what follows is the payload. A recipe is refused at a line and
// column, or printed so that it is read again; applied, it changes nothing beside its paths, and leaves JSON
// where there was JSON; the recipe of the edit that it made does what it says.
#include <stdint.h>
#include "tests/lib/recipe_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct recipe_counts counts = {0};
    struct bytes all = {(const char *)data, size};
    size_t bar = bytes_find(all, BYTES("%%\n"), 0);
    struct bytes text = bytes_slice(all, 0, bar == SIZE_MAX ? size : bar);
    check_recipe(text, bytes_slice(all, bar == SIZE_MAX ? size : bar + 3, SIZE_MAX), &counts);
    return 0;
}
