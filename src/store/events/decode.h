// decode: the value of an event by the schema that redrive ingest kept for it.
#ifndef REDRIVE_STORE_EVENTS_DECODE_H
#define REDRIVE_STORE_EVENTS_DECODE_H

#include "base/arena.h"
#include "core/envelope/undo.h"
#include "core/event.h"
#include "core/schema/decoded.h"
#include "store/store.h"

// Of the dead letter of an event, as it was read and undone. A payload that was corrected is none of its, and
// one of which only the beginning was read is not decoded.
bool event_decode(struct store *store, const struct event *event, const struct envelope_record *letter,
                  const struct envelope_undo *undo, struct arena *arena, struct decoded *decoded,
                  struct err *err) MUST_CHECK;

#endif
