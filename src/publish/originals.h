// originals: the records that events came from, fetched again from Kafka and believed only when PostgreSQL
// says that their JSON value is this event's: a topic that was deleted and made again holds other records at
// the old offsets.
#ifndef REDRIVE_PUBLISH_ORIGINALS_H
#define REDRIVE_PUBLISH_ORIGINALS_H

#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/fetch.h"
#include "publish/plan.h"
#include "store/store.h"

// One entry per event, in order; events that keep their raw record or name no coordinates are
// ORIGINAL_NOT_ASKED and ORIGINAL_GONE. A record that only points at the original (undoing_is_pointer) is
// looked for as well: it is believed unless it is younger than the dead letter. broker NULL: all are
// ORIGINAL_NOT_ASKED. False only when the store fails.
bool originals_find(struct store *store, struct broker *broker, const struct event *const *events,
                    size_t count, int timeout_ms, fetch_tick_fn *tick, void *context, struct arena *arena,
                    struct original *originals, struct err *err) MUST_CHECK;

// Keeps those that were found, beside the contract table (store/events/records).
bool originals_keep(struct store *store, const struct event *const *events, const struct original *originals,
                    size_t count, struct arena *arena, struct err *err) MUST_CHECK;

#endif
