// setback: operations whose last step failed. Each is tried again later, smaller where that may help, and
// others pass it meanwhile. It knows no clock of its own: `now` is clock_mono.
#ifndef REDRIVE_PUBLISH_SETBACK_H
#define REDRIVE_PUBLISH_SETBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETBACK_LONGEST (60 * (int64_t)1000000) // µs between two tries, at most
#define SETBACK_SETTLES 2500000 // µs; more than the two seconds of the SQL function work_note

struct setback {
    int64_t operation; // 0: free
    int tries;         // failed in a row; 0: it succeeded, and its steps grow again
    int64_t until;     // clock_mono: not tried before
    size_t limit;      // events of the next step, at most
    int64_t queued;    // events it had when nothing was to be had
    char why[160];
    bool is_untold;   // the operation's row does not say this yet
    int64_t again_at; // clock_mono: it is told once more, at the earliest; 0: it need not be
};
#define SETBACKS 16
struct setbacks {
    struct setback rows[SETBACKS];
};

// A step of at most `limit` events failed. The next has half as many, and follows after 1 s, 2 s, 4 s … 60 s.
// With more operations than rows, the one that waits for the shortest time is forgotten: it is tried early.
void setback_add(struct setbacks *setbacks, int64_t operation, size_t limit, int64_t now, const char *why);
// A step failed for a reason that has nothing to do with its size. Another operation may come before `until`.
void setback_pass(struct setbacks *setbacks, int64_t operation, int64_t now, int64_t until, const char *why);
// There was nothing to be had for this operation, although `queued` of its events wait. Where these stay as
// many, it waits like one that failed, and after three times its row says why.
void setback_empty(struct setbacks *setbacks, int64_t operation, int64_t queued, int64_t now,
                   const char *why);
// A step succeeded: no more waiting, and the next one may be twice as large, up to `most`.
void setback_end(struct setbacks *setbacks, int64_t operation, size_t most);

// µs until the operation may be tried; 0: now.
int64_t setback_wait(const struct setbacks *setbacks, int64_t operation, int64_t now);
// How many events its next step may have; at most `most`.
size_t setback_limit(const struct setbacks *setbacks, int64_t operation, size_t most);
// µs until the first of them may be tried; 0: none waits. Its row, where `which` is not NULL.
int64_t setback_soonest(const struct setbacks *setbacks, int64_t now, const struct setback **which);
// One that its operation's row does not know of, told from then on; NULL: none. A step that failed is told at
// once and once more SETBACK_SETTLES later: the row takes no reason while a chunk of the operation is in
// flight or was a moment ago, and the step's own chunk may be that one.
const struct setback *setback_tell(struct setbacks *setbacks, int64_t now);

#endif
