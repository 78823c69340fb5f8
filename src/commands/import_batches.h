// import_batches: events that were read from lines, and threads that insert them while the next lines are
// read.
//
// The first batch is inserted as one, in the order of its lines. What comes after it is divided by event ids
// into two parts, each with a thread and a connection of its own, so that PostgreSQL inserts both at a time.
// Where a second connection cannot be had, one inserts everything. All functions are for one thread.
#ifndef REDRIVE_COMMANDS_IMPORT_BATCHES_H
#define REDRIVE_COMMANDS_IMPORT_BATCHES_H

#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

struct import_batches_settings {
    struct store *store;         // borrowed; used by a thread until the end
    struct store_settings other; // how a second one is opened
    const char *reason;          // NULL: none
    bool is_dry;                 // nothing stays
    // Told of each line that PostgreSQL does not take, once its batch is inserted.
    void (*refuse)(void *context, const char *source, int64_t line, const char *why);
    void *context;
};
struct import_counts {
    int64_t inserted, duplicates;
};

struct import_batches;
struct import_batches *import_batches_begin(const struct import_batches_settings *settings);
// Adds a line, whose number is `no`. ERR_DATA: the line is no event (import_line.h), and is left out.
bool import_batches_add(struct import_batches *batches, struct bytes line, int64_t no,
                        struct err *err) MUST_CHECK;
// Is there enough for import_batches_insert?
bool import_batches_is_full(const struct import_batches *batches);
// Inserts what was added since the last time. Waits for the batch before it, not for this one. source: where
// the lines are from, for the audit; borrowed until the next call. Its error is of either batch.
bool import_batches_insert(struct import_batches *batches, const char *source, struct err *err) MUST_CHECK;
// Waits until everything is inserted that import_batches_insert was called for.
bool import_batches_wait(struct import_batches *batches, struct err *err) MUST_CHECK;
// Of the batches that were waited for.
struct import_counts import_batches_counts(const struct import_batches *batches);
void import_batches_end(struct import_batches *batches); // forgets what was not inserted; NULL is fine

#endif
