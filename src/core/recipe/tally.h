// tally: what became of events that a recipe was applied to, or would become of them: counted and in words.
#ifndef REDRIVE_CORE_RECIPE_TALLY_H
#define REDRIVE_CORE_RECIPE_TALLY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/strbuf.h"

// The outcomes of a recipe (core/recipe/recipe.h), and that of the team's own check.
enum correct_outcome {
    CORRECT_CHANGED,
    CORRECT_UNCHANGED,
    CORRECT_NOT_APPLICABLE, // a path does not exist, or expect failed: the event is left alone
    CORRECT_INVALID,        // what would be sent is no JSON where it was, or no legal topic or partition
    CORRECT_FAILED,         // a limit, jq, or a check that gave no answer
    CORRECT_REFUSED,        // the team's own check would not take it: it is left alone
    CORRECT_FORCED,         // the same, and it is changed all the same
    CORRECT_OUTCOMES,
};
// How the reason of a forced event begins where it is kept; then what the check says.
#define CORRECT_FORCED_WORD "forced: "
const char *correct_outcome_name(enum correct_outcome outcome); // "changed", "not_applicable", …
bool correct_outcome_writes(enum correct_outcome outcome);      // a new revision: changed or forced

struct correct_tally {
    int64_t counts[CORRECT_OUTCOMES];
    int64_t inexact;  // of the changed: the bytes that were received are unknown, PostgreSQL's text was taken
    int64_t departs;  // of the changed: the result departs from the shape of its type (core/shape); a warning
    int64_t again;    // of the changed that were looked at: a second application would change them again
    int again_line;   // of the recipe, for the first of those
    int64_t replaced; // of the changed: set put its value in the place of another
    uint64_t replaced_first; // the hash of that, of the first of those
    bool is_levelled;        // and of another one it was another: what differed becomes the same
    int64_t gone;            // no longer in the table
};

// Counts a changed event by the hash of the values that set replaced; 0: none.
void correct_tally_replaced(struct correct_tally *tally, uint64_t replaced);
// Of those that were looked at, the gone included.
int64_t correct_tally_total(const struct correct_tally *tally);
// Appends "2,009 would change, 81 would stay as they are, 22 do not fit the recipe"; nothing for none.
void correct_tally_describe(const struct correct_tally *tally, struct strbuf *out);

#endif
