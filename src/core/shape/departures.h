// departures: what the search for departures and their sentences share. Private to the room.
#ifndef REDRIVE_CORE_SHAPE_DEPARTURES_H
#define REDRIVE_CORE_SHAPE_DEPARTURES_H

#include "core/shape/shape.h"
#include "core/shape/trail.h"
#include "core/shape/tree.h"

// A departure as it is found: without its path, which a second pass over the text writes.
struct departure {
    enum shape_reason reason;
    uint32_t node; // of the place; of a missing member its own; of an unknown one the object's
    enum shape_kind kind;
    struct json_token value; // its first token; the object's where a member is missing
    struct json_token name;  // of an unknown member
    double chance;
};

// Writes the sentence of a departure, whose place the trail has reached.
void departure_sentence(const struct shape *shape, const struct departure *departure,
                        const struct trail *trail, struct strbuf *out);

#endif
