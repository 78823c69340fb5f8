#include "core/fingerprint/hash.h"

#include <endian.h>
#include <string.h>

#define PRIME_1 0x9E3779B185EBCA87ULL
#define PRIME_2 0xC2B2AE3D27D4EB4FULL
#define PRIME_3 0x165667B19E3779F9ULL
#define PRIME_4 0x85EBCA77C2B2AE63ULL
#define PRIME_5 0x27D4EB2F165667C5ULL

static uint64_t
read_8(const unsigned char *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return le64toh(value);
}

static uint64_t
read_4(const unsigned char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return le32toh(value);
}

static uint64_t
rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t
round_of(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

static uint64_t
merge_lane(uint64_t hash, uint64_t lane)
{
    return (hash ^ round_of(0, lane)) * PRIME_1 + PRIME_4;
}

// Consumes whole stripes of 32 bytes and returns where it stopped.
static const unsigned char *
take_stripes(const unsigned char *p, const unsigned char *end, uint64_t seed, uint64_t *hash)
{
    uint64_t lanes[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
    for (; end - p >= 32; p += 32) {
        for (unsigned i = 0; i < 4; i++)
            lanes[i] = round_of(lanes[i], read_8(p + (size_t)8 * i));
    }
    *hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (unsigned i = 0; i < 4; i++)
        *hash = merge_lane(*hash, lanes[i]);
    return p;
}

uint64_t
fingerprint_hash(struct bytes b, uint64_t seed)
{
    const unsigned char *p = (const unsigned char *)b.data;
    const unsigned char *end = p + b.len;
    uint64_t hash = seed + PRIME_5;
    if (b.len >= 32)
        p = take_stripes(p, end, seed, &hash);
    hash += b.len;

    for (; end - p >= 8; p += 8)
        hash = rotate(hash ^ round_of(0, read_8(p)), 27) * PRIME_1 + PRIME_4;
    if (end - p >= 4) {
        hash = rotate(hash ^ read_4(p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        p += 4;
    }
    for (; p < end; p++)
        hash = rotate(hash ^ *p * PRIME_5, 11) * PRIME_1;

    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}
