// audit: who did what, when, on how many, why, from where. Written by the schema's functions only; read here.
#ifndef REDRIVE_STORE_AUDIT_H
#define REDRIVE_STORE_AUDIT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "store/store.h"

struct audit_row {
    int64_t no;
    int64_t at;
    const char *who;    // session_user
    const char *host;   // client address or "local"
    const char *action; // "reprocess", "pause", "settle", "migrate", …
    int64_t operation;  // 0: none
    int64_t events;     // how many it was about
    const char *reason; // what the operator wrote, or NULL
    const char *detail; // evidence, states before and after, or NULL
};
// Newest first; before: only numbers below, 0 for all. operation 0: all.
bool audit_list(struct store *store, int64_t operation, int64_t before, size_t limit, struct arena *arena,
                struct audit_row **rows, size_t *count, struct err *err) MUST_CHECK;

#endif
