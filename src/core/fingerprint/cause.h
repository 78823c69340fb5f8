// cause: from message and stack to the chain of causes, innermost first. Linear, never allocates.
//
// Read are the traces of Java and Kotlin ("Caused by:"), .NET (" ---> "), Python (tracebacks), PHP ("Next"),
// Ruby, Node
// ("[cause]:") and Go; without a trace what a message says of its own cause ("nested exception is").
#ifndef REDRIVE_CORE_FINGERPRINT_CAUSE_H
#define REDRIVE_CORE_FINGERPRINT_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "core/fingerprint/fingerprint.h"

#define CAUSE_DEPTH 32

struct cause_link {
    struct bytes class_name; // absent where none is named
    struct bytes text;
    struct bytes frames; // the lines of its stack; absent where it has none of its own
};

struct cause_chain {
    struct cause_link links[CAUSE_DEPTH];
    unsigned count;      // at least 1
    bool is_newest_last; // frames run from the outermost to the innermost call: Python
    bool is_cut;         // there were more links
};

void cause_read(const struct fingerprint_input *input, struct cause_chain *chain);

// A text `Class: rest` taken apart; class_name is absent where no class stands first. Also what runtimes put
// before it
// ("Exception in thread "main" ", "panic: ") is taken off.
struct cause_link cause_split(struct bytes text);

// Does this class, or this text, only wrap another cause (wrapper.def)?
bool cause_is_wrapper(const struct cause_link *link, const struct cause_link *inner);

// What a masked text (struct mask) names: something; nothing, and where it happened says most (null
// pointers); or nothing, and what was being done says most (timeouts). Rows: blank.def.
enum cause_naming { CAUSE_NAMES = 0, CAUSE_BLANK_BUG, CAUSE_BLANK_IO };
enum cause_naming cause_naming(struct bytes canonical);

#endif
