// audit: reads the audit trail, which only the schema's functions write: who did what, when, from where, why,
// and on how many events.
#ifndef REDRIVE_STORE_OPERATIONS_AUDIT_H
#define REDRIVE_STORE_OPERATIONS_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/history.h"
#include "store/store.h"

struct audit_query {
    int64_t operation; // 0: of all
    int64_t before;    // only lower numbers; 0: all
    bool of_people; // without the steps of workers: what is sent chunk by chunk, the steps of a canary, the
                    // end
    size_t limit;
};
// Newest first.
bool audit_list(struct store *store, const struct audit_query *query, struct arena *arena,
                struct audit_row **rows, size_t *count, struct err *err) MUST_CHECK;

#endif
