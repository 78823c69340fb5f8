// consumers: the consumer groups of a topic, as Kafka tells of them. A record that is sent to a topic reaches
// all of them.
#ifndef REDRIVE_CORE_CONSUMERS_H
#define REDRIVE_CORE_CONSUMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

struct consumer_offset {
    int32_t partition;
    int64_t committed; // the offset that the group reads next
};

struct consumer {
    const char *name;
    const char *state; // Kafka's word: "Stable", "Empty" (nobody runs), "PreparingRebalance" …
    int64_t lag;       // records that it has not read yet; -1: not known
    bool is_live;      // somebody runs, or read up to less than a day ago
    bool is_awaited;   // events whose dead letters name no group wait until this one has read them
    struct consumer_offset *offsets; // of partitions on which it has committed
    size_t offset_count;
};

// Those that have committed on the topic: others may read it, but leave no trace.
struct topic_consumers {
    const char *topic;
    struct consumer *rows; // by name
    size_t count;
    const char *note; // why they, or some of them, are not known; NULL: they are
    int64_t read_at;  // instant; TIME_ABSENT: nobody has asked Kafka yet
};

// "billing (lag 12), audit, search (lag 3, nobody runs)"; "" where none is known.
const char *consumers_words(const struct topic_consumers *topic, struct arena *arena);
// "read by billing (lag 12), audit: all of them get these again"; with the topic's name in front where
// `is_named`, and how old it is from a minute on. NULL: nobody has asked Kafka yet.
const char *consumers_sentence(const struct topic_consumers *topic, bool is_named, int64_t now,
                               struct arena *arena);
// The sentence of topics[i] beside those of the others. Topics whose groups are not known for the same reason
// are told at the first of them, and NULL for the others.
const char *consumers_sentence_among(const struct topic_consumers *topics, size_t count, size_t i,
                                     int64_t now, struct arena *arena);

#endif
