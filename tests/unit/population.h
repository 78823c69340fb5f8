// population: two sets of events for tests of what sets events apart, made from a seed: signals that are
// planted, and fields that tell nothing, or only look as if they did.
#ifndef REDRIVE_TESTS_UNIT_POPULATION_H
#define REDRIVE_TESTS_UNIT_POPULATION_H

#include "base/strbuf.h"
#include "core/apart/apart.h"

enum { PLANTED_MOST = 3 };

// A field whose values differ between the sides.
enum signal {
    SIGNAL_VALUE,     // $.currency is mostly one value
    SIGNAL_TYPE,      // $.amount is a text
    SIGNAL_MISSING,   // $.shipping.zip is missing
    SIGNAL_NUMBER,    // $.total is large
    SIGNAL_HEADER,    // header app-version
    SIGNAL_PARTITION, // one partition
    SIGNAL_TIME,      // created within an hour
    SIGNAL_WORD,      // one host in the message
    SIGNAL_ELEMENT,   // an sku among the lines
    SIGNAL_LENGTH,    // $.note is long
    SIGNAL_EVENT_TYPE,
    SIGNAL_RETRIES,
    SIGNALS
};
const char *signal_name(enum signal signal);
// Is this row about the signal's field, or does it name it among those that say the same?
bool signal_is_row(enum signal signal, const struct apart_row *row);

struct population {
    uint64_t seed;
    enum signal planted[PLANTED_MOST]; // the first has a copy and a follower
    size_t count;
    bool is_even; // nothing was planted: both sides are alike
};

struct population population_make(uint64_t seed);
typedef void population_visit_fn(void *context, const struct event *event, bool is_here);
// The events of both sides; each lives during its call.
void population_visit(const struct population *population, population_visit_fn *each, void *context);
// Both samples of the population.
struct apart *population_apart(const struct population *population);

// Is this row about the first signal, or about $.copy, which is true where that was planted?
bool population_is_first(const struct population *population, const struct apart_row *row);
// Is this row about a field that is an id or a clock?
bool population_is_id(const struct apart_row *row);

#endif
