// revision: an event as a person corrected it. The original stays as it is for ever; each save is a revision
// beside it, with the number of the revision it was made from. A reprocess sends the newest.
#ifndef REDRIVE_CORE_REVISION_H
#define REDRIVE_CORE_REVISION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct event_header;

// The parts that a revision replaces. A part that is not set is as in the original.
struct correction {
    bool has_payload, has_key, has_headers, has_topic, has_partition;
    struct bytes payload;
    struct bytes replaced; // with EVENT_REPLACED: the payload that was received, of one that is replaced
    struct bytes key;      // absent is a null key
    struct event_header *headers; // all of them, in order
    uint32_t header_count;
    struct bytes topic;
    int32_t partition;
};

struct revision {
    int32_t no;         // from 1; the original is 0
    int32_t parent;     // the revision it was made from
    const char *author; // a role of PostgreSQL
    const char *reason; // NULL: none was given
    int64_t at;
    int64_t operation; // whose recipe wrote it; 0: a person wrote it
    struct correction parts;
};

// Does it replace anything? One that does not is the original again.
bool correction_is_empty(const struct correction *correction);
bool correction_equals(const struct correction *a, const struct correction *b);

#endif
