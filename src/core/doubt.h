// doubt: what a person has to decide because no machine can: a chunk that neither its marker nor a search of
// the topics explains, or a slot that was suspended without one (PROTOCOL.md, "Doubt").
#ifndef REDRIVE_CORE_DOUBT_H
#define REDRIVE_CORE_DOUBT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/uuid.h"

// Text belongs to whoever made it.
struct doubt {
    const char *chunk; // uuid; NULL: the slot itself
    const char *cluster;
    int32_t slot;
    int64_t operation; // of the chunk
    int32_t events;    // of the chunk, from the first to the last by id
    int64_t first_event, last_event;
    int64_t created_at;   // when the chunk was claimed; TIME_ABSENT for a slot
    const char *evidence; // why it is in doubt; NULL: nothing was written down
    bool is_searched;     // a worker still looks for the chunk in the topics
    const char *denied;   // why this user may not decide it, and what would let them; NULL: they may
};

enum { DOUBT_CHUNK_SHOWN = 8 }; // characters of a chunk's id that tell chunks of one operation apart

// A person's word about one of them. Of a slot only that it may work again.
struct doubt_verdict {
    char chunk[UUID_SIZE]; // "": the slot itself
    char cluster[64];
    int32_t slot;
    bool is_published; // the chunk's events are treated as sent; else they are sent once more
};

#endif
