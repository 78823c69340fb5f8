// question: what a check is asked about one event, as one line of JSON.
//
//     {"id":17,"type":"OrderCreated","topic":"orders.events","key":"C-000017",
//      "headers":[{"name":"trace","value":"ab12"}],"payload":{"orderId":4711}}
//
// The payload is JSON where it is JSON of at most 512 levels, with its own spelling of numbers, order and
// duplicates, without the white space between tokens; other payloads are text in payload_base64. A payload
// that is absent has neither member. Keys and header values that are not UTF-8 are key_base64 and
// value_base64; absent ones are null.
#ifndef REDRIVE_PROCESS_QUESTION_H
#define REDRIVE_PROCESS_QUESTION_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/event.h"

// The event as it would be sent; everything is borrowed.
struct question {
    int64_t id;
    struct bytes type;
    struct bytes topic;
    struct bytes key;
    struct bytes payload;
    const struct event_header *headers;
    size_t header_count;
};

// Appends the line with its line end.
void question_write(const struct question *question, struct strbuf *out);

#endif
