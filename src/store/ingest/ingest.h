// ingest: what `redrive ingest` writes: dead letters with their events, and how far each partition was read.
//
// PostgreSQL decides (src/store/sql/ingest.sql). An ingester has a number and a fence. It reads the
// partitions that ingest_claim gives it; whoever is not seen for 15 s loses them, and its next call fails
// with ERR_CONFLICT: it begins again with ingest_begin. A chunk is one transaction, so where the answer to it
// is lost, the positions tell whether it was taken.
#ifndef REDRIVE_STORE_INGEST_INGEST_H
#define REDRIVE_STORE_INGEST_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "core/event.h"
#include "store/store.h"

struct ingester {
    int64_t no, fence;
};

bool ingest_begin(struct store *store, const char *cluster, struct ingester *ingester,
                  struct err *err) MUST_CHECK;
// Gives everything back, so that another one can go on at once.
bool ingest_end(struct store *store, const struct ingester *ingester, struct err *err) MUST_CHECK;

// A partition and how far it was read.
struct ingest_position {
    const char *topic;
    int32_t partition;
    int32_t generation;
    int64_t next;        // offset; -1: nothing was read yet
    int64_t last_offset; // of the record that was taken in last; -1: none of this generation
    uint32_t last_crc;
};
// A sign of life, to be given every few seconds, and the partitions to read from now on, of these topics with
// so many partitions each; by topic and partition, in the arena.
bool ingest_claim(struct store *store, const struct ingester *ingester, const char *const *topics,
                  const int32_t *partitions, size_t count, struct arena *arena,
                  struct ingest_position **positions, size_t *position_count, struct err *err) MUST_CHECK;
// The same without claiming any, for somebody who only looks: those that are known.
bool ingest_positions(struct store *store, const char *cluster, struct arena *arena,
                      struct ingest_position **positions, size_t *position_count, struct err *err) MUST_CHECK;

// Records from offset `from` to before `to` are gone: an alarm, and the position moves on.
bool ingest_hole(struct store *store, const struct ingester *ingester, const struct ingest_position *position,
                 int64_t to, struct err *err) MUST_CHECK;
// The topic was made anew: an alarm, and the partition has another generation and no position.
bool ingest_anew(struct store *store, const struct ingester *ingester, const struct ingest_position *position,
                 struct err *err) MUST_CHECK;
// A record that was taken in.
struct ingest_known {
    int64_t offset; // -1: there is none
    uint32_t crc;
};
enum ingest_known_which { KNOWN_FIRST, KNOWN_LAST };
// The first or the last one of this generation at offsets from `low` to `high`.
bool ingest_known(struct store *store, const char *cluster, const struct ingest_position *position,
                  int64_t low, int64_t high, enum ingest_known_which which, struct ingest_known *known,
                  struct err *err) MUST_CHECK;
// Kafka lost what was taken in after that record: an alarm, and the partition has another generation, which
// is read from there.
bool ingest_fell_back(struct store *store, const struct ingester *ingester,
                      const struct ingest_position *position, const struct ingest_known *common,
                      struct err *err) MUST_CHECK;
// Where partitions end now.
struct ingest_mark {
    const char *topic;
    int32_t partition;
    int64_t end;
};
bool ingest_ends(struct store *store, const struct ingester *ingester, const struct ingest_mark *marks,
                 size_t count, struct err *err) MUST_CHECK;

// A dead letter with the row that it gets in the contract table. Texts are UTF-8 without NUL.
struct ingest_letter {
    // The record, as its topic has it.
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t timestamp; // instant; TIME_ABSENT
    struct bytes key, value;
    const struct event_header *headers;
    size_t header_count;
    uint32_t crc;
    const char *format;
    struct bytes consumer;
    int64_t failed_at; // instant; TIME_ABSENT
    // Which event it is.
    int64_t identity;
    bool was_sent; // by redrive, before it failed again
    struct bytes event_id, event_type, source_table, source_id;
    struct bytes payload; // JSON
    const char *schema;   // of a value that is no JSON: its name (src/store/sql/schemas.sql); NULL: none
    const char *decoding; // "waiting", "decoded" or "failed"; with schema
    struct bytes error_message, stack_trace;
    int32_t attempts; // -1: not known
    bool has_correlation;
    char correlation[16];
    struct letter_original {
        struct bytes topic;
        int32_t partition; // -1: not known
        int64_t offset;    // -1: likewise
    } original;
    bool is_pointer; // the original is at that place alone, and is still to be read from there
};

// What is read of a partition in a chunk: from its position to before `to`.
struct ingest_stretch {
    const char *topic;
    int32_t partition;
    int64_t from;        // -1: nothing was read yet
    int64_t to;          // greater than from
    int64_t last_offset; // of its last letter in the chunk; -1: there is none
    uint32_t last_crc;
};

// Letters as PostgreSQL gets them where they are all new events.
struct ingest_arrays;

struct ingest_chunk {
    const struct ingest_letter *letters;
    size_t letter_count;
    const struct ingest_stretch *stretches;
    size_t stretch_count;
    bool is_mixed; // goes through the stage, which takes whatever there is; false: tried first without, which
                   // is quicker and takes new events alone
    struct ingest_arrays *arrays; // made of this chunk before; NULL: it makes them
};
struct ingest_taken {
    int64_t events;   // new rows
    int64_t attempts; // further dead letters of events that have one
    int64_t unfit;    // that the contract table refuses: they are kept aside, with its reason
    bool was_staged;  // not all were events of their own, or nobody tried
};
// Needs no connection, so that PostgreSQL need not wait for it: another thread may do it while the store is
// used. `used`: of a chunk that was taken in, whose memory they take; NULL: none.
struct ingest_arrays *ingest_arrays_make(const struct ingest_chunk *chunk, struct ingest_arrays *used);
void ingest_arrays_free(struct ingest_arrays *arrays); // NULL is fine
// Is any letter of the one the same event as a letter of the other? Also while one of them is being taken in.
bool ingest_arrays_meet(const struct ingest_arrays *arrays, const struct ingest_arrays *others);
// All of it, or nothing. ERR_CONFLICT: another ingester has these partitions. Chunks of different partitions
// may be taken in over two stores at the same time, where no letter of the one is the same event as one of
// the other: otherwise both would become events. All other calls of an ingester wait until these have ended.
bool ingest_take(struct store *store, const struct ingester *ingester, const struct ingest_chunk *chunk,
                 struct ingest_taken *taken, struct err *err) MUST_CHECK;

// Tries those again that are kept aside.
bool ingest_again(struct store *store, const struct ingester *ingester, struct ingest_taken *taken,
                  struct err *err) MUST_CHECK;

#endif
