// scan: looking through topics for the records of one chunk, by their header redrive-chunk-id: the evidence
// for chunks whose fate no marker tells (PROTOCOL.md, "Doubt").
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
    int64_t since; // instant: records from then on, with ten minutes of margin taken off
    // Filled:
    int64_t *found; // event ids (redrive-event-id), ascending, no doubles; free with scan_release
    size_t found_count;
    int64_t records;  // looked at
    bool is_complete; // every partition from before `since` to its end was read
    char why[300];    // what kept it from being complete
};

// read_committed, so that what aborted transactions left is not counted. Waits at most timeout_ms; tick as in
// broker/fetch.h.
bool broker_scan(struct broker *broker, struct scan *scan, int timeout_ms, bool (*tick)(void *context),
                 void *context, struct err *err) MUST_CHECK;
void scan_release(struct scan *scan);

#endif
