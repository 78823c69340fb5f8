// publish_plan: what would be sent for one event: topic, partition, key, headers, value; where the value
// comes from, and whether it is byte for byte what was received. Of a dead letter it is the record that
// failed, without what the failure put around it (undoing.h). Pure: `show --as-sent`, the event view, the
// dialog and the worker get the same answer from it.
#ifndef REDRIVE_PUBLISH_PLAN_H
#define REDRIVE_PUBLISH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "broker/broker.h"
#include "broker/fetch.h"
#include "core/event.h"
#include "core/topic_rules.h"

struct plan_settings {
    const struct topic_rules *rules; // groups that must not get events of a topic again; NULL: none
    // Where a record's key comes from when none is kept: "source_id", "event_id", "none", or "$.path" in the
    // payload; NULL: source_id. A column that is NULL gives a null key; a path that leads to no string,
    // number or truth value refuses the event, because a key that is wanted for order must not become a
    // random partition.
    const char *key;
    bool is_key_only; // partition always by key; else the one it came from, where the record goes back to its
                      // own topic
    bool keeps_headers;  // keep the dead-letter frameworks' own headers, which are dropped otherwise
    bool is_compressing; // the producer compresses, so a record's size does not tell whether the topic takes
                         // it
};
// Is this a key rule? ERR_USAGE otherwise.
bool plan_key_check(const char *rule, struct err *err) MUST_CHECK;

// The original record in Kafka, where redrive keeps no copy.
enum original_state {
    ORIGINAL_NOT_ASKED,  // it was not looked for
    ORIGINAL_FOUND,      // and it is this event's: the same JSON value
    ORIGINAL_GONE,       // no longer there, or the event does not say where it was
    ORIGINAL_OTHER,      // the record there is not this event's
    ORIGINAL_UNREADABLE, // Read on the topic is missing
    ORIGINAL_FAILED,     // could not be read now
};
struct original {
    enum original_state state;
    struct record record; // ORIGINAL_FOUND
    const char *why;      // in words, for the others
};

struct plan_input {
    const struct event *event;       // NARROW or SENT, and PAYLOAD, RAW: with its newest revision
    const struct original *original; // NULL: not asked
    const char *target_topic;        // --to; NULL: the event's own
    const struct topic *topic;       // of the target; NULL: not known
    // Of the attempt; chunk_id NULL outside of one: the headers that only an attempt has are left out.
    const char *chunk_id;
    const char *operator_name; // NULL: no header
    int64_t operation;
    int32_t attempt;
    int32_t reprocess_count;
};

enum payload_source { PAYLOAD_REVISION, PAYLOAD_RAW, PAYLOAD_ORIGINAL, PAYLOAD_JSONB };

struct plan {
    const char *refusal; // why it cannot be sent, in words; NULL: it can
    bool is_too_large;   // that is for its size
    const char *topic;
    const char *topic_why; // where its name comes from; NULL: it is the row's own, or a person named it
    int32_t partition;     // -1: by key
    struct bytes key;      // absent: a null key
    struct bytes value;
    struct event_header *headers; // the original's, then those that are added
    uint32_t header_count;
    uint32_t kept_count;          // so many are the original's
    struct event_header *dropped; // of the failure, in their order
    uint32_t dropped_count;
    const char *format; // of the dead letter; NULL: no format knows it, or it is none
    const char *undone; // what of the value was undone, in words; NULL: nothing
    const char *unsure; // why nothing was undone although it has a format; NULL otherwise
    enum payload_source source;
    bool is_exact;   // the value is byte for byte what was received
    const char *why; // where the value comes from, and why it is exact or not
    struct {         // the same of the value before anything of it was undone: what an editor shows
        bool is_exact;
        const char *why;
    } received;
    const char *consumer; // the consumer group that failed on it, as its dead letter says; "": it does not
};

// Topic: --to, else a correction's, else the row's; where that is a topic of dead letters or absent, the one
// that the setting names for it, else the dead letter, else its name. A topic of the last four that moved is
// the one that the setting consumers names instead.
//
// Headers of the record: the original ones first, in order, without those that
// dead-letter frameworks and earlier republishings added; then redrive-event-id (dlq_events.id),
// redrive-chunk-id, redrive-attempt, redrive-source (topic/partition/offset), redrive-original-timestamp (of
// the record where it is known, else of the failure; milliseconds since 1970), redrive-operator,
// redrive-operation, reprocess.count (raised by one). All are text.
//
// Everything in `plan` lives in the arena or is borrowed from the input. With a refusal the rest is filled as
// far as it is known.
void plan_make(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
               struct plan *plan);

// The same for where it is sent alone: topic, partition, and what refuses these. Of the event only its topic,
// its origin and the target of its correction are asked for, and its dead letter, where plan_is_placed says
// no.
void plan_place(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
                struct plan *plan);

// Why nothing can be sent to a topic in this state (not TOPIC_KNOWN). The same words whether it was known
// beforehand or a broker said so, since outcomes are counted by their words.
const char *plan_topic_refusal(enum topic_state state, const char *topic, struct arena *arena);
// Does the plan for this event depend on the original record in Kafka: no copy is kept, or only a pointer to
// it, and it says where it came from?
bool plan_wants_original(const struct event *event);
// Does the row alone say where it is sent? Not where it names no topic, or one of dead letters: then the dead
// letter is asked, and plan_place without it is a guess by the name.
bool plan_is_placed(const struct plan_settings *settings, struct bytes topic, bool is_named);
// The key by the rule alone, where it is a column; absent: the rule is another one, or the column is NULL.
struct bytes plan_key_by_column(const struct plan_settings *settings, const struct event *event);
// How many bytes the record takes as a batch of its own, uncompressed (record batch format, version 2).
uint64_t plan_size(const struct plan *plan);

#endif
