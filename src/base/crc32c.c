#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

enum { SLICES = 8 };

// Eight bytes a step, each by a table of its own (Kounavis and Berry, "A Systematic Approach to Building High
// Performance, Software-based, CRC Generators").
struct tables {
    bool is_made;
    uint32_t of[SLICES][256];
};

static const struct tables *
tables(void)
{
    static _Thread_local struct tables made;
    if (made.is_made)
        return &made;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
        made.of[0][i] = crc;
    }
    for (int slice = 1; slice < SLICES; slice++)
        for (int i = 0; i < 256; i++)
            made.of[slice][i] = made.of[slice - 1][i] >> 8 ^ made.of[0][made.of[slice - 1][i] & 255];
    made.is_made = true;
    return &made;
}

uint32_t
crc32c_by_tables(uint32_t before, struct bytes b)
{
    const struct tables *table = tables();
    const unsigned char *at = (const unsigned char *)b.data;
    size_t left = bytes_present(b) ? b.len : 0;
    uint32_t crc = ~before;
    for (; left >= SLICES; left -= SLICES, at += SLICES) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = table->of[7][crc & 255] ^ table->of[6][crc >> 8 & 255] ^ table->of[5][crc >> 16 & 255] ^
              table->of[4][crc >> 24] ^ table->of[3][at[4]] ^ table->of[2][at[5]] ^ table->of[1][at[6]] ^
              table->of[0][at[7]];
    }
    for (; left > 0; left--, at++)
        crc = crc >> 8 ^ table->of[0][(crc ^ *at) & 255];
    return ~crc;
}

#ifdef __x86_64__
// SSE 4.2 has an instruction, which takes a fifth of the time.
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t before, struct bytes b)
{
    const char *at = b.data;
    size_t left = bytes_present(b) ? b.len : 0;
    uint64_t wide = ~before, word;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    uint32_t crc = (uint32_t)wide;
    for (; left > 0; left--, at++)
        crc = __builtin_ia32_crc32qi(crc, (unsigned char)*at);
    return ~crc;
}
#endif

uint32_t
crc32c(uint32_t before, struct bytes b)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return by_instruction(before, b);
#endif
    return crc32c_by_tables(before, b);
}
