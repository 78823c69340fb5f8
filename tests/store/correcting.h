// correcting: operations of recipes for the tests of the store: asked for, and carried out by hand.
#ifndef REDRIVE_TESTS_CORRECTING_H
#define REDRIVE_TESTS_CORRECTING_H

#include "store/operations/corrections.h"
#include "world.h"

// An operation on the events from first to last. `with` (may be NULL) has what is not usual: plan, is_forced,
// then_reprocess.
int64_t ask_correct(struct world *world, int64_t first, int64_t last, const char *recipe);
int64_t ask_correct_with(struct world *world, int64_t first, int64_t last, const char *recipe,
                         const struct operation_request *with);

// What a worker has in hand: one page.
struct hand {
    int64_t *ids;
    size_t count;
};
struct hand take_correct(struct store *store, int64_t no, size_t limit);
// Keeps the outcomes; without `given`, each event has changed, from the original to {"n": 2}. Returns how
// many were applied.
int64_t keep_correct(struct store *store, int64_t no, struct hand *hand, const struct corrected *given);
// Carries the operation on, every event changed, as far as it goes now.
void carry_on_correct(struct store *store, int64_t no);

int64_t revisions_by(struct world *world, int64_t no);
const char *detail_of(struct world *world, int64_t no, int64_t id); // "done: line 1: $.x does not exist"

#endif
