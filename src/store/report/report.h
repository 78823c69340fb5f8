// report: the parts of a report that are counted by SQL. Each is one statement with its columns, in the
// tables of span.c and evidence.c.
#ifndef REDRIVE_STORE_REPORT_REPORT_H
#define REDRIVE_STORE_REPORT_REPORT_H

#include "base/arena.h"
#include "core/report.h"
#include "store/store.h"

// A stretch of time, instants, both ends included.
struct report_span {
    int64_t since, until;
};

enum report_of_span {
    SPAN_SUMMARY,
    SPAN_DAYS,
    SPAN_RETURNED,
    SPAN_REPROCESS,
    SPAN_OPERATIONS,
    SPAN_PEOPLE,
    SPAN_FOLLOW_UP,
    SPAN_PARTS
};
// Adds this part. Needs the schema.
bool report_read_span(struct store *store, enum report_of_span which, const struct report_span *span,
                      struct arena *arena, struct report *report, struct err *err) MUST_CHECK;
// The groups that were first seen within the span, ascending, in the arena.
bool report_new_groups(struct store *store, const struct report_span *span, struct arena *arena,
                       uint64_t **groups, size_t *count, struct err *err) MUST_CHECK;
// Adds all parts of one operation. ERR_NOT_FOUND: there is none.
bool report_read_operation(struct store *store, int64_t no, struct arena *arena, struct report *report,
                           struct err *err) MUST_CHECK;

#endif
