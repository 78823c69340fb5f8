// doubt: a case that a person has to decide: a chunk in doubt, whose outcome neither its marker nor a search
// of the topics shows, or a slot that was suspended without such a chunk (src/publish/PROTOCOL.md, "Doubt").
#ifndef REDRIVE_CORE_DOUBT_H
#define REDRIVE_CORE_DOUBT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/uuid.h"

// Text is owned by the creator of the struct.
struct doubt {
    const char *chunk; // uuid; NULL: the slot itself
    const char *cluster;
    int32_t slot;
    int64_t operation; // of the chunk
    int32_t events;    // of the chunk, from the first to the last by id
    int64_t first_event, last_event;
    int64_t created_at;   // when the chunk was claimed; TIME_ABSENT for a slot
    const char *evidence; // why it is in doubt; NULL: not recorded
    bool is_searched;     // a worker still looks for the chunk in the topics
    const char *denied;   // why this user may not decide it, and the remedy; NULL: may decide
};

enum { DOUBT_CHUNK_SHOWN = 8 }; // characters of a chunk's id that distinguish the chunks of an operation

// A person's decision of one case. A slot can only be allowed to work again.
struct doubt_verdict {
    char chunk[UUID_SIZE]; // "": the slot itself
    char cluster[64];
    int32_t slot;
    bool is_published; // the chunk's events are treated as sent; else they are sent again
};

#endif
