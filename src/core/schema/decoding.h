// decoding: a value that is being read, and the JSON that it becomes, with the limits of both. Private to
// this folder.
#ifndef REDRIVE_CORE_SCHEMA_DECODING_H
#define REDRIVE_CORE_SCHEMA_DECODING_H

#include <stdint.h>
#include "core/schema/schema.h"

struct decoding {
    struct bytes value;
    size_t at; // the next byte of it
    int depth;
    struct strbuf *out;
    size_t begin, most; // of out: where this value begins, and how long it may become
    struct err *err;
};

void decoding_begin(struct decoding *decoding, struct bytes value, struct strbuf *out, struct err *err);
// Says at which byte it failed; always false.
bool decoding_fail(struct decoding *decoding, const char *format, ...) __attribute__((format(printf, 2, 3)));
// May the result grow further?
bool decoding_room(struct decoding *decoding) MUST_CHECK;
// One level deeper; decoding_leave ends it.
bool decoding_enter(struct decoding *decoding) MUST_CHECK;
void decoding_leave(struct decoding *decoding);

// The next bytes; what: "a string".
bool decoding_take(struct decoding *decoding, uint64_t len, const char *what, struct bytes *taken) MUST_CHECK;
// Seven bits a byte, the lowest first, at most ten bytes.
bool decoding_varint(struct decoding *decoding, uint64_t *n) MUST_CHECK;
bool decoding_fixed32(struct decoding *decoding, uint32_t *n) MUST_CHECK; // little-endian
bool decoding_fixed64(struct decoding *decoding, uint64_t *n) MUST_CHECK;
int64_t decoding_zigzag(uint64_t n);

void decoding_add_text(struct decoding *decoding, struct bytes text);
void decoding_add_base64(struct decoding *decoding, struct bytes b);
// With as few digits as lead back to it.
void decoding_add_float(struct decoding *decoding, float number);
void decoding_add_double(struct decoding *decoding, double number);

#endif
