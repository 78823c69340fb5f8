// proto: schemas and values of Protocol Buffers. Private to this folder.
//
// Protocol Buffers documentation: "Encoding"; descriptor.proto, whose field numbers are those of proto2,
// proto3 and editions alike. A field that the value does not have is not shown: the encoding leaves out what
// has its default. One that the schema does not know is shown by its number. Names are those of the .proto
// file.
#ifndef REDRIVE_CORE_SCHEMA_PROTO_H
#define REDRIVE_CORE_SCHEMA_PROTO_H

#include "core/schema/decoding.h"

// As in descriptor.proto, FieldDescriptorProto.Type.
enum proto_type {
    PROTO_DOUBLE = 1,
    PROTO_FLOAT,
    PROTO_INT64,
    PROTO_UINT64,
    PROTO_INT32,
    PROTO_FIXED64,
    PROTO_FIXED32,
    PROTO_BOOL,
    PROTO_STRING,
    PROTO_GROUP,
    PROTO_MESSAGE,
    PROTO_BYTES,
    PROTO_UINT32,
    PROTO_ENUM,
    PROTO_SFIXED32,
    PROTO_SFIXED64,
    PROTO_SINT32,
    PROTO_SINT64,
    PROTO_TYPES,
};

struct proto_symbol {
    struct bytes name;
    int64_t number;
};

int proto_symbols_compare(const void *a, const void *b);

// A message or an enum.
struct proto_named {
    struct bytes name; // with its package: ".shop.Order"
    bool is_message;
    bool is_map;                // an entry of a map
    struct proto_field *fields; // by number, as symbols
    size_t field_count;
    struct proto_named **nested; // messages, in the order of the file
    size_t nested_count;
    struct proto_symbol *symbols;
    size_t symbol_count;
    struct proto_named *before; // that was read before
};

struct proto_field {
    struct bytes name;
    uint64_t number;
    uint64_t type;
    bool is_repeated;
    struct bytes type_name;
    const struct proto_named
        *named; // with PROTO_MESSAGE, PROTO_GROUP and PROTO_ENUM; NULL: not in the schema
};

// The messages of the last file, as `nested`. NULL: ERR_DATA.
const struct proto_named *proto_read(const struct bytes *texts, size_t count, struct arena *arena,
                                     struct err *err);
// The next message of that file; framed: with the indexes that lead to it.
bool proto_decode(const struct proto_named *file, enum schema_framing framing,
                  struct decoding *decoding) MUST_CHECK;

// --- the encoding, of values and of descriptors ---

enum proto_wire {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_32 = 5
};
struct proto_entry {
    uint64_t field;
    unsigned wire;
    uint64_t number;    // of the three that are one
    struct bytes bytes; // of the two others
    size_t order;
};
bool proto_next(struct decoding *decoding, struct proto_entry *entry) MUST_CHECK;

#endif
