// text_packer: keeps the packs of error messages (store/rollup/packs.h), step by step, for the keeper of the
// sums (rollup/maintainer), whose looks also tell which of them are not true any more. Used by one thread.
#ifndef REDRIVE_ROLLUP_PACKER_H
#define REDRIVE_ROLLUP_PACKER_H

#include "core/backlog/column.h"
#include "store/rollup/packs.h"

struct text_packer {
    uint64_t key[2];
    int64_t mark, changes; // when the comparison of all events began; mark 0: none runs
    int64_t at;            // clock_mono before which nothing is to be packed
    size_t page;           // rows that the next pack begins with; 0: not known
    size_t small;          // events of a pack that is worth putting together with others
    bool is_denied;        // this session may keep the sums, and no packs
};

void text_packer_init(struct text_packer *packer);
// A right that is missing is no failure: nothing is packed then.
//
// A comparison of all events with the table begins; it is over. Without a beginning an end says nothing.
bool text_packer_sweep_began(struct text_packer *packer, struct store *store, struct err *err) MUST_CHECK;
bool text_packer_sweep_ended(struct text_packer *packer, struct store *store, const char *keeper,
                             struct err *err) MUST_CHECK;
// Makes one pack, where there is a hole. upto: ids above it may still be committed.
bool text_packer_step(struct text_packer *packer, struct store *store, const char *keeper, int64_t upto,
                      struct err *err) MUST_CHECK;

#endif
