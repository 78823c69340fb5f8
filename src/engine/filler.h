// filler: writes slices of the first count of the backlog while the next one is read and fingerprinted.
//
// A thread and a connection of its own, one slice at a time, in order. Used by one keeper.
#ifndef REDRIVE_ENGINE_FILLER_H
#define REDRIVE_ENGINE_FILLER_H

#include <stdint.h>
#include "base/err.h"
#include "store/rollup.h"

struct filler;

// Borrows both; connects when the first slice comes.
struct filler *filler_create(const struct store_settings *settings, const char *keeper);
void filler_destroy(struct filler *filler); // what was given is written first

// Waits for the slice before, and fails with its failure. Takes the slice's content over, another one's room
// is left in it. Bounds as for rollup_fill.
bool filler_give(struct filler *filler, struct rollup_slice *slice, int64_t was_low, int64_t low,
                 int32_t slots_from, struct err *err) MUST_CHECK;
// Until nothing is on its way; fails with the failure of what was.
bool filler_wait(struct filler *filler, struct err *err) MUST_CHECK;

#endif
