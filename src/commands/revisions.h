// revisions: what was made of one event, as show and correct print it.
#ifndef REDRIVE_COMMANDS_REVISIONS_H
#define REDRIVE_COMMANDS_REVISIONS_H

#include "commands/cli/json.h"
#include "commands/one_event.h"
#include "core/recipe/parts.h"

// A line for each revision, newest first.
bool revisions_print(struct call *call, struct store *store, struct one_event *one,
                     struct err *err) MUST_CHECK;
// One revision with its parts; --raw: only its payload, byte for byte. 0 is the original. ERR_NOT_FOUND: the
// event has no such revision.
bool revision_print(struct call *call, struct store *store, struct one_event *one, int64_t no,
                    struct err *err) MUST_CHECK;

// What changed from one revision to another: a unified diff, with the payloads formatted (--raw: as they
// are), and on standard error how many values and keys. `range`: "M..N"; NULL: from the original to the
// newest.
bool revision_diff_print(struct call *call, struct store *store, struct one_event *one, const char *range,
                         struct err *err) MUST_CHECK;

// The payload of a revision, byte for byte where that is known; 0: the original.
bool revision_payload(struct call *call, struct store *store, struct one_event *one, int64_t no,
                      struct bytes *payload, struct err *err) MUST_CHECK;

// The paths and parts that an edit changed, as a list of texts: "$.amount", "key", "header:trace", "topic",
// "partition". A payload that is not JSON, or differs in white space alone, is "$".
struct value *changes_json(const struct record_parts *before, const struct record_parts *after);

// Bytes as they are; at a terminal with control characters as escapes, and that is said.
bool bytes_print(struct call *call, struct bytes bytes, struct err *err) MUST_CHECK;

#endif
