// export: writes events out, page by page, whatever takes them: a file, a pipe, a program.
//
// Never more is in memory than a page of events (EVENT_PAGE_BYTES of texts), or one event where that is
// larger, and its text.
#ifndef REDRIVE_EXPORT_EXPORT_H
#define REDRIVE_EXPORT_EXPORT_H

#include <stdint.h>
#include "core/export_form.h"
#include "store/store.h"

struct export_tally {
    int64_t written;    // events
    int64_t gone;       // ids that are not in the table any more
    int64_t unreadable; // written without a text that PostgreSQL cannot return
};

// Takes the text of one event or more. false ends the export: err says why, or ERR_CANCELLED.
typedef bool export_write_fn(void *context, struct bytes text, const struct export_tally *tally,
                             struct err *err);

// Writes the events in the order of their ids.
bool export_events(struct store *store, enum export_form form, const int64_t *ids, size_t count,
                   export_write_fn *write, void *context, struct export_tally *tally,
                   struct err *err) MUST_CHECK;

#endif
