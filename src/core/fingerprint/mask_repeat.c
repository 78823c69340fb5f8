#include "core/fingerprint/mask_repeat.h"

#include <string.h>

void
mask_repeat_begin(struct mask_repeat *repeat)
{
    repeat->count = 0;
    repeat->period = 0;
    memset(repeat->last, 0, sizeof repeat->last);
}

static bool
is_same(const char *out, struct canonical_word a, struct canonical_word b)
{
    return a.len == b.len && memcmp(out + a.from, out + b.from, a.len) == 0;
}

size_t
mask_repeat_drop(struct mask_repeat *repeat, const char *out, size_t len)
{
    uint32_t period = repeat->period;
    const struct canonical_word *behind = repeat->words + repeat->count;
    for (size_t i = 1; i <= period; i++) {
        if (!is_same(out, behind[-(ptrdiff_t)i], behind[-(ptrdiff_t)(i + period)]))
            return len;
    }
    repeat->count -= period;
    for (size_t i = repeat->count - period; i < repeat->count; i++)
        repeat->last[mask_repeat_place(out + repeat->words[i].from + 1, repeat->words[i].len - 1U)] =
            (uint16_t)(i + 1);
    return repeat->words[repeat->count].from;
}
