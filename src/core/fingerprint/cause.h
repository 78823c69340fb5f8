// cause: reads the chain of causes, innermost first, from message and stack. Linear, never allocates.
//
// Understands the traces of Java and Kotlin ("Caused by:"), .NET (" ---> "), Python (tracebacks), PHP
// ("Next"), Ruby, Node ("[cause]:"), Go, Rust and Elixir. Without a trace it reads the causes in the message
// ("nested exception is").
#ifndef REDRIVE_CORE_FINGERPRINT_CAUSE_H
#define REDRIVE_CORE_FINGERPRINT_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "core/fingerprint/fingerprint.h"

#define CAUSE_DEPTH 32

struct cause_link {
    struct bytes class_name; // absent where the text has none
    struct bytes text;
    struct bytes frames; // the lines of its own stack; absent where it has none
};

struct cause_chain {
    struct cause_link links[CAUSE_DEPTH];
    unsigned count;      // at least 1
    bool is_newest_last; // frames run from the outermost to the innermost call: Python
    bool is_cut;         // there were more links
};

void cause_read(const struct fingerprint_input *input, struct cause_chain *chain);

// Splits a text `Class: rest`; class_name is absent where the text begins with no class. Removes the preface
// of runtimes ("Exception in thread "main" ", "panic: ").
struct cause_link cause_split(struct bytes text);

// Does this class, or this text, only wrap another cause (wrapper.def)?
bool cause_is_wrapper(const struct cause_link *link, const struct cause_link *inner);

// Is it a class that says nothing of the error, such as java.lang.Exception (wrapper.def)?
bool cause_is_plain(struct bytes class_name);

// Does a masked text (struct mask) name the problem? If not, the frame says more: the place of a bug (null
// pointers), or the work that was interrupted (timeouts). Rows: blank.def.
enum cause_naming { CAUSE_NAMES = 0, CAUSE_BLANK_BUG, CAUSE_BLANK_IO };
enum cause_naming cause_naming(struct bytes canonical);

#endif
