// format: private part of formats: what a file in formats/ says of its format, as data.
#ifndef REDRIVE_CORE_ENVELOPE_FORMAT_H
#define REDRIVE_CORE_ENVELOPE_FORMAT_H

#include "core/envelope/envelope.h"
#include "core/envelope/members.h"

// How a value is written.
enum envelope_as {
    AS_TEXT,          // UTF-8
    AS_QUOTED,        // the same, perhaps as a JSON string: mappers of headers quote texts
    AS_DECIMAL,       // a number as decimal text
    AS_INTEGER,       // big-endian two's complement of 4 or 8 bytes; decimal text is accepted
    AS_COUNT,         // the same, or one unsigned byte
    AS_SHORTEST,      // big-endian two's complement without leading bytes (Java's BigInteger.toByteArray)
    AS_TIME,          // ISO 8601, or a number of seconds or milliseconds since 1970
    AS_TIME_INTEGER,  // milliseconds since 1970 as AS_INTEGER
    AS_TIME_SHORTEST, // milliseconds since 1970 as AS_SHORTEST
    AS_OPAQUE,        // a serialised Java object: not opened
};

enum {
    PROVES = 1, // its presence is the format
    KEPT = 2,   // it belongs to the original: it is read, and sent on
};

struct envelope_header_row {
    const char *name; // ends in '*': all that begin so
    enum envelope_fact fact;
    enum envelope_as as;
    unsigned flags;
};

struct envelope_member_row {
    const char *path; // names with dots between them: "error.message"
    enum envelope_fact fact;
    enum envelope_as as;
};

// How the original's value comes out of the dead letter's.
enum envelope_change {
    CHANGE_SET = 1, // the value at the path, where it is another, becomes `to`
    CHANGE_REMOVE,  // the member goes
    CHANGE_UNWRAP,  // what is at the path is the original: a string's content, or the bytes of an object
};

struct envelope_step {
    enum envelope_change change;
    const char *path; // as a recipe has it: "$.error"
    const char *to;
};

enum { SHAPE_MOST = 8 };
struct envelope_format {
    const char *name, *title;
    // Tables end with a row of zeros; NULL: none. The first row that has a fact wins over later ones.
    const struct envelope_header_row *headers;
    const struct envelope_member_row *members;
    const char *const *shape; // members that together are the format, SHAPE_MOST at most; ends with NULL
    const struct envelope_step *steps;
    const char *headers_at;  // member whose members are the original's headers
    const char *data_at;     // member that is what the message is about; NULL: the value that undo gives
    const char *metadata_at; // member that tells more of it, apart from the control fields; NULL: none
    bool reads_first;        // of a header that occurs several times, all is taken from the first
    bool drops_headers;      // the broker copies no headers: those of the original are lost
    const char *inexact; // why the value that undo makes may differ from the original's; NULL: it does not
    const char *lost;    // why there is no value to send at all; NULL: there is
    // Further conditions beside shape; NULL: none.
    bool (*recognise)(const struct envelope_record *record, const struct members *members);
    // Looks at what the tables cannot say; NULL: nothing.
    void (*decode)(const struct envelope_record *record, struct arena *arena, struct envelope *envelope);
};

#define FORMAT(name) extern const struct envelope_format envelope_##name;
#include "core/envelope/formats.def"
#undef FORMAT
extern const struct envelope_format envelope_unknown;

// Sets a fact that is not yet known, and its number where the text is one.
void envelope_say(struct envelope *envelope, enum envelope_fact fact, struct bytes text);

#endif
