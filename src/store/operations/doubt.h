// doubt: chunks whose fate no marker and no scan tells, and suspended slots, for a person to decide
// (PROTOCOL.md, "Doubt"). Deciding is for administrators (redrive_admin), and audited with the reason,
// which must be there, and with what was known.
#ifndef REDRIVE_STORE_OPERATIONS_DOUBT_H
#define REDRIVE_STORE_OPERATIONS_DOUBT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/doubt.h"
#include "store/store.h"

// Chunks in doubt of an operation, oldest first; operation 0: of all of them, and then the slots that are
// suspended without one. Text lives in the arena.
bool doubt_list(struct store *store, int64_t operation, struct arena *arena, struct doubt **doubts,
                size_t *count, struct err *err) MUST_CHECK;

// Decides a chunk, `chunk` being the beginning of its id: `is_published` treats its events as sent, else they
// are sent once more. ERR_NOT_FOUND: no such chunk, or several.
bool doubt_decide(struct store *store, int64_t operation, const char *chunk, bool is_published,
                  const char *reason, int64_t *events, struct err *err) MUST_CHECK;

// Lets a slot that is suspended without a chunk work again, under new names. ERR_NOT_FOUND: it is not.
bool doubt_renew(struct store *store, const char *cluster, int32_t slot, const char *reason,
                 struct err *err) MUST_CHECK;

#endif
