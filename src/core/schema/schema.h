// schema: what a value in a binary language says, as JSON for people, filters and paths. Pure: the text of a
// schema and the bytes of a value in, JSON out.
//
// What is decoded is only looked at. It is never sent, and not exact: text that is no UTF-8, and NUL, become
// U+FFFD; bytes are {"base64": "…"}; a number that is none is "NaN", "Infinity" or "-Infinity". Whole numbers
// keep all their digits. A union is the value of its branch, a logical type the value that is stored.
//
// Hostile schemas and values are refused, never followed: depth, memory and length of the result are bounded.
#ifndef REDRIVE_CORE_SCHEMA_SCHEMA_H
#define REDRIVE_CORE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

enum schema_language { SCHEMA_AVRO, SCHEMA_PROTOBUF, SCHEMA_JSON, SCHEMA_LANGUAGES };
const char *schema_language_name(enum schema_language language); // "JSON Schema"
const char *schema_language_word(enum schema_language language); // "json", as in PostgreSQL
// By word or by the registry's name ("AVRO"). false: none of them.
bool schema_language_find(struct bytes word, enum schema_language *language);

enum {
    SCHEMA_TEXT_MOST = 1 << 20, // bytes of all texts of one schema
    SCHEMA_TEXTS_MOST = 256,    // of one schema
    SCHEMA_DEPTH = 64,          // of a schema, and of a value: jsonb and the payload's view take more
    SCHEMA_JSON_MOST = 16 << 20 // bytes of a decoded value; of a short value less, lest 10 bytes become 16 MB
};

struct schema;
// The texts that it refers to come first, its own last: Avro and JSON Schema as JSON, Protobuf as
// FileDescriptorProto or FileDescriptorSet. It lives in the arena and points into the texts. NULL: ERR_DATA.
const struct schema *schema_read(enum schema_language language, const struct bytes *texts, size_t count,
                                 struct arena *arena, struct err *err);
enum schema_language schema_language_of(const struct schema *schema);

// How a value begins behind the schema's number: Protobuf names the message there (Confluent's "Wire Format",
// message indexes). Values without a number have nothing in front and are of the first message.
enum schema_framing { SCHEMA_BARE, SCHEMA_FRAMED };
// Appends the value as JSON. false: ERR_DATA with the byte where it stops being one of that schema; out is as
// it was.
bool schema_decode(const struct schema *schema, enum schema_framing framing, struct bytes value,
                   struct strbuf *out, struct err *err) MUST_CHECK;

#endif
