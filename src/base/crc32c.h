// crc32c: the CRC of Castagnoli's polynomial (RFC 3720, appendix B.4): of "123456789" it is 0xE3069283.
#ifndef REDRIVE_BASE_CRC32C_H
#define REDRIVE_BASE_CRC32C_H

#include <stdint.h>
#include "base/bytes.h"

// Of what came before and b; 0 to begin with.
uint32_t crc32c(uint32_t before, struct bytes b);
// The same on a processor without an instruction for it.
uint32_t crc32c_by_tables(uint32_t before, struct bytes b);

#endif
