// compare: two sequences of numbers. Private to the room.
#ifndef REDRIVE_CORE_DIFF_COMPARE_H
#define REDRIVE_CORE_DIFF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Sets changed_a[i] for each a[i], and changed_b[k] for each b[k], that has no partner in the other sequence.
// *work is what may be spent, and receives what is left. false: it was used up, and the rest is changed as a
// whole.
bool diff_compare(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, bool *changed_a,
                  bool *changed_b, uint64_t *work);

#endif
