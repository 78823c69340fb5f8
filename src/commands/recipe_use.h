// recipe_use: the recipe of --recipe for redrive correct, or the check of reprocess --check: read, tried on
// events, told.
#ifndef REDRIVE_COMMANDS_RECIPE_USE_H
#define REDRIVE_COMMANDS_RECIPE_USE_H

#include "commands/correcting.h"

// Zero-initialise; recipe_use_close in any case.
struct recipe_use {
    struct call *call;
    struct strbuf text;
    struct corrector *corrector;
    struct correcting_originals originals;
    struct correct_tally tally; // of the last dry run
    int64_t *barred; // by it: ids that a check refuses, or about which it gave no answer; ascending
    size_t barred_count, barred_capacity;
    struct strbuf why_barred; // the first of them: "postal_code is required (event 17)"
};

// Reads the file ("-": standard input) and parses it; a mistake is FILE:LINE:COLUMN.
bool recipe_use_open(struct recipe_use *use, struct call *call, struct err *err) MUST_CHECK;
// Without a recipe: only the team's own check is asked (reprocess --check).
bool recipe_use_open_check(struct recipe_use *use, struct call *call, struct err *err) MUST_CHECK;
// Applies it to these events without writing anything, and fills use->tally. With --each --json it prints a
// line an event.
bool recipe_use_dry_run(struct recipe_use *use, struct store *store, const int64_t *ids, size_t count,
                        struct err *err) MUST_CHECK;
// "2,009 change, 81 do not, 22 do not apply, 2 would be invalid"
void recipe_use_describe(const struct recipe_use *use, struct strbuf *out);
// The tally in the form of an operation that was not made.
struct operation recipe_use_operation(const struct recipe_use *use, size_t total);
void recipe_use_close(struct recipe_use *use);

#endif
