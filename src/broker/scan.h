// scan: searches topics for the records of one chunk, or of all, by their header redrive-chunk-id. It is the
// evidence for chunks whose outcome no marker shows (src/publish/PROTOCOL.md, "Doubt" and "Stop").
#ifndef REDRIVE_BROKER_SCAN_H
#define REDRIVE_BROKER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/uuid.h"
#include "broker/broker.h"

struct scan_hit {
    int64_t event; // redrive-event-id
    char chunk[UUID_SIZE];
    const char *source; // redrive-source, "" without it; in the scan's arena
};
struct scan {
    const char *const *topics;
    size_t topic_count;
    const char *chunk_id;    // NULL: all
    const char *const *ends; // broker/ends.h: where topics ended before the first record that is searched
    size_t end_count;
    int64_t since; // instant; without such an end: from ten minutes before it on, since clocks differ
    // Filled:
    int64_t *found; // event ids (redrive-event-id), ascending, no doubles; free with scan_release
    size_t found_count;
    struct scan_hit *hits; // instead, where all are searched for; in no order
    size_t hit_count;
    struct arena arena;
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
