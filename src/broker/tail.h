// tail: reads partitions from offsets on, for as long as somebody wants (redrive ingest). Which partitions,
// and from where, the caller says: no group is joined, and what is committed to one is for others to look at.
//
// Records of aborted transactions are left out (read_committed). An offset that does not exist any more is
// told (TAIL_OUT_OF_RANGE), never jumped over. What librdkafka reads ahead is bounded: 30 MB and one answer.
#ifndef REDRIVE_BROKER_TAIL_H
#define REDRIVE_BROKER_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/settings.h"
#include "core/envelope/envelope.h"

struct tail;

// group: whose offsets tail_commit writes; NULL: nobody's. The settings are borrowed until tail_close.
bool tail_open(struct tail **tail, const struct broker_settings *settings, const char *group,
               struct err *err) MUST_CHECK;
void tail_close(struct tail *tail); // NULL is fine

struct tail_topic {
    const char *name;
    int32_t partitions;
    const int32_t *leaders; // of each partition, the broker's number; -1: none at the moment
};
// The topics of these names, and all that `wanted` (may be NULL) likes; by name, in the arena. Topics that do
// not exist, or may not be seen, are left out.
typedef bool tail_wanted_fn(void *context, const char *name);
bool tail_topics(struct tail *tail, const char *const *names, size_t count, tail_wanted_fn *wanted,
                 void *context, int timeout_ms, struct arena *arena, struct tail_topic **topics,
                 size_t *topic_count, struct err *err) MUST_CHECK;

// The offsets that exist: from *low to before *high. ERR_NOT_FOUND: no such partition.
bool tail_range(struct tail *tail, const char *topic, int32_t partition, int timeout_ms, int64_t *low,
                int64_t *high, struct err *err) MUST_CHECK;

struct tail_start {
    const char *topic;
    int32_t partition;
    int64_t offset; // to begin with, or TAIL_BEGINNING
};
enum { TAIL_BEGINNING = -2 }; // where the partition begins now
// Reads these from now on, and no others; sorted by topic and partition. The array is kept and borrowed until
// the next call, since items name its places. What was read ahead is thrown away.
bool tail_assign(struct tail *tail, const struct tail_start *starts, size_t count,
                 struct err *err) MUST_CHECK;

enum tail_kind {
    TAIL_RECORD,
    TAIL_END,          // nothing more for now; `offset` is where the next record would be
    TAIL_OUT_OF_RANGE, // of this partition nothing more comes until it is assigned again
    TAIL_GONE,         // the same: the topic or partition does not exist (any more)
    TAIL_TROUBLE,      // `err` says what it was; librdkafka goes on by itself
};
struct tail_item {
    enum tail_kind kind;
    size_t at;                     // place among the starts; SIZE_MAX: of none
    int64_t offset;                // of the record
    struct envelope_record record; // TAIL_RECORD: a view of the message
    struct err err;                // TAIL_TROUBLE
    void *message;
};
// Waits at most timeout_ms for `room` items, or until records have `bytes` bytes together, the last one
// included. Headers live in the arena, all else in the messages, which tail_free returns.
size_t tail_read(struct tail *tail, int timeout_ms, struct arena *arena, struct tail_item *items, size_t room,
                 size_t bytes);
void tail_free(void *const *messages, size_t count);

// Writes positions to the group, as {topic, partition, next offset}. Nobody waits for the answer: a refusal
// is logged.
void tail_commit(struct tail *tail, const struct tail_start *positions, size_t count);

#endif
