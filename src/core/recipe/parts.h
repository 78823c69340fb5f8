// parts: what an edit of an event may change: the payload and the rest of the record that a reprocess sends.
//
// A plain view: the bytes belong to whoever made it.
#ifndef REDRIVE_CORE_RECIPE_PARTS_H
#define REDRIVE_CORE_RECIPE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/event.h"
#include "core/json/changes.h"

enum { PARTITION_NONE = -1 };

struct record_parts {
    struct bytes payload; // absent: a null value
    struct bytes key;     // absent: a null key
    struct bytes topic;
    int32_t partition; // PARTITION_NONE: Kafka chooses by the key
    const struct event_header *headers;
    size_t header_count;
};

bool parts_equal(const struct record_parts *a, const struct record_parts *b); // byte for byte
// The last header of that name, as Kafka's consumers read it; NULL: none.
const struct event_header *parts_header(const struct record_parts *parts, struct bytes name);

// Key and header values in JSON: a string where the bytes are UTF-8, else {"base64":"…"}; null where absent.
// A string that a person would take for the object does not occur: an object is never a string.
void parts_json(struct bytes value, struct strbuf *out);
// The bytes that such JSON stands for, appended; *is_absent for null. Numbers, true and false stand for their
// own text. false: an array, another object, or text with half of a surrogate pair.
bool parts_bytes(struct bytes json, struct strbuf *out, bool *is_absent);

// A name that Kafka accepts: 1 to 249 of the characters A-Z a-z 0-9 . _ -, not "." or "..".
bool parts_topic_is_legal(struct bytes topic);

// What differs between two versions of an event.
enum header_change_kind { HEADER_CHANGED, HEADER_ADDED, HEADER_REMOVED };
struct header_change {
    enum header_change_kind kind;
    struct bytes name;
    struct bytes before, after; // values
};
struct parts_changes {
    bool payload, key, topic, partition; // these differ
    bool is_compared;                    // both payloads are JSON: payload_changes says how they differ
    struct json_changes payload_changes;
    // Headers of the same name are compared in their order. In the arena.
    struct header_change *headers;
    size_t header_count;
    bool headers_reordered; // the same headers in another order
};
void parts_compare(const struct record_parts *before, const struct record_parts *after, struct arena *arena,
                   struct parts_changes *changes);
// Appends "2 values changed, 1 key removed; key changed; header trace-id added". Names of headers stand as
// they are: text_visible prints them.
void parts_changes_sentence(const struct parts_changes *changes, struct strbuf *out);

#endif
