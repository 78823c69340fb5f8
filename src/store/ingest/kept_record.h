// kept_record: the record of a dead letter that is an event already, as redrive.record keeps it, and what it
// points at where it has no copy of the original (src/store/sql/originals.sql).
#ifndef REDRIVE_STORE_INGEST_KEPT_RECORD_H
#define REDRIVE_STORE_INGEST_KEPT_RECORD_H

#include <stdint.h>
#include "core/envelope/envelope.h"
#include "core/event.h"

struct kept_original {
    enum event_original_state state; // EVENT_ORIGINAL_INSIDE: the dead letter has it itself
    struct envelope_record record;   // EVENT_ORIGINAL_FETCHED
    const char *why;                 // EVENT_ORIGINAL_GONE
};
struct kept_record {
    int64_t id; // of the event
    struct envelope_record record;
    int32_t generation;
    struct kept_original original;
};

#endif
