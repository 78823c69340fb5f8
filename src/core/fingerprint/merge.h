// group_merge: finds groups by error that are so nearly equal that a list may show them as one: same class,
// same number of words, and a different plain word in one place only. It affects lists only, never the group
// of an event.
//
// A plain word has lower-case letters only (the first may be a capital). It is no code, name or placeholder,
// and does not follow a word that names something ("column amount"). That place must have at least
// MERGE_WORDS different words, and the pattern at least two plain words elsewhere. At most MERGE_MOST groups
// become one. The largest set is merged first, so the result does not depend on the order of groups. Linear
// in the words, except for sorting.
#ifndef REDRIVE_CORE_FINGERPRINT_MERGE_H
#define REDRIVE_CORE_FINGERPRINT_MERGE_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum { MERGE_WORDS = 5, MERGE_MOST = 240 };

struct merge_input {
    uint64_t key;
    struct bytes error_class; // absent: none
    struct bytes pattern;     // masked; absent: not known, never merged
};

// The merge of the i-th group.
struct merge {
    size_t leader;     // index of the merged group with the smallest key; i itself if not merged
    struct bytes word; // the word of its pattern that differs; absent if not merged
};
// `merges` has room for count. Keys are different from each other.
void group_merge(const struct merge_input *groups, size_t count, struct merge *merges);

#endif
