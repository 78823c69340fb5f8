// payload: finds data inside messages: JSON, object dumps, parser sources. Linear, never allocates.
#ifndef REDRIVE_CORE_FINGERPRINT_PAYLOAD_H
#define REDRIVE_CORE_FINGERPRINT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

// The end of the payload that begins with the bracket at text[at]: behind its closing bracket, or the end of
// the text if it was cut off. 0: that bracket begins no payload. Payloads are: {"a": 1}, [{…}], {id=1, …},
// Order(id=1, …), Order[id=1, …], map[a:1], [Source: …].
size_t payload_end(struct bytes text, size_t at);

// The end of what an object prints of itself in the brace at text[at], whatever its form: WorkSource{1013}.
// 0: that brace begins none, or a payload, or belongs to an answer or an error, which tells of the cause.
size_t payload_object_end(struct bytes text, size_t at);

// The offset behind the bracket that closes the one at text[at], or 0.
size_t payload_balance(struct bytes text, size_t at);

// Is this JSON document an error response of a service, rather than business data?
bool payload_is_error(struct bytes json);

// What objects print of themselves between brackets: code=E17, message=Too few; Code:E17 Message:too few.
// `inner` is what stands in the bracket at text[at]. Does it describe an error?
struct payload_member;
bool payload_is_error_dump(struct bytes text, size_t at, struct bytes inner);
// The next member of such a dump from *at on.
bool payload_next_dumped(struct bytes inner, size_t *at, struct payload_member *member);

// Does business data hold errors somewhere in it? {"index": {"_id": "7", "error": {"type": …
bool payload_holds_error(struct bytes json);

#define PAYLOAD_DEPTH 8 // parts within one another; deeper ones are skipped

// Which members count in an object or list of an error document.
enum payload_part {
    PAYLOAD_ERROR,   // those that are worth keeping by their name
    PAYLOAD_ALL,     // every one: {"errors": {"email": ["…"]}}
    PAYLOAD_DATA,    // none but the lists of errors in it: an order, a record of a batch
    PAYLOAD_DETAILS, // as in an error, and the fields with a list of errors each
};
struct payload_place {
    size_t until;
    enum payload_part part;
};

// The members of a JSON document that describe an error (type, reason, message, code, status, title, …;
// every member of an object `errors`), outer and inner, in the order of the text. Start with {.json = …}.
struct payload_walk {
    struct bytes json;
    size_t at;
    bool in_list; // of texts with one name
    unsigned depth;
    struct payload_place parts[PAYLOAD_DEPTH];
};
struct payload_member {
    struct bytes name;  // absent for the second and later texts of a list
    struct bytes value; // the content of a string with its escapes, or a number
};
bool payload_next(struct payload_walk *walk, struct payload_member *member);

// The name of any next member, for documents without such members.
bool payload_next_name(struct bytes json, size_t *at, struct bytes *name);

#endif
