// audit: reads the audit trail, which only the schema's functions write: who did what, when, from where, why,
// and on how many events.
#ifndef REDRIVE_STORE_OPERATIONS_AUDIT_H
#define REDRIVE_STORE_OPERATIONS_AUDIT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/history.h"
#include "store/store.h"

// Newest first. before: only lower numbers; 0: all. operation 0: of all operations.
bool audit_list(struct store *store, int64_t operation, int64_t before, size_t limit, struct arena *arena,
                struct audit_row **rows, size_t *count, struct err *err) MUST_CHECK;

#endif
