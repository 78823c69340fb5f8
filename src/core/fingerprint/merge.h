// group_merge: which groups by error are so nearly equal that a list may show them as one: of equal class and
// number of words, with a different plain word in one place only. A view that is switched on and off; never
// the id of an event.
//
// Plain words are of letters in small type (the first one may be a capital): no code, no name, no
// placeholder, and not what follows a word that names something ("column amount"). At least MERGE_WORDS
// different ones stand in that place, and at least two plain words elsewhere; at most MERGE_MOST groups are
// one. The largest set goes first and takes its groups with it; so the answer depends on which groups there
// are, and not on their order. Linear in the words, but for sorting.
#ifndef REDRIVE_CORE_FINGERPRINT_MERGE_H
#define REDRIVE_CORE_FINGERPRINT_MERGE_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum { MERGE_WORDS = 5, MERGE_MOST = 240 };

struct merge_input {
    uint64_t key;
    struct bytes error_class; // absent: none
    struct bytes pattern;     // masked; absent: not known, stays alone
};

// What the i-th group is one with.
struct merge {
    size_t leader;     // index of the group with the smallest key among them; i itself where it is alone
    struct bytes word; // within its pattern: the one that differs; absent where it is alone
};
// `merges` has room for count. Keys are different from each other.
void group_merge(const struct merge_input *groups, size_t count, struct merge *merges);

#endif
