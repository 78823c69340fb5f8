// private: what the dry run and the step of an operation share beside correct.h.
#ifndef REDRIVE_CORRECT_PRIVATE_H
#define REDRIVE_CORRECT_PRIVATE_H

#include "correct/correct.h"

// Completes the events by their original records, where the corrector has a way to look for them. *troubles
// is one text an event, in the arena.
bool corrector_find_originals(struct corrector *corrector, struct store *store, struct event *events,
                              size_t count, bool is_kept_for_good, struct arena *arena,
                              const char ***troubles, struct err *err) MUST_CHECK;

#endif
