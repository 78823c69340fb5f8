// decode_again: dead letters that are events already, to be decoded by other settings
// (src/store/sql/decode_again.sql).
#ifndef REDRIVE_STORE_INGEST_DECODE_AGAIN_H
#define REDRIVE_STORE_INGEST_DECODE_AGAIN_H

#include "store/ingest/ingest.h"
#include "store/ingest/kept_record.h"

// The Kafka clusters of which a topic of that name was read.
bool decode_again_clusters(struct store *store, const char *topic, struct arena *arena,
                           const char ***clusters, size_t *count, struct err *err) MUST_CHECK;

// The records of pending events of that topic behind the record `after` (NULL: from the first one), in the
// order of the topic: as many as `room` and a few MB take, one at least.
bool decode_again_records(struct store *store, const char *cluster, const char *topic,
                          const struct kept_record *after, struct arena *arena, struct kept_record *records,
                          size_t room, size_t *count, struct err *err) MUST_CHECK;

// How many became what.
enum decode_again_fate {
    AGAIN_DECODED,
    AGAIN_UNCHANGED, // they are so already
    AGAIN_CORRECTED, // left out from here on: a person corrected them
    AGAIN_BUSY,      // they are in an operation that has not ended
    AGAIN_SPLIT,     // they would be another event, and have further dead letters
    AGAIN_TAKEN,     // they would be an event that there is already
    AGAIN_REFUSED,   // the contract table does not take them
    AGAIN_CLOSED,    // they are not pending any more, or somebody writes them just now
    AGAIN_FATES,
};
struct decode_again_counts {
    int64_t of[AGAIN_FATES];
};
// A word, as in SQL and in JSON.
const char *decode_again_word(enum decode_again_fate fate);

// Writes what these letters, of so many events, are now; adds to the counts. All of it, or nothing. is_dry:
// nothing stays.
bool decode_again_take(struct store *store, const struct ingester *ingester,
                       const struct ingest_letter *letters, const int64_t *ids, size_t count, bool is_dry,
                       struct decode_again_counts *counts, struct err *err) MUST_CHECK;

#endif
