// archive: retention. Closed events move from public.dlq_events into archive.dlq_events_archive, come back
// from there, and are deleted in the end (sql/archive.sql).
//
// A job works in short transactions, so it may be killed at any point: every event is then in exactly one of
// the two tables, and the next job goes on.
#ifndef REDRIVE_STORE_OPERATIONS_ARCHIVE_H
#define REDRIVE_STORE_OPERATIONS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/err.h"
#include "store/store.h"

enum archive_action {
    ARCHIVE_MOVE,    // from the table into the archive
    ARCHIVE_RESTORE, // from the archive into the table, as they were
    ARCHIVE_PURGE,   // out of the archive, for good
    ARCHIVE_DELETE,  // out of the table, for good
};

struct archive_request {
    enum archive_action action;
    int64_t before;     // closed before this instant; TIME_ABSENT: whenever, for a restore
    const char *scope;  // the choice in words
    const char *reason; // or NULL
    const int64_t *ids; // only these; NULL: all
    size_t count;
    int64_t chosen; // what archive_count said, and somebody confirmed
};

struct archive_result {
    int64_t job;
    int64_t moved, deleted;
    int64_t skipped; // locked by somebody, in a live operation, or in the table again
    bool was_interrupted;
};

// How many events it would be about now. Reads all rows.
bool archive_count(struct store *store, const struct archive_request *request, int64_t *count,
                   struct err *err) MUST_CHECK;

// Called between two batches with how many events went so far; false ends the job there.
typedef bool archive_tick_fn(void *context, int64_t taken);
// Carries a job out, in batches of some milliseconds. Nine tenths of the time it rests, so that whoever
// writes to the table is not kept waiting: a million events take some minutes.
bool archive_run(struct store *store, const struct archive_request *request, archive_tick_fn *tick,
                 void *context, struct archive_result *result, struct err *err) MUST_CHECK;

// Carries on with a job that a policy began (policies_archive). Where the tick ends it the job stays, and
// *result has only was_interrupted.
bool archive_continue(struct store *store, int64_t job, archive_tick_fn *tick, void *context,
                      struct archive_result *result, struct err *err) MUST_CHECK;

// How many events the archive holds by its jobs' account, and when the last came; TIME_ABSENT: none ever did.
bool archive_holds(struct store *store, int64_t *events, int64_t *last_at, struct err *err) MUST_CHECK;

// From now on this store's statements about events read the archive, where choices of a restore are made.
// Until it is closed; the program's own functions are not concerned.
bool archive_look_into(struct store *store, struct err *err) MUST_CHECK;

#endif
