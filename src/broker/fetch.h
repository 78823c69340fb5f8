// fetch: reading records again at known coordinates.
#ifndef REDRIVE_BROKER_FETCH_H
#define REDRIVE_BROKER_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "broker/broker.h"
#include "core/event.h"

struct record {
    struct bytes key, value; // absent is a Kafka null
    struct event_header *headers;
    uint32_t header_count;
    int64_t timestamp; // instant; TIME_ABSENT
};

enum fetch_state {
    FETCH_FOUND,
    FETCH_GONE,      // retention or compaction removed it, or the topic or partition was deleted
    FETCH_DENIED,    // Read on the topic is missing
    FETCH_FAILED,    // not answered in time: it may still exist
    FETCH_NOT_TRIED, // earlier fetches took all the time
};
struct fetch {
    const char *topic;
    int32_t partition;
    int64_t offset;
    // Filled:
    enum fetch_state state;
    struct record record; // FETCH_FOUND, in the arena
    const char *why;      // otherwise, in words, in the arena
};

// A dead letter that points at a record without a copy of it has no value to compare: the record in its place
// is another one where it is younger than the dead letter, as in a topic that was made anew.
#define FETCH_YOUNGER "the record in its place is younger than the dead letter"
bool fetch_is_younger(const struct record *record, int64_t letter_at);

// Fills every fetch, whatever happens; partitions are read one after the other, neighbouring offsets
// together. A broker whose connection is not up within ten seconds, and a partition whose leader is connected
// and says nothing of it for some three, are skipped for a minute. Waits at most timeout_ms in all. `tick`
// (may be NULL) is called before each wait for an answer, which is three seconds at most; false stops: the
// rest is FETCH_FAILED.
typedef bool fetch_tick_fn(void *context);
void broker_fetch(struct broker *broker, struct fetch *fetches, size_t count, int timeout_ms,
                  fetch_tick_fn *tick, void *context, struct arena *arena);

#endif
