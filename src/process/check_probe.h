// check_probe: would the rows of the setting `checks` (process/check.h) work? Asked before an event depends
// on them: by config --check and doctor. No program is asked about an event.
#ifndef REDRIVE_PROCESS_CHECK_PROBE_H
#define REDRIVE_PROCESS_CHECK_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

// Texts are valid during the call.
struct check_finding {
    size_t no;        // of the row, from 1
    const char *text; // the row
    bool is_topic;    // its pattern is for topics, else for types
    const char *pattern;
    const char *fault; // why its command cannot work; NULL: no reason is known
};
typedef void check_finding_fn(void *context, const struct check_finding *finding);

// Looks at each row: does the program exist, and may it be executed? A command that begins with more than a
// name (a variable, quotes) is left to the shell. With `time` (µs, 0: not) each command is also started once,
// with `memory` (check_limits), and its standard input is closed at once: it has to end within that time,
// with status 0. false: a row is malformed, ERR_USAGE.
bool check_probe(const char *rows, int64_t time, int64_t memory, check_finding_fn *each, void *context,
                 struct err *err) MUST_CHECK;

// Is the row for events of this type, or topic?
bool check_finding_matches(const struct check_finding *finding, struct bytes name);

#endif
