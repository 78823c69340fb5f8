// preview_ahead: rows of a preview (preview_rows.h), read while the caller still finds out which events it is
// about.
//
// The caller guesses the events. Threads read their rows part by part, each over a connection of its own.
// preview_rows_read takes the parts whose events were all chosen in the end, and reads the rest itself. So a
// wrong guess costs time and changes nothing. A row that is written to after it was read counts as it was:
// it is read after the command began, as all are.
#ifndef REDRIVE_STORE_EVENTS_PREVIEW_AHEAD_H
#define REDRIVE_STORE_EVENTS_PREVIEW_AHEAD_H

#include "store/operations/operations.h"

struct preview_ahead;

struct preview_ahead *preview_ahead_create(void);
// Not while a thread reads. NULL is fine.
void preview_ahead_destroy(struct preview_ahead *ahead);

// The guess; ids are copied. Takes the connection, which preview_rows_read uses as its second one. Once, by
// one thread; false: nothing is read ahead, since they are few, or most of the table.
bool preview_ahead_begin(struct preview_ahead *ahead, struct store *store, const int64_t *ids, size_t count);
// Reads the parts that no other thread has taken, over a store that no other thread uses meanwhile. A part
// that fails is left to preview_rows_read, which says why.
void preview_ahead_read(struct preview_ahead *ahead, struct store *store);

// From any thread: no further part is begun.
void preview_ahead_stop(struct preview_ahead *ahead);
// From any thread: has a guess been made, of which at least half are parts of these events?
bool preview_ahead_is_of_use(const struct preview_ahead *ahead, const int64_t *ids, size_t count);

#endif
