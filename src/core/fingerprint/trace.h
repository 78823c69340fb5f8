// trace: splits a stack trace into sections, each the text of one exception and its frames.
#ifndef REDRIVE_CORE_FINGERPRINT_TRACE_H
#define REDRIVE_CORE_FINGERPRINT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

#define TRACE_SECTIONS 32

struct trace_section {
    struct bytes text;          // may be empty: only frames were kept
    struct bytes frames;        // absent where there are none
    bool is_after_direct_cause; // Python: "The above exception was the direct cause of the following
                                // exception"
};

enum trace_order { TRACE_INNERMOST_LAST, TRACE_INNERMOST_FIRST, TRACE_PYTHON };

struct trace {
    struct trace_section sections[TRACE_SECTIONS]; // in the order of the text; if there are more,
                                                   // those nearest to the root cause
    unsigned count;
    enum trace_order order;
    bool is_cut;
};

// False: `text` is no trace, it has neither a frame nor a cause.
bool trace_read(struct bytes text, struct trace *trace);

#endif
