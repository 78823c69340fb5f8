// workers: who carries operations out now, so that screens can say "worker ● 1 idle" and start one when there
// is none.
#ifndef REDRIVE_STORE_OPERATIONS_WORKERS_H
#define REDRIVE_STORE_OPERATIONS_WORKERS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/worker.h"
#include "store/store.h"

// At start, every few seconds, and when what it does changes.
bool worker_beat(struct store *store, const char *name, bool publishes, const char *note, double rate,
                 struct err *err) MUST_CHECK;
bool worker_gone(struct store *store, const char *name, struct err *err) MUST_CHECK;
// What a worker that has nothing else to do may do: by which published events are found again goes into its
// index, a piece of some 50 ms at a time. *is_all: nothing is left.
bool worker_tidy(struct store *store, bool *is_all, struct err *err) MUST_CHECK;
// Those seen within the last 15 s by the database's clock.
bool worker_list(struct store *store, struct arena *arena, struct worker **workers, size_t *count,
                 struct err *err) MUST_CHECK;

#endif
