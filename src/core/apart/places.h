// places: where a limit of a number, a time or a length could lie: between two different values of the
// samples. Private to the room.
#ifndef REDRIVE_CORE_APART_PLACES_H
#define REDRIVE_CORE_APART_PLACES_H

#include "core/apart/private.h"

enum place_choice {
    PLACES_ALL,
    PLACES_ROUND,  // powers of ten: the numbers hardly repeat, and may be ids
    PLACES_NONE,   // they grow or fall with time or id: ids, clocks
    PLACES_LENGTH, // of texts
};

struct place {
    double below, from;   // the values on both sides of it
    uint32_t here, there; // events with a value from `from` on
};

enum place_choice places_choice(const struct apart *apart, const struct apart_field *field);
// In ascending order; behind the last, which is not counted, are `here` and `there` of all events with a
// value. is_least: of several values of an event the least counts, else the largest.
struct place *places_find(const struct apart *apart, const struct apart_field *field,
                          enum place_choice choice, bool is_least, struct arena *arena, size_t *count);
// Sets the lower or upper limit of the question: the roundest number or time at the place. `arena` is for
// numbers.
void place_limit(enum apart_what what, const struct place *place, bool is_upper, struct arena *arena,
                 struct apart_question *question);

#endif
