// payload: the data that messages carry around: JSON, object dumps, parser sources. Linear, never
// allocates.
#ifndef REDRIVE_CORE_FINGERPRINT_PAYLOAD_H
#define REDRIVE_CORE_FINGERPRINT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

// Where the payload that begins with the bracket at text[at] ends (behind its bracket; the end of the text if
// it was cut off), or 0 if that bracket begins none: {"a": 1}, [{…}], {id=1, …}, Order(id=1, …), Order[id=1,
// …], map[a:1], [Source: …].
size_t payload_end(struct bytes text, size_t at);

// Behind the bracket that closes the one at text[at], or 0.
size_t payload_balance(struct bytes text, size_t at);

// Is this JSON document the answer of a service that refused, rather than business data?
bool payload_is_error(struct bytes json);

// The members of a JSON document that tell what went wrong (type, reason, message, code, status, title, …;
// every member of an object `errors`), outer and inner, in the order of the text. Start with {.json = …}.
struct payload_walk {
    struct bytes json;
    size_t at;
    size_t all_until; // up to here every member counts
    bool in_list;     // of texts that belong to one name
};
struct payload_member {
    struct bytes name;  // absent for the second and later texts of a list
    struct bytes value; // a string's content as it stands, or a number
};
bool payload_next(struct payload_walk *walk, struct payload_member *member);

// Any member's name, for documents that hold none of those.
bool payload_next_name(struct bytes json, size_t *at, struct bytes *name);

#endif
