// outcomes: what became of the events of one operation, in numbers and in one sentence. The list, the page,
// the message line, the commands and the exit status all take theirs from here, so they cannot differ.
#ifndef REDRIVE_CORE_OUTCOMES_H
#define REDRIVE_CORE_OUTCOMES_H

#include "core/operation.h"

// Each event of an operation is in exactly one part, so they add up to its total.
enum outcome_part {
    PART_STAYED,   // sent, and it did not return within the settle time; of other actions: done
    PART_TAKEN,    // sent, within the settle time, and the consumer has read past it
    PART_WATCHING, // sent, within the settle time; not taken, or it is not known whether
    PART_RETURNED,
    PART_REFUSED,
    PART_SKIPPED,
    PART_IN_DOUBT,
    PART_UNSENT, // queued, in flight or cancelled
    OUTCOME_PARTS
};

enum outcome_severity { // ascending
    OUTCOME_WELL,
    OUTCOME_OPEN,       // not over, or still watched
    OUTCOME_INCOMPLETE, // not all of it was done; nothing went wrong
    OUTCOME_RETURNED,
    OUTCOME_FAILED,
};

struct outcomes {
    int64_t parts[OUTCOME_PARTS];
    int64_t total;
    enum outcome_severity severity; // of the worst part
};

struct outcomes outcomes_of(const struct operation *operation);
enum outcome_severity outcome_part_severity(enum outcome_part part);
// The share of events that had their turn, 0..100; 100 only when nothing is left unsent. A rest that was
// cancelled had none.
int outcomes_percent(const struct outcomes *outcomes);

// "the same", "another": the group they returned in, beside the one they had; "a", where it is either.
const char *returned_group_words(const struct returned *returned);

// How a final operation ended: "DONE, BUT 2,011 OF 2,011 RETURNED", "NOTHING SENT: 5 refused", "done, all 12
// stayed away". Capitals where it did not end well. NULL while it is live: its state says how it stands.
const char *outcome_sentence(const struct operation *operation, struct arena *arena);
// "operation 4: " before it, for a person who did not watch it; never NULL.
const char *operation_end_sentence(const struct operation *operation, struct arena *arena);

#endif
