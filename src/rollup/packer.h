// packer: keeps the packs of error messages (store/rollup/packs.h), step by step, for the maintainer of the
// sums (rollup/maintainer), whose looks also tell which of them are not true any more. Used by one thread.
#ifndef REDRIVE_ROLLUP_PACKER_H
#define REDRIVE_ROLLUP_PACKER_H

#include "core/backlog/column.h"
#include "store/rollup/packs.h"

struct packer {
    uint64_t key[2];
    int64_t mark, changes; // when the comparison of all events began; mark 0: none runs
    int64_t at;            // clock_mono before which nothing is to be packed
    size_t page;           // rows that the next pack begins with; 0: not known
    size_t small;          // events of a pack that is worth putting together with others
    bool is_denied;        // this session may keep the sums, and no packs
};

void packer_init(struct packer *packer);
// A right that is missing is no failure: nothing is packed then.
//
// A comparison of all events with the table begins; it is over. Without a beginning an end says nothing.
bool packer_sweep_began(struct packer *packer, struct store *store, struct err *err) MUST_CHECK;
bool packer_sweep_ended(struct packer *packer, struct store *store, const char *maintainer,
                        struct err *err) MUST_CHECK;
// Makes one pack, where there is a hole. upto: ids above it may still be committed.
bool packer_step(struct packer *packer, struct store *store, const char *maintainer, int64_t upto,
                 struct err *err) MUST_CHECK;

#endif
