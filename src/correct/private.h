// private: what the dry run and the step of an operation share beside correct.h.
#ifndef REDRIVE_CORRECT_PRIVATE_H
#define REDRIVE_CORRECT_PRIVATE_H

#include "correct/correct.h"

// How many events a page has (pages_size). Fewer where a program is asked about each, since nothing ends
// within a page. `most_bytes` as there.
size_t corrector_page_size(const struct corrector *corrector, size_t most_bytes);
// Which fields of an event it looks at (enum event_fields).
unsigned corrector_fields(const struct corrector *corrector);
// Is it known whether events are small, or does it not matter?
bool corrector_knows_size(const struct corrector *corrector);
// A page was read that has so many bytes.
void corrector_note_page(struct corrector *corrector, size_t bytes, size_t events);

// Completes the events by their original records, where the corrector has a way to look for them. *troubles
// is one text an event, in the arena.
bool corrector_find_originals(struct corrector *corrector, struct store *store, struct event *events,
                              size_t count, bool is_kept_for_good, struct arena *arena,
                              const char ***troubles, struct err *err) MUST_CHECK;

#endif
