// unreadable: long columns of events that PostgreSQL cannot return, because their text is longer than a
// gigabyte (a jsonb number of twenty bytes can have 131,072 digits), because their storage is damaged, or
// because they hold bytes that are no text in the client's encoding. One of them fails the statement of a
// whole page. Private to src/store.
//
// A store remembers those that it found, and its next statements leave them out.
#ifndef REDRIVE_STORE_EVENTS_UNREADABLE_H
#define REDRIVE_STORE_EVENTS_UNREADABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/pg.h"

enum long_column { LONG_PAYLOAD, LONG_ERROR, LONG_STACK, LONG_COLUMNS };

// Can the data of a row be the cause of this failure?
bool unreadable_is_cause(const struct err *err);
// Tries these columns (a set of 1 << enum long_column) of these events, in halves. True: it found some that
// it did not know.
bool unreadable_find(struct store *store, unsigned wanted, const int64_t *ids, size_t count);
// Does the store know any of this column?
bool unreadable_any(const struct store *store, enum long_column column);
// Adds the ids of which the store knows that the column cannot be returned, as a parameter.
void unreadable_param(const struct store *store, enum long_column column, struct params *params);
// Why this one cannot be read, valid until the next search; NULL: it is not known to be unreadable.
const char *unreadable_why(const struct store *store, enum long_column column, int64_t id);

#endif
