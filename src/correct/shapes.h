// shapes: what payloads of an event type have in common (core/shape), learnt from a sample of the type's
// events: at most SHAPE_SAMPLE of the newest ones of the table, never a scan of it.
#ifndef REDRIVE_CORRECT_SHAPES_H
#define REDRIVE_CORRECT_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "core/event.h"
#include "core/shape/shape.h"
#include "store/store.h"

enum { SHAPE_SAMPLE = 1000, SHAPE_SAMPLE_BYTES = 8 << 20 };

// Is this event (EVENT_NARROW, EVENT_GROUP) left out of the sample? Those that are to be corrected are: where
// many have the same fault, it is no departure any more.
typedef bool shape_skips_fn(const void *context, const struct event *event);

// The caller destroys the shape. Without any event of the type it is empty.
bool shape_learn(struct store *store, struct bytes type, shape_skips_fn *skips, const void *context,
                 struct shape **shape, struct err *err) MUST_CHECK;

// The shapes of the types of a selection, each learnt when it is first needed and kept. Of more types than
// SHAPES_KEPT the others have none. One thread looks up; what it found stays as it is until shapes_destroy,
// and any thread may read it.
enum { SHAPES_KEPT = 64 };
struct shapes;

// `ids` are the selection, ascending, borrowed: its events are in no sample.
struct shapes *shapes_create(const int64_t *ids, size_t count);
void shapes_destroy(struct shapes *shapes); // NULL is fine
// The shape for each of these events, into `of`; NULL where too few others are known to tell (SHAPE_LEAST).
bool shapes_find(struct shapes *shapes, struct store *store, const struct event *events, size_t count,
                 const struct shape **of, struct err *err) MUST_CHECK;

#endif
