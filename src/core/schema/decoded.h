// decoded: a value as its schema shows it, for people: beside the bytes, which alone are sent and edited.
#ifndef REDRIVE_CORE_SCHEMA_DECODED_H
#define REDRIVE_CORE_SCHEMA_DECODED_H

#include "base/bytes.h"

struct decoded {
    const char *schema;   // its name: "42", a GUID, "orders.value"; NULL: nothing here is to be decoded
    const char *language; // "Avro"; NULL: the schema is not known
    const char *origin;   // where it came from: "the file 42.avsc"; with language
    struct bytes json;    // absent: it cannot be decoded, or not yet:
    const char *why;
};

#endif
