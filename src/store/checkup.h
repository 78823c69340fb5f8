// checkup: is this database fit for redrive, and may this user do what redrive does? For `redrive doctor`.
//
// Looks at catalogs and settings only and changes nothing. Every problem comes with the statement or
// command that solves it.
#ifndef REDRIVE_STORE_CHECKUP_H
#define REDRIVE_STORE_CHECKUP_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

enum checkup_verdict {
    CHECKUP_OK,
    CHECKUP_NOTE,   // worth knowing; nothing is wrong
    CHECKUP_WRONG,  // something does not work, or is not safe
    CHECKUP_DENIED, // a right is missing
};

// Sentence and remedy are valid during the call; remedy "": nothing to do.
typedef void checkup_fn(void *context, enum checkup_verdict verdict, const char *sentence,
                        const char *remedy);

// Topics of the newest pending events, at most `limit`. Text lives in the arena.
bool store_checkup_topics(struct store *store, size_t limit, struct arena *arena, const char ***topics,
                          size_t *count, struct err *err) MUST_CHECK;
// The age of the oldest pending event in µs; 0: none is pending.
bool store_checkup_oldest(struct store *store, int64_t *age, struct err *err) MUST_CHECK;
// The types of the newest 20,000 events, whatever their status, the most frequent first.
bool store_checkup_types(struct store *store, size_t limit, struct arena *arena, const char ***types,
                         size_t *count, struct err *err) MUST_CHECK;

// False only when the database stops answering.
bool store_checkup(struct store *store, checkup_fn *found, void *context, struct err *err) MUST_CHECK;

#endif
