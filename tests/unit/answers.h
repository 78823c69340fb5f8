// answers: what a backend would say, for tests of the screen without one.
#ifndef REDRIVE_TESTS_UNIT_ANSWERS_H
#define REDRIVE_TESTS_UNIT_ANSWERS_H

#include "tests/unit/app_world.h"

extern const int64_t answers_now; // the time of all events

// How much there is.
struct answers {
    int groups, events;
    enum event_status status; // of the events
    const struct operation *operations;
    size_t operation_count;
};

// Answers what was requested since.
void answer_all(struct world *world, const struct answers *answers);

#endif
