// members: the members of a JSON object that is a record's value, read once for all formats.
#ifndef REDRIVE_CORE_ENVELOPE_MEMBERS_H
#define REDRIVE_CORE_ENVELOPE_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"

struct member {
    struct bytes name;  // its content, without quotes
    struct bytes value; // the token with all its bytes
};

// Zero: no object.
struct members {
    struct bytes object;
    struct member *items; // in the order of the text, in the arena
    size_t count;
    uint64_t lengths; // bit n: a name has n bytes; 63 and more are one. Most names that are looked for are
                      // not there
};

// false: the text is no JSON object, or deeper than JSON_DEPTH; members has none then.
bool members_read(struct bytes text, struct arena *arena, struct members *members);
// The value of a member; of a name that occurs twice the last. Absent: none.
struct bytes members_find(const struct members *members, struct bytes name);
// The value at names with dots between them: "error.message".
struct bytes members_at(const struct members *members, const char *path, struct arena *arena);
// The content of a string, the bytes of another value, nothing of null. Avro's JSON encoding writes what may
// be null as {"string": …} (Apache Avro specification, "JSON Encoding"): then what is within.
struct bytes member_text(struct bytes token, struct arena *arena);

#endif
