// payload: a large payload in slices.
//
// libpq holds an answer's row twice, in the buffer that it is received in and in the result, and the buffer
// of a connection never shrinks (fe-misc.c, pqCheckInBufferSpace). So a payload of megabytes is read in rows
// of 256 kB.
#ifndef REDRIVE_STORE_EVENTS_PAYLOAD_H
#define REDRIVE_STORE_EVENTS_PAYLOAD_H

#include <stddef.h>
#include "core/event.h"
#include "store/store.h"

enum { PAYLOAD_SLICE = 256 << 10 };

// Fills the payload of an event that was read with EVENT_PAYLOAD, EVENT_RAW and EVENT_KNOWN and of whose
// payload only the beginning was read: its first `most` bytes, of one snapshot. Nothing to do: true.
// ERR_CONFLICT: the event has another payload by now, and is to be read again.
bool payload_complete(struct store *store, size_t most, struct arena *arena, struct event *event,
                      struct err *err) MUST_CHECK;

#endif
