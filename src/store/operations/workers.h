// workers: the workers that run now, so that screens can show "worker ● 1 idle" and start one if none runs.
#ifndef REDRIVE_STORE_OPERATIONS_WORKERS_H
#define REDRIVE_STORE_OPERATIONS_WORKERS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/worker.h"
#include "store/store.h"

// A sign of life: at start, every second, and when the note changes.
bool worker_sign(struct store *store, const char *name, bool publishes, const char *note, double rate,
                 struct err *err) MUST_CHECK;
// The same every few seconds, with a look for events that returned.
bool worker_beat(struct store *store, const char *name, bool publishes, const char *note, double rate,
                 struct err *err) MUST_CHECK;
// That look: which events returned, and to which groups. For whoever wants to know while no worker runs;
// needs a worker's rights.
bool worker_look_for_returned(struct store *store, struct err *err) MUST_CHECK;
// When anybody looked last; TIME_ABSENT: never.
bool worker_looked_at(struct store *store, int64_t *at, struct err *err) MUST_CHECK;
bool worker_gone(struct store *store, const char *name, struct err *err) MUST_CHECK;
// For an idle worker: moves pending entries into the index that finds published events again, for some 50 ms
// a call. *is_all: nothing is left.
bool worker_index_keys(struct store *store, bool *is_all, struct err *err) MUST_CHECK;
// Workers seen within the last 15 s by the database's clock.
bool worker_list(struct store *store, struct arena *arena, struct worker **workers, size_t *count,
                 struct err *err) MUST_CHECK;

#endif
