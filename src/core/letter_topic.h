// letter_topic: a topic of dead letters, as far as redrive ingest has read it.
#ifndef REDRIVE_CORE_LETTER_TOPIC_H
#define REDRIVE_CORE_LETTER_TOPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct letter_topic {
    const char *name;
    int64_t read;      // offsets that were passed, of all partitions: letters come in as fast as it grows
    int64_t left;      // letters that Kafka had beyond them when it was asked last; -1: it was not asked yet
    bool is_read;      // an ingester is alive for it
    int64_t alarms;    // of the last week: letters that nobody can read any more
    const char *alarm; // the newest of them; NULL: none
};

// Of topics that are read: what is left of others nobody knows any more.
int64_t letter_topics_left(const struct letter_topic *topics, size_t count);

// How far all topics had been read, at an instant of clock_mono. Zero-initialise.
struct letters_seen {
    int64_t at, read;
};
// Letters a second since some 10 to 20 s, to be asked every second or so; below 0: not known yet. seen: two
// earlier moments, which this keeps. A topic that was made anew begins at 0 again, and so does this.
double letters_per_second(struct letters_seen seen[2], const struct letter_topic *topics, size_t count,
                          int64_t now);

#endif
