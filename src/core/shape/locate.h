// locate: opens a payload where it hurts. Reads from an error message which place of the payload a library
// complained about (a path, a position, a member, a value), and finds that place in the payload.
//
// It is in this room because the shape decides where messages do not: which of several objects lacks the
// member that a KeyError names, and where to look when a message names nothing. The forms of the libraries
// are rows of locate.def; no regular expression is used, and reading is linear in message and stack.
#ifndef REDRIVE_CORE_SHAPE_LOCATE_H
#define REDRIVE_CORE_SHAPE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "core/json/json.h"
#include "core/shape/shape.h"

#define LOCATE_TEXT (64 << 10) // bytes of a message, and of a stack, that are read
#define LOCATE_STEPS 64        // of a path; a longer one is not followed

// What a library counts in columns and offsets.
enum locate_unit { LOCATE_BYTES, LOCATE_CHARACTERS, LOCATE_UTF16 };

struct locate_step {
    struct bytes name; // absent: only an index
    bool is_index;     // may be one: `2` of lines.2.amount is also a name
    size_t index;
};

// What a message says. Several parts may be there: a path and a position.
struct locate_where {
    const char *library; // the row's, of the first part that was found; NULL: nothing was found
    bool has_path;
    bool is_without_indexes; // the path names members only: Order.lines.amount
    bool is_path_missing;    // its last name is said to be missing
    size_t step_count;
    struct locate_step steps[LOCATE_STEPS];
    struct bytes name;   // of a member, wherever it is; absent: none is named
    bool is_missing;     // that member is said to be missing
    struct bytes value;  // content of a text that could not be read as something else; absent: none is named
    enum json_kind kind; // type of the wrong value; JSON_END: not known
    int line, column;    // from 1; 0: none is named
    bool has_offset;
    size_t offset; // from 0
    enum locate_unit unit;
};

// Reads a message, then the stack (which repeats the messages of causes) for what the message does not say.
// false: no form fits. Views in *where live in the arena.
bool locate_read(struct bytes message, struct bytes stack, struct arena *arena, struct locate_where *where);

// A message may name several places in one form: a list of errors. Reads up to `room` of them, in its order,
// each with that one part. 0: the message names no path and no member.
size_t locate_read_all(struct bytes message, struct arena *arena, struct locate_where *wheres, size_t room);

enum locate_ground {
    LOCATE_NAMED,     // by the message
    LOCATE_SYNTAX,    // the payload stops being JSON there
    LOCATE_DEPARTURE, // the first departure from the shape
    LOCATE_NOTHING,   // the beginning of the value
};

struct locate_found {
    enum locate_ground ground;
    size_t from, len; // bytes of the payload; of a missing member the opening bracket of its object
    const char *path; // in the form of json_path_parse; of a missing member the path it would have
    bool is_missing;
    const char *why; // a sentence; has names of messages and payloads in it: untrusted
};

// Finds the place in the payload. `is_exact`: these are the bytes that the consumer read, so that positions
// mean something. The shape may be NULL. Always finds something; texts live in the arena.
void locate_in(struct bytes payload, bool is_exact, const struct locate_where *where,
               const struct shape *shape, struct arena *arena, struct locate_found *found);

// Appends what a message says, for people and tests: "Jackson: path $.lines[2].amount, line 3, column 14".
void locate_print(const struct locate_where *where, struct strbuf *out);

#endif
