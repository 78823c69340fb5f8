// seeds: which schedules a test tries.
#ifndef REDRIVE_TESTS_LIB_SEEDS_H
#define REDRIVE_TESTS_LIB_SEEDS_H

#include <stdint.h>

// From 1 so many, unless REDRIVE_SEEDS says otherwise: first, or first,count.
void seeds_wanted(uint64_t usual, uint64_t *first, uint64_t *count);

#endif
