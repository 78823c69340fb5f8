// scan: searches topics for the records of one chunk by their header redrive-chunk-id. It is the evidence for
// chunks whose outcome no marker shows (src/publish/PROTOCOL.md, "Doubt").
#ifndef REDRIVE_BROKER_SCAN_H
#define REDRIVE_BROKER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "broker/broker.h"

struct scan {
    const char *const *topics;
    size_t topic_count;
    const char *chunk_id;
    int64_t since; // instant: records from ten minutes before it on, since clocks differ
    // Filled:
    int64_t *found; // event ids (redrive-event-id), ascending, no doubles; free with scan_release
    size_t found_count;
    int64_t records;  // number of records read
    bool is_complete; // every partition from before `since` to its end was read
    char why[300];    // why it is not complete
};

// Reads read_committed, so that records of aborted transactions are not counted. Waits at most timeout_ms;
// tick as in broker/fetch.h.
bool broker_scan(struct broker *broker, struct scan *scan, int timeout_ms, bool (*tick)(void *context),
                 void *context, struct err *err) MUST_CHECK;
void scan_release(struct scan *scan);

#endif
