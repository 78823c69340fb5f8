// unreadable: events whose payload PostgreSQL cannot return, because its text is longer than a gigabyte (a
// jsonb number of twenty bytes can have 131,072 digits) or because its storage is damaged. One of them fails
// the statement of a whole page. Private to src/store.
//
// A store remembers those that it found, and its next statements leave their payloads out.
#ifndef REDRIVE_STORE_EVENTS_UNREADABLE_H
#define REDRIVE_STORE_EVENTS_UNREADABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/pg.h"

// Can the data of a row be the cause of this failure?
bool unreadable_is_cause(const struct err *err);
// Tries the payloads of these events one by one. True: it found some that it did not know.
bool unreadable_find(struct store *store, const int64_t *ids, size_t count);
// Adds the ids that the store knows, as a parameter.
void unreadable_param(const struct store *store, struct params *params);
// Why this one cannot be read, valid until the next search; NULL: it is not known to be unreadable.
const char *unreadable_why(const struct store *store, int64_t id);

#endif
