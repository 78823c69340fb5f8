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
// own text. false: an array, or another object.
bool parts_bytes(struct bytes json, struct strbuf *out, bool *is_absent);

// A name that Kafka accepts: 1 to 249 of the characters A-Z a-z 0-9 . _ -, not "." or "..".
bool parts_topic_is_legal(struct bytes topic);

#endif
