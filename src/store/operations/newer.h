// newer: the question whether sending events again would turn time back (core/newer.h), from those that have
// no Kafka to the workers, and the answer.
#ifndef REDRIVE_STORE_OPERATIONS_NEWER_H
#define REDRIVE_STORE_OPERATIONS_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/newer.h"
#include "store/store.h"

// Asks about these events; of more than 200,000 the first ones. *has_worker: one that can ask Kafka lives.
bool newer_ask(struct store *store, const int64_t *ids, size_t count, int64_t *no, bool *has_worker,
               struct err *err) MUST_CHECK;
// What is known. Whoever waits calls it every second or so: a worker ends what nobody has waited for within
// ten seconds. ERR_NOT_FOUND: the question was forgotten.
bool newer_look(struct store *store, int64_t no, struct arena *arena, struct newer *newer, bool *has_worker,
                struct err *err) MUST_CHECK;

// For workers. *no: 0 where nobody asks; a question that is not signed within ten seconds another worker
// takes. The ids are in the arena.
bool newer_take(struct store *store, const char *worker, struct arena *arena, int64_t *no, int64_t **ids,
                size_t *count, struct err *err) MUST_CHECK;
// *is_wanted: somebody still waits for it.
bool newer_sign(struct store *store, const char *worker, int64_t no, const struct newer *so_far,
                bool *is_wanted, struct err *err) MUST_CHECK;
bool newer_answer(struct store *store, const char *worker, int64_t no, const struct newer *newer,
                  struct err *err) MUST_CHECK;

#endif
