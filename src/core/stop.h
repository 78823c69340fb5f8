// stop: why nothing may be published from this database, and what an administrator's decision would touch
// (src/publish/PROTOCOL.md, "Stop").
#ifndef REDRIVE_CORE_STOP_H
#define REDRIVE_CORE_STOP_H

#include <stdbool.h>
#include <stdint.h>

// Operations that are not over, their events that wait, chunks whose end is not known, and their events.
struct history_counts {
    int64_t operations, queued, chunks, in_flight;
};

// A request that a worker takes the history over from Kafka, since this is the true database.
enum adopting_state {
    ADOPTING_NONE,
    ADOPTING_ASKED,     // a worker is to count what Kafka proves
    ADOPTING_COUNTED,   // an administrator is to confirm the counts
    ADOPTING_CONFIRMED, // a worker is to carry it out
    ADOPTING_DONE,
    ADOPTING_FAILED,
};
struct adopting {
    enum adopting_state state;
    int64_t no;      // of the request
    int64_t at;      // instant: when it came into this state
    int64_t sent;    // events that will be closed as sent
    int64_t chunks;  // of Kafka, that are not known here
    int64_t records; // that were searched
    char why[500];   // it failed, or has to be confirmed once more; "": neither
};

struct stop {
    char detail[1200]; // what is known, in sentences; "": nothing is stopped
    int64_t since;     // TIME_ABSENT: no worker has written it down yet
    struct history_counts counts;
    struct adopting adopting;
    bool has_worker;  // one that can ask Kafka lives
    char denied[200]; // why this user may not decide it, and the remedy; "": may decide, and counts is filled
};

// What a person saw of a stop before deciding it.
struct stop_seen {
    int64_t since;
    struct history_counts counts;
    struct adopting adopting;
};

#endif
