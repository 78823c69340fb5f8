// kept_record: the record of a dead letter that is an event already, as redrive.record keeps it.
#ifndef REDRIVE_STORE_INGEST_KEPT_RECORD_H
#define REDRIVE_STORE_INGEST_KEPT_RECORD_H

#include <stdint.h>
#include "core/envelope/envelope.h"

struct kept_record {
    int64_t id; // of the event
    struct envelope_record record;
    int32_t generation;
};

#endif
