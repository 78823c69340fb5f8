// doubt: chunks whose fate no marker tells. The topics themselves decide, or a person does (PROTOCOL.md,
// "Doubt").
#ifndef REDRIVE_PUBLISH_DOUBT_H
#define REDRIVE_PUBLISH_DOUBT_H

#include <stdint.h>
#include "base/err.h"

struct endpoints;

enum doubt_outcome {
    DOUBT_NONE,    // no chunk of this cluster is in doubt, or another worker has its slot
    DOUBT_EARLY,   // younger than `wait`
    DOUBT_DECIDED, // its events are done or queued again
    DOUBT_STAYS,   // the search could not decide it
};
// Looks into one chunk in doubt. `wait`: µs by which a chunk without transactions must be old, so that no
// request of its owner is still on its way.
bool doubt_look(struct endpoints *endpoints, int64_t wait, enum doubt_outcome *outcome,
                struct err *err) MUST_CHECK;

#endif
