// revisions: events as somebody corrected them (core/revision.h).
#ifndef REDRIVE_STORE_EVENTS_REVISIONS_H
#define REDRIVE_STORE_EVENTS_REVISIONS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/revision.h"
#include "store/store.h"

// The revisions of one event, newest first, with all their parts, in the arena. Without the schema: none.
bool store_revisions(struct store *store, int64_t id, struct arena *arena, struct revision **revisions,
                     size_t *count, struct err *err) MUST_CHECK;

// Writes a revision of a pending event, made from revision `parent`; *no is its number. `reason` may be NULL.
// ERR_CONFLICT: somebody corrected or closed the event meanwhile, or it is in an operation that has not
// ended. ERR_NOT_FOUND: there is no such event. If the connection is lost while it commits, the revision may
// have been written: store_revisions tells.
bool event_correct(struct store *store, int64_t id, int32_t parent, const struct correction *correction,
                   const char *reason, int32_t *no, struct err *err) MUST_CHECK;

#endif
