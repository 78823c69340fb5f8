// newer: which events Kafka holds newer records of the same key for. An event that is sent again comes behind
// these, so that an old state replaces the one of now.
//
// An event is stale when, in the partition that it came from, a committed record with the same key (compared
// as bytes) stands behind its own. Records of other events of the same choice do not count, since these are
// sent again too, nor do records that redrive sent, which are copies of older ones.
#ifndef REDRIVE_CORE_NEWER_H
#define REDRIVE_CORE_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"

// Why it is unknown of an event.
enum untold {
    UNTOLD_NOT,    // it can
    UNTOLD_PLACE,  // the event does not say where its record was
    UNTOLD_QUEUE,  // that was in a dead letter queue
    UNTOLD_KEY,    // it has no key, or a correction gave it another one
    UNTOLD_GONE,   // the records behind it are no longer there
    UNTOLD_OTHER,  // another record is in its place: the topic was made anew
    UNTOLD_DENIED, // the topic may not be read
    UNTOLD_CUT,    // reading ended before it was told
    UNTOLD_COUNT
};

struct newer_key {
    struct bytes key;
    int64_t at;      // instant of its newest record; TIME_ABSENT
    bool is_deleted; // that is a tombstone
};
enum { NEWER_KEYS = 20 };

struct newer {
    bool is_over;        // else it is still being read:
    int64_t records, of; // read so far, and how many there are
    int64_t events;      // that were asked about
    int64_t *stale;      // their ids, ascending
    int64_t *stale_at;   // instant of the newest record, of each
    size_t stale_count;
    int64_t key_count;      // of the stale events
    struct newer_key *keys; // the newest of them, newest first, at most NEWER_KEYS
    size_t shown;
    int64_t resent;               // events whose key has newer records from redrive alone
    int64_t untold[UNTOLD_COUNT]; // events, by reason
    const char *why;              // reading ended early: why; NULL: it did not
};

int64_t newer_untold(const struct newer *newer); // of all reasons

// "37 have newer records of the same key, the newest 3m ago"; "none has newer records of the same key", with
// what this does not hold for.
const char *newer_found(const struct newer *newer, int64_t now, struct arena *arena);
// "keys: c-88213 (3m ago), c-10021 (1h ago, deleted) and 29 more", at most `most` of them; NULL: there is
// none. Untrusted text.
const char *newer_keys(const struct newer *newer, size_t most, int64_t now, struct arena *arena);
// "12 unknown: 8 do not say where their record was, 4 have no key"; NULL: all can.
const char *newer_gaps(const struct newer *newer, struct arena *arena);
// "read 1,204,000 of 5,400,000 records"; with why, where reading ended early.
const char *newer_progress(const struct newer *newer, struct arena *arena);

#endif
