// shape: learns from payloads of one event type which paths exist, with which types and, where few, which
// values; then lists where one payload departs from that. Nobody has to write a schema.
//
// Elements of an array are one path (lines[*].amount). An object whose names are data (ids, dates) is a map:
// its members are one path (prices.*). Every share is a share of events, so that one event with 10,000 lines
// counts once.
//
// A departure is reported where at least 19 of 20 events agree (SHAPE_MAJORITY), of at least 20 events
// (SHAPE_LEAST) that have the place in question. Below 20, an exception that is in truth as frequent as one
// in seven would often not be in the sample at all. Unknown names and values are reported only where names
// and values that occur in a single event are rare: their share estimates how likely the next event has one
// that was never seen (Good and Turing), so ids never count as "few values".
//
// The sample should not hold events of the group that is being corrected: where one in ten has the same
// fault, the fault is no departure any more.
//
// Memory is bounded whatever is added (SHAPE_PATHS, SHAPE_TEXT), and time is linear in the payload. A shape
// is written by one thread; once nothing is added any more, any number of threads may read it.
#ifndef REDRIVE_CORE_SHAPE_SHAPE_H
#define REDRIVE_CORE_SHAPE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"

#define SHAPE_MAJORITY 19 // of 20
#define SHAPE_LEAST 20    // events

#define SHAPE_PATHS 8192      // different ones that are kept
#define SHAPE_NAMES 1024      // of one object; with more it is a map
#define SHAPE_TEXT (1 << 20)  // bytes of all names and values that are kept
#define SHAPE_DEPARTURES 256  // the most surprising ones that are listed
#define SHAPE_SAME 16         // places of one path that are listed for one reason
#define SHAPE_PATH_BYTES 1000 // of a listed path; a longer one ends at a container around the place

struct shape;

struct shape *shape_create(void);
void shape_destroy(struct shape *shape);

// Learns from one payload. false: it is not JSON; then it is only counted.
bool shape_add(struct shape *shape, struct bytes payload);
size_t shape_events(const struct shape *shape);  // payloads learned from
size_t shape_skipped(const struct shape *shape); // payloads that are not JSON
size_t shape_paths(const struct shape *shape);
size_t shape_memory(const struct shape *shape); // bytes, about

// In the order of consequence: consumers fail at a wrong type rather than at a name they do not know.
enum shape_reason {
    SHAPE_TYPE,    // another type than elsewhere
    SHAPE_MISSING, // a member that others have
    SHAPE_EMPTY,   // a text or array that has content elsewhere
    SHAPE_VALUE,   // a value that no other event has, where few are known
    SHAPE_UNKNOWN, // a name that no other event has
};

struct shape_departure {
    enum shape_reason reason;
    // Concrete: $.lines[2].amount. A missing member has the path it would have. Where that path would be too
    // long, the path of a container around the place.
    const char *path;
    // The bytes of the payload: the value; a container's opening bracket; the name of an unknown member. Of a
    // missing member the opening bracket of the object that lacks it.
    size_t from, len;
    // The last name of the path, of a missing member too; absent for the payload itself and for an element.
    struct bytes name;
    const char *sentence; // has names and values of payloads in it: untrusted
    double chance;        // of such a place in an event of this type, estimated; 0 to 1
};

// The departures of a payload, the most surprising first: the smallest chance, where a wrong type or a
// missing member weighs 4 times an empty text and 16 times an unknown value or name; then the order of
// reasons, then that of the text. A payload that is not JSON is read up to the place where it stops
// being so. Everything in *list lives in the arena.
void shape_departures(const struct shape *shape, struct bytes payload, struct arena *arena,
                      struct shape_departure **list, size_t *count);

#endif
