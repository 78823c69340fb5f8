// search_apart: what sets events apart (core/apart/apart.h), read from the table: first from a sample of both
// sides, then counted.
//
// The sample is drawn with a fixed seed, so the same events give the same answer. The ids that are here are
// known. Of all other pending events ids are drawn between the lowest and the highest of the table, which
// gives each the same chance and reads no more than is drawn; where too few of those are pending, all pending
// ids are listed once. Against resolved events the sample is of the newest rows of the most frequent types;
// against earlier ones the moment, where none is given, is an hour ago, or the middle of the sample.
#ifndef REDRIVE_SEARCH_APART_H
#define REDRIVE_SEARCH_APART_H

#include "core/apart/apart.h"
#include "store/events/apart_counts.h"

enum { APART_SAMPLE = 1000 }; // events of each side

struct search_apart {
    struct apart_sides sides;        // ids borrowed; types and moment are found here where they are not given
    const struct group_rules *rules; // of the operators, may be NULL; borrowed
    size_t sample;                   // of each side; 0: APART_SAMPLE
    unsigned leaves_out;             // see apart_create
    struct arena arena;              // of the types that were found
};

// Reads samples and ranks. *apart has learnt from them; the caller destroys it.
bool search_apart_sample(struct store *store, struct search_apart *search, struct apart **apart,
                         struct arena *arena, struct apart_answer *answer, struct err *err) MUST_CHECK;
// Counts all events for the rows [from, from + APART_COUNTED) of the answer, those that the server can count.
// *here and *there: all events of the sides.
bool search_apart_count(struct store *store, const struct search_apart *search, struct apart_answer *answer,
                        size_t from, int64_t *here, int64_t *there, struct err *err) MUST_CHECK;
// What a filter asks about defines the sides: a set of 1 << enum apart_what for `leaves_out`. NULL: no
// filter.
unsigned search_apart_defined(const char *filter);
// What search_apart_sample found and keeps for the counts.
void search_apart_release(struct search_apart *search);

#endif
