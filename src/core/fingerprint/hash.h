// hash: XXH64 as published in "xxHash fast digest algorithm", specification 0.1.1 (Yann Collet).
//
// Bytes are read little-endian on every machine, so a key is the same everywhere; `xxhsum -H1` agrees for
// seed 0.
#ifndef REDRIVE_CORE_FINGERPRINT_HASH_H
#define REDRIVE_CORE_FINGERPRINT_HASH_H

#include <stdint.h>
#include "base/bytes.h"

uint64_t fingerprint_hash(struct bytes b, uint64_t seed);

#endif
