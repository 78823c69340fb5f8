// text_packs: the error messages of the pending events as packs (core/backlog/pack) in the schema redrive
// (sql/texts.sql), so that a search that begins need not read the contract table.
//
// Anybody may read them; whoever keeps the sums keeps them too (rollup/packer), with the maintainer's name
// of store/rollup/rollup.h, and gets ERR_CONFLICT once another one has taken over.
#ifndef REDRIVE_STORE_ROLLUP_PACKS_H
#define REDRIVE_STORE_ROLLUP_PACKS_H

#include "base/bytes.h"
#include "store/store.h"

// --- reading ---

struct text_packs_state {
    bool is_usable;  // there are packs, somebody keeps them, and mark is known
    int64_t mark;    // of store_xmin_floor: they are true of what was written before,
    int64_t changes; // store_change_count then
    int64_t events;  // they tell of
};
bool text_packs_state(struct store *store, struct text_packs_state *state, struct err *err) MUST_CHECK;

// The error messages of all pending events with ids low … high, but for those that are stale.
struct text_pack {
    int64_t low, high;
    int64_t *stale; // highest first; heap
    size_t stale_count;
    struct bytes bytes; // of data
    char *data;         // heap
};
// The highest that tells of ids below `below`, above it or not; pack->data NULL: there is none.
bool text_packs_below(struct store *store, int64_t below, struct text_pack *pack, struct err *err) MUST_CHECK;
void text_pack_release(struct text_pack *pack);

// --- keeping ---

// Ids above `after` and below `before` that no pack tells of; before 0: there are none worth it. upto: ids
// above it may still be committed.
struct text_hole {
    int64_t after, before;
};
bool text_packs_hole(struct store *store, const char *maintainer, int64_t upto, struct text_hole *hole,
                     struct err *err) MUST_CHECK;
bool text_packs_put(struct store *store, const char *maintainer, int64_t low, int64_t high, size_t events,
                    struct bytes pack, struct err *err) MUST_CHECK;
// All events were compared with the table since that mark. Takes away packs that are worth little by now,
// and those side by side that have less than `small` events.
bool text_packs_mark(struct store *store, const char *maintainer, int64_t mark, int64_t changes, size_t small,
                     struct err *err) MUST_CHECK;

#endif
