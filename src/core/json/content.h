// content: what a payload is and what can be done with it, told before anything is edited.
#ifndef REDRIVE_CORE_JSON_CONTENT_H
#define REDRIVE_CORE_JSON_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "core/json/json.h"

enum content_kind {
    CONTENT_NONE,  // no value: absent bytes, a tombstone of Kafka
    CONTENT_JSON,  // RFC 8259, at most JSON_DEPTH levels deep
    CONTENT_TEXT,  // UTF-8 without NUL, and not JSON; empty bytes too
    CONTENT_BYTES, // anything else: Avro, Protobuf, compressed, other encodings
};
#define CONTENT_SENTENCE 400

struct content {
    enum content_kind kind;
    // As JSON or as text, in whole: at most JSON_BYTES and, of JSON, JSON_TOKENS. What is larger, and bytes,
    // are shown only.
    bool is_editable;
    struct json_fault fault;    // of text and bytes: where they stop being JSON
    size_t not_text;            // of bytes: the first byte that is NUL or not UTF-8
    char why[CONTENT_SENTENCE]; // kind and limits with the reason, as a sentence without a full stop
};

const char *content_name(enum content_kind kind); // "JSON"
// Looks once through the payload, whatever its size.
void content_of(struct bytes payload, struct content *content);

#endif
