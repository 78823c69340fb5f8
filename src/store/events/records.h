// records: the original records of events, kept beside the contract table byte for byte.
#ifndef REDRIVE_STORE_EVENTS_RECORDS_H
#define REDRIVE_STORE_EVENTS_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include "core/event.h"
#include "store/store.h"

// A record as it was read again in Kafka.
struct kept_record {
    int64_t id;              // of the event
    int64_t timestamp;       // instant; TIME_ABSENT
    struct bytes key, value; // absent is a null
    const struct event_header *headers;
    uint32_t header_count;
};
// Keeps those that are their event's own (the same JSON value as its row) and that are not kept yet. For
// workers.
bool records_keep(struct store *store, const struct kept_record *records, size_t count,
                  struct err *err) MUST_CHECK;

// Asks the workers to read the original record of an event and keep it, since the screen has no Kafka.
// *has_worker: one that can is there now. It then appears with the event's EVENT_RAW.
bool record_want(struct store *store, int64_t id, bool *has_worker, struct err *err) MUST_CHECK;
// For workers: takes up to `room` of these requests.
bool records_wanted(struct store *store, int64_t *ids, size_t room, size_t *count,
                    struct err *err) MUST_CHECK;

#endif
