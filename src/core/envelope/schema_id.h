// schema_id: which schema of a registry a value was written with.
//
// Confluent, "Schema Registry: Formats, Serializers, and Deserializers", "Wire Format": a zero byte, then the
// schema's number in four bytes, big-endian; Avro, Protobuf and JSON Schema alike. With
// HeaderSchemaIdSerializer the header __value_schema_id or __key_schema_id has the number so, or a byte 1 and
// the schema's GUID of 16 bytes, and the value has nothing in front. AWS Glue Schema Registry: a byte 3, a
// byte for compression (0 or 5), and the schema version's UUID.
#ifndef REDRIVE_CORE_ENVELOPE_SCHEMA_ID_H
#define REDRIVE_CORE_ENVELOPE_SCHEMA_ID_H

#include "base/arena.h"
#include "core/envelope/envelope.h"

struct schema_id {
    bool has_number;
    uint32_t number;
    char guid[37];                   // else
    const char *registry, *language; // "a schema registry", "JSON Schema"
    struct bytes rest;               // the value behind it
};

// Of the value; false: it does not look so. A value that begins with a zero by chance does: numbers from 2^24
// on are not believed.
bool schema_id_of(const struct envelope_record *record, struct schema_id *schema);
// The name under which a value's schema is kept, and the value as it is decoded.
struct schema_value {
    const char *name; // "42", the GUID, or where the value says none "TOPIC.value"; NULL: nothing names it
    bool is_named;    // by the value, or by a header
    bool is_asked;    // a registry may know it
    struct bytes rest;
};
// `record` has the original's value; `topic`, the original's, may be absent.
void schema_value_of(const struct envelope_record *record, struct bytes topic, struct arena *arena,
                     struct schema_value *value);
// "schema 42 of a schema registry (Avro or Protobuf)"
const char *schema_id_text(const struct schema_id *schema, struct arena *arena);

#endif
