// stop: why nothing may be published from this database, and what an administrator's decision would touch
// (src/publish/PROTOCOL.md, "Stop").
#ifndef REDRIVE_CORE_STOP_H
#define REDRIVE_CORE_STOP_H

#include <stdint.h>

// Operations that are not over, their events that wait, chunks whose end is not known, and their events.
struct history_counts {
    int64_t operations, queued, chunks, in_flight;
};

struct stop {
    char detail[1200]; // what is known, in sentences; "": nothing is stopped
    int64_t since;     // TIME_ABSENT: no worker has written it down yet
    struct history_counts counts;
    char denied[200]; // why this user may not decide it, and the remedy; "": may decide, and counts is filled
};

// What a person saw of a stop before deciding it.
struct stop_seen {
    int64_t since;
    struct history_counts counts;
};

#endif
