// audit: who did what, when, on how many, why, from where. Written by the schema's functions only; read here.
#ifndef REDRIVE_STORE_OPERATIONS_AUDIT_H
#define REDRIVE_STORE_OPERATIONS_AUDIT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/history.h"
#include "store/store.h"

// Newest first; before: only numbers below, 0 for all. operation 0: all.
bool audit_list(struct store *store, int64_t operation, int64_t before, size_t limit, struct arena *arena,
                struct audit_row **rows, size_t *count, struct err *err) MUST_CHECK;

#endif
