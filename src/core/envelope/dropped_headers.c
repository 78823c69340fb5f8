#include "core/envelope/dropped_headers.h"

bool
header_name_matches(struct bytes name, const char *pattern)
{
    size_t len = strlen(pattern);
    if (len == 0 || pattern[len - 1] != '*')
        return bytes_equal_text(name, pattern);
    return bytes_present(name) && name.len >= len - 1 && memcmp(name.data, pattern, len - 1) == 0;
}

bool
dropped_header(struct bytes name)
{
    static const char *const dropped[] = {
#define DROPPED(pattern) pattern,
#include "core/envelope/dropped_headers.def"
#undef DROPPED
    };
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (header_name_matches(name, dropped[i]))
            return true;
    return false;
}
