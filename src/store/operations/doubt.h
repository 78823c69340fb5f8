// doubt: chunks whose outcome neither a marker nor a scan shows, and suspended slots, for a person to decide
// (src/publish/PROTOCOL.md, "Doubt"). Only administrators (redrive_admin) decide. The audit records the
// decision with its reason, which is required, and with the evidence.
#ifndef REDRIVE_STORE_OPERATIONS_DOUBT_H
#define REDRIVE_STORE_OPERATIONS_DOUBT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/doubt.h"
#include "store/store.h"

// Chunks in doubt of an operation, oldest first. operation 0: of all operations, then slots that are
// suspended without a chunk. Text lives in the arena.
bool doubt_list(struct store *store, int64_t operation, struct arena *arena, struct doubt **doubts,
                size_t *count, struct err *err) MUST_CHECK;

// Decides a chunk, `chunk` being the beginning of its id: `is_published` treats its events as sent, else they
// are sent again. ERR_NOT_FOUND: no such chunk, or several.
bool doubt_decide(struct store *store, int64_t operation, const char *chunk, bool is_published,
                  const char *reason, int64_t *events, struct err *err) MUST_CHECK;

// Lets a slot that is suspended without a chunk work again, under new names. ERR_NOT_FOUND: no such slot.
bool doubt_renew(struct store *store, const char *cluster, int32_t slot, const char *reason,
                 struct err *err) MUST_CHECK;

#endif
