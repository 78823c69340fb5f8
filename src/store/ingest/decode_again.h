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

// The further dead letters of these events, of whatever topic; in the arena.
bool decode_again_attempts_of(struct store *store, const char *cluster, const int64_t *ids, size_t id_count,
                              struct arena *arena, struct kept_record **records, size_t *count,
                              struct err *err) MUST_CHECK;
// Those of that topic of pending events whose own record is of another topic; as decode_again_records.
bool decode_again_attempts(struct store *store, const char *cluster, const char *topic,
                           const struct kept_record *after, struct arena *arena, struct kept_record *records,
                           size_t room, size_t *count, struct err *err) MUST_CHECK;

// How many became what.
enum decode_again_fate {
    AGAIN_DECODED,
    AGAIN_UNCHANGED, // they are so already
    AGAIN_CORRECTED, // left out from here on: a person corrected them
    AGAIN_BUSY,      // they are in an operation that has not ended
    AGAIN_SPLIT,     // they would be another event than their further dead letters
    AGAIN_TAKEN,     // they would be an event that there is already
    AGAIN_REFUSED,   // the contract table does not take them
    AGAIN_CLOSED,    // they are not pending any more, or somebody writes them just now
    AGAIN_FATES,
};
struct decode_again_counts {
    int64_t of[AGAIN_FATES]; // events
    int64_t attempts;        // further dead letters that were decoded
    int64_t attempts_same;   // that are so already
    int64_t attempts_split;  // that would be of another event, and stay as they are
};
// A word, as in SQL and in JSON.
const char *decode_again_word(enum decode_again_fate fate);

// Writes what these letters of the events at their places in `ids` are now; adds to the counts. The first
// `records` of them are the events' own records, the others further dead letters. All of it, or nothing.
// is_dry: nothing stays.
bool decode_again_take(struct store *store, const struct ingester *ingester,
                       const struct ingest_letter *letters, const int64_t *ids, size_t count, size_t records,
                       bool is_dry, struct decode_again_counts *counts, struct err *err) MUST_CHECK;

#endif
