// broken: the publish protocol with one of its rules left out, for tests that must notice it. Compiled only
// with REDRIVE_KILL_POINTS; the program that ships has no trace of them.
//
// The simulator and a model of the protocol refute each row (PROTOCOL.md, "How it was tested").
// REDRIVE_BROKEN=<name> chooses one for a whole process.
#ifndef REDRIVE_PUBLISH_BROKEN_H
#define REDRIVE_PUBLISH_BROKEN_H

#include <stdbool.h>

enum broken {
    BROKEN_NOTHING,
    BROKEN_FINISH_FIRST, // "finish-first": finished before the marker is committed
    BROKEN_NO_FENCE,     // "no-fence": after init the fence in PostgreSQL is not compared
    BROKEN_UNSTABLE,     // "unstable-read": the marker is read without require-stable
    BROKEN_READ_EARLY,   // "early-read": the marker is read before the fence, and believed after it
    BROKEN_LEASE_ALONE,  // "lease-alone": a lease that has passed means "not published"
    BROKEN_SAME_EPOCH,   // "same-epoch": after doubt the next transaction takes the epoch of the last
    BROKEN_NO_NONCE,     // "no-nonce": a marker is believed without the write before it
    BROKEN_NO_TURN,      // "no-turn": workers start without a turn
    BROKEN_TURN_ALONE,   // "turn-alone": a turn does not fence the slots
    BROKEN_TURN_EARLY,   // "turn-early": a publisher reads the turn before it fences its slot
    BROKEN_TURN_UNREAD,  // "turn-unread": a publisher does not read the turn at all
    BROKEN_NO_ENDS,      // "no-ends": where the topics end is not noted, a search begins by time
    BROKEN_COUNT
};

#ifdef REDRIVE_KILL_POINTS
bool broken(enum broken rule);
#else
#define broken(rule) false
#endif

// For programs of tests; only where kill points are compiled.
void broken_choose(enum broken rule); // instead of the environment's
const char *broken_name(enum broken rule);
const char *broken_words(enum broken rule); // what is left out

#endif
