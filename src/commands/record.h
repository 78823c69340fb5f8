// record: one JSON line of `fingerprint --record` read without a document in memory.
//
// Looks at the members of the outermost object only: error_message, stack_trace, error_class. A text without
// escapes is a view into the line; others are decoded into buffers that are used again for each line.
#ifndef REDRIVE_COMMANDS_RECORD_H
#define REDRIVE_COMMANDS_RECORD_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/fingerprint/fingerprint.h"

// Zero-initialise; record_release at the end.
struct record_reader {
    struct strbuf message, stack, error_class;
};

// input is valid until the next line is read. ERR_DATA with the column where the line is no JSON object.
bool record_read(struct record_reader *reader, struct bytes line, struct fingerprint_input *input,
                 struct err *err) MUST_CHECK;
void record_release(struct record_reader *reader);

#endif
