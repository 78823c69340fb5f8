// doubt: chunks whose fate no marker and no scan tells, for a person to decide (operations.md 1.5.6, 1.9).
#ifndef REDRIVE_STORE_DOUBT_H
#define REDRIVE_STORE_DOUBT_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

struct doubtful {
    const char *chunk; // uuid
    int64_t operation;
    int32_t events;
    int64_t first_event, last_event;
    int64_t created_at;
    const char *evidence; // why it is in doubt
};

// Chunks in doubt of an operation, oldest first. Text lives in the arena.
bool doubtful_chunks(struct store *store, int64_t operation, struct arena *arena, struct doubtful **chunks,
                     size_t *count, struct err *err) MUST_CHECK;

// Decides one, `chunk` being the beginning of its id: `is_published` treats its events as sent, else they are
// sent once more. For administrators (redrive_admin); audited with the reason, which must be there, and with
// what was known. ERR_NOT_FOUND: no such chunk, or several.
bool doubtful_decide(struct store *store, int64_t operation, const char *chunk, bool is_published,
                     const char *reason, int64_t *events, struct err *err) MUST_CHECK;

#endif
