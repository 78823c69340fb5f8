// event: one row of the contract table dlq_events, with what redrive's own tables know about it.
//
// An event is a plain view: its bytes live in the arena of the page it came with. A mask of enum event_fields
// says which members are filled, so that a list does not pay for payloads it never shows. Absent (SQL NULL)
// is data == NULL for bytes, TIME_ABSENT for times, and the has_… flags for numbers.
#ifndef REDRIVE_CORE_EVENT_H
#define REDRIVE_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "core/category.h"
#include "core/revision.h"

enum event_status { EVENT_PENDING, EVENT_RESOLVED, EVENT_DISCARDED, EVENT_OTHER };

// The fields that a reader of events asks for. The id is always filled.
enum event_fields {
    EVENT_NARROW =
        1 << 0, // event_id … all short columns of the contract table: texts, times, numbers, coordinates
    EVENT_ERROR = 1 << 1,   // error_message (whole)
    EVENT_STACK = 1 << 2,   // stack_trace (whole); with EVENT_ERROR the reader also fills group and category
    EVENT_PAYLOAD = 1 << 3, // payload: newest revision, else raw bytes, else the jsonb's text
    EVENT_RAW = 1 << 4,     // place, time, key, headers of the record the event came from, where it is kept
    EVENT_GROUP = 1 << 5,   // group, category, error_class: reads message and stack, does not keep them
    EVENT_KNOWN =
        1 << 6, // what redrive's tables know: revisions, returned, published, quarantine, live operation
    EVENT_SENT = 1 << 7,      // for a republished record besides EVENT_PAYLOAD and EVENT_RAW: type, topic,
                              // partition, offset, event_id, source_id, created_at, revisions
    EVENT_BARE = 1 << 8,      // status and time of creation: enough to choose ids by
    EVENT_COUNTED = 1 << 9,   // the short columns that a backlog counts by: type, source, topic, status,
                              // retries, time of creation
    EVENT_PARTS = 1 << 10,    // the operations that it was part of, with its outcome there
    EVENT_REPLACED = 1 << 11, // besides EVENT_PAYLOAD and EVENT_RAW: what a corrected payload replaces, whole
    EVENT_EDITED = 1 << 12,   // besides EVENT_PAYLOAD, EVENT_RAW and EVENT_REPLACED, what every recipe needs:
                              // revisions; what only some need is in the three that follow
    EVENT_TYPED = 1 << 13,    // type
    EVENT_KEYED = 1 << 14,    // source_id
    EVENT_PLACED = 1 << 15,   // topic, partition, offset
    EVENT_PLANNED =
        EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW | EVENT_REPLACED, // for a plan of the record to send
};

// What became of an event in an operation; several are true of one that was sent.
enum event_outcome {
    EVENT_WAS_SENT = 1 << 0,   // or done, where nothing is sent
    EVENT_WAS_TAKEN = 1 << 1,  // its consumer has read past it
    EVENT_IS_WAITING = 1 << 2, // sent, within the settle time
    EVENT_STAYED = 1 << 3,     // sent, and it did not return within the settle time
    EVENT_RETURNED = 1 << 4,   // this row is how it failed again
    EVENT_WAS_REFUSED = 1 << 5,
    EVENT_WAS_SKIPPED = 1 << 6,
    EVENT_IS_IN_DOUBT = 1 << 7,
    EVENT_IS_UNSENT = 1 << 8, // queued, in flight or cancelled
};
struct event_part {
    int64_t operation;
    int64_t outcomes; // set of enum event_outcome
};

struct event_header {
    struct bytes name;
    struct bytes value; // absent is a null value
};

// The coordinates of the original record.
struct event_origin {
    int32_t partition; // with has_partition
    int64_t offset;    // with has_offset
    bool has_partition;
    bool has_offset;
};

// What a dead letter without a copy of its original points at, as redrive ingest read it.
enum event_original_state {
    EVENT_ORIGINAL_INSIDE,  // it does not point: the original is in the record, as far as it is anywhere
    EVENT_ORIGINAL_WAITING, // it is still to be read
    EVENT_ORIGINAL_FETCHED, // its value is the event's payload, unless that was corrected
    EVENT_ORIGINAL_GONE,
};
struct event_original {
    enum event_original_state state;
    struct bytes why;   // GONE; WAITING: why it could not be read the last time
    int64_t at;         // since when, or last asked for
    int64_t timestamp;  // of the record, with FETCHED; instant; TIME_ABSENT: none
    struct bytes topic; // where it is
    int32_t partition;
    int64_t offset;
    int64_t crc; // redrive.original.crc32c
    struct bytes key;
    struct event_header *headers;
    uint32_t header_count;
};

// The record the event came from, where redrive keeps it byte for byte: the original, or a dead letter of it.
struct event_record {
    bool is_kept;
    struct bytes format; // of a dead letter, as it was taken in ("unknown": none is known); absent: it is the
                         // record in Kafka where the row says, read again
    struct bytes consumer; // the group that failed, as its dead letter says; absent: it does not
    struct bytes topic;    // where it lay, with partition and offset
    struct bytes queue;    // the topic of its event's newest dead letter; absent: the same
    int32_t partition;
    int64_t offset;
    int64_t timestamp; // instant; 0 or TIME_ABSENT: not known
    struct bytes key;
    struct event_header *headers;
    uint32_t header_count;
    struct bytes decoded; // of a value that is no JSON: what it says, as JSON to look at; never to send or to
                          // edit. With EVENT_PAYLOAD; absent: it is not decoded, or was corrected
    // Of a dead letter, with EVENT_RAW:
    struct bytes cluster;
    int32_t generation; // of its topic
    int64_t failed_at;  // instant; 0 or TIME_ABSENT: not known
    int64_t identity;   // redrive.record.identity
    int64_t crc;        // redrive.record.crc32c
    struct event_original original;
};

// When and by whom it was closed, as a consumer or redrive wrote it.
struct event_closing {
    int64_t at;
    struct bytes by;
};

// From redrive's own tables, and what it found out.
struct event_known {
    int32_t revisions;            // 0: none, the original counts
    int32_t returned;             // times it failed again after it was republished
    int32_t published;            // times it was republished
    bool is_quarantined;          // returned too often; left out of bulk operations unless named
    int64_t returned_from;        // the operation that sent it before it failed again, or 0
    int64_t returned_id;          // the row that was sent: another one, or this one reopened
    int64_t operation;            // the live operation that includes it, or 0
    struct correction correction; // the newest revision; with EVENT_RAW
    struct event_part *parts;     // with EVENT_PARTS
    uint32_t part_count;
    const char *unreadable;       // why PostgreSQL cannot return the payload, which is absent; NULL: it can
    const char *unreadable_error; // the same of error_message
    const char *unreadable_stack; // and of stack_trace
};

// What the consumer retried before it gave up.
struct event_retries {
    int32_t count, max;
    int64_t last_at;
};

struct event {
    int64_t id;

    // Columns of the row.
    struct bytes event_id;
    struct bytes event_type;
    struct bytes source_table;
    struct bytes source_id;
    struct bytes correlation_id; // as text
    struct bytes status_text;    // as stored
    enum event_status status;
    struct bytes topic;
    struct event_retries retries;
    int64_t created_at;   // instant; the table's wall time read in the configured zone
    int64_t created_wall; // the same as stored, µs as if it were UTC; created_wall - created_at is
                          // the offset
    struct event_closing closed;
    struct event_origin origin;

    struct bytes error_message;
    struct bytes stack_trace;
    struct bytes payload;
    struct bytes at_path;  // the value at a path, for people, where a list asked for one
    uint64_t payload_size; // of the whole payload, also where only its beginning was read

    struct event_record record;
    struct event_known known;

    // Derived, by core/fingerprint/fingerprint and core/category.
    uint64_t group;
    enum category category;
    struct bytes error_class; // of the root cause; absent where the text has none
};

// The record's key where it is kept, else that of the original it points at, else the source id, by which
// events of one thing are told as well. Needs EVENT_RAW and EVENT_NARROW.
struct bytes event_key(const struct event *event);
// Key and headers of the record that is kept: those of the original where it was fetched, since a dead letter
// that points at it has none of them.
struct bytes event_kept_key(const struct event *event);
const struct event_header *event_kept_headers(const struct event *event, uint32_t *count);
const char *
event_original_state_name(enum event_original_state state); // "inside", "waiting", "fetched", "gone"
// What became of the original that a dead letter points at, in words: "fetched from orders, partition 1,
// offset 12"; absent: it does not point. Needs EVENT_RAW.
struct bytes event_original_text(const struct event *event, struct arena *arena);
// The payload to look at, to search and to compare: as JSON where the value was decoded. Never to send or to
// edit. Needs EVENT_PAYLOAD.
struct bytes event_payload_shown(const struct event *event);
// The text of error_message, or of stack_trace, for people: where PostgreSQL cannot return it, why.
struct bytes event_error_text(const struct event *event);
struct bytes event_stack_text(const struct event *event);

const char *event_status_name(enum event_status status);     // "pending", …, "other"
enum event_status event_status_of(struct bytes status_text); // any case

// A group key as 16 hex digits, and back. A key prefix of 1 to 16 digits parses to a range [low, high].
#define GROUP_TEXT 17
const char *group_text(uint64_t group, char out[GROUP_TEXT]);
bool group_parse(struct bytes text, uint64_t *low, uint64_t *high);
// The keys of a list with commas between them; returns their number, at most GROUPS_LISTED. Words that are
// not whole keys are skipped.
enum { GROUPS_LISTED = 240, GROUPS_TEXT = GROUPS_LISTED * GROUP_TEXT };
size_t groups_parse(struct bytes text, uint64_t keys[GROUPS_LISTED]);

// Is the topic named like a dead letter queue? The original topic is the same name without what says so
// (core/envelope/topic_name.h), else the unchanged name.
bool topic_is_queue(struct bytes topic);
// Is it a topic of the publish protocol, or of Kafka's own? No event is sent there, whatever names it.
bool topic_is_reserved(struct bytes topic);
struct bytes topic_original(struct bytes topic);
// The dead letter queue that the event was in: the topic that its dead letter was read from, else that of its
// row where it is named like one; absent: none.
struct bytes event_queue(const struct event *event);
// Columns that only events of dead letters have, by the filter's names: "format", "consumer", "queue" and,
// which is the same, "dlq-topic". Absent: the event has none.
bool event_letter_column_is(struct bytes name);
struct bytes event_letter_column(const struct event *event, struct bytes name);

#endif
