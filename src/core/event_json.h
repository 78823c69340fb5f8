// event_json: parts of an event as JSON, the same wherever redrive writes them.
#ifndef REDRIVE_CORE_EVENT_JSON_H
#define REDRIVE_CORE_EVENT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include "core/event.h"
#include "core/json/value.h"
#include "core/revision.h"

// A list of name and value; a value that is not UTF-8 is value_base64, one that is absent is null.
struct value *event_headers_json(const struct event_header *headers, uint32_t count);
// revision, parent, author, at, reason, bytes (of the payload that it sends), operation, and the parts that
// it replaces. original_size: of the original payload. zone_us: of the time.
struct value *revision_json(const struct revision *revision, size_t original_size, int64_t zone_us);
// What a dead letter points at and what became of it; its value is the event's payload. The caller forgets
// it.
struct value *event_original_json(const struct event_original *original, int64_t zone_us);

#endif
