// avro: schemas and values of Apache Avro. Private to this folder.
//
// Apache Avro 1.11 specification: "Schema Declaration", "Names", "Binary Encoding". Values are read with the
// schema they were written with, so defaults, aliases and logical types play no part.
#ifndef REDRIVE_CORE_SCHEMA_AVRO_H
#define REDRIVE_CORE_SCHEMA_AVRO_H

#include "core/schema/decoding.h"

enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_PRIMITIVES,
    AVRO_RECORD = AVRO_PRIMITIVES,
    AVRO_ENUM,
    AVRO_ARRAY,
    AVRO_MAP,
    AVRO_UNION,
    AVRO_FIXED,
};

// Of a record a field, of a union a branch, of an enum a symbol.
struct avro_part {
    struct bytes name;            // a JSON string with its quotes; absent in a union
    const struct avro_type *type; // NULL: a symbol
};

struct avro_type {
    enum avro_kind kind;
    struct bytes name; // of record, enum and fixed: with its namespace
    struct avro_part *parts;
    size_t part_count;
    const struct avro_type *items;  // of an array or a map
    uint64_t size;                  // of a fixed
    const struct avro_type *before; // the named type that was read before this one
};

// The type of the last text. NULL: ERR_DATA.
const struct avro_type *avro_read(const struct bytes *texts, size_t count, struct arena *arena,
                                  struct err *err);
bool avro_decode(const struct avro_type *type, struct decoding *decoding) MUST_CHECK;

#endif
