// ends: where the partitions of topics end now. Kept with a chunk before its first record is sent, so that a
// search for its records knows where to begin without trusting a clock (src/publish/PROTOCOL.md, "Doubt");
// and asked every minute, so that it is known how much is written.
#ifndef REDRIVE_BROKER_ENDS_H
#define REDRIVE_BROKER_ENDS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "broker/broker.h"

// Appends "topic n,n,n", the end of each partition from 0 on, at most half a minute old: an older end is as
// good a place to begin. ERR_NOT_FOUND: a partition has no leader.
bool broker_ends(struct broker *broker, const char *topic, int timeout_ms, struct strbuf *text,
                 struct err *err) MUST_CHECK;
// The end of a partition in such a text; -1: it is of another topic, or has no such partition.
int64_t ends_of(const char *text, const char *topic, int32_t partition);

struct topic_ends {
    const char *topic; // of the caller
    int64_t *ends;     // of partition 0, 1, …
    size_t count;      // 0: not told
    const char *note;  // why
};
// Of several topics, as they are now. Where one is missing or hidden, or a partition does not answer, its
// note says so. Lists and notes are in the arena.
bool broker_ends_now(struct broker *broker, struct topic_ends *topics, size_t count, int timeout_ms,
                     struct arena *arena, struct err *err) MUST_CHECK;

#endif
