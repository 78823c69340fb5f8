// trial: what a dry run of a recipe found: counts, the events of each outcome, and samples of what changes.
#ifndef REDRIVE_CORE_RECIPE_TRIAL_H
#define REDRIVE_CORE_RECIPE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "core/recipe/recipe.h"
#include "core/recipe/tally.h"

enum {
    TRIAL_SAMPLES = 20,
    TRIAL_TWICE = 2000,             // changed events, the first ones, to which the recipe is applied twice
    TRIAL_SAMPLE_BYTES = 256 << 10, // of a payload; of larger ones only the length is told
};

// An event that would change.
struct recipe_sample {
    int64_t id;
    size_t before_len, after_len;
    struct bytes before, after; // payloads; absent: null, or is_large
    bool is_large;
    const char *record; // what would be sent beside the payload, a line each: "topic orders.v2"; "" nothing
};

// The events with one outcome.
struct recipe_class {
    int64_t *ids;
    size_t count;
    const char *example; // why it came to the first of them: "line 3: $.amount does not exist"; NULL
};

struct recipe_trial {
    struct correct_tally tally;
    int64_t read, of;
    int64_t warned[RECIPE_WARN_COUNT];
    struct recipe_class classes[CORRECT_OUTCOMES]; // only when it is over
    struct recipe_class departing;                 // likewise: those of tally.departs
    struct recipe_sample *samples;                 // by id
    size_t sample_count;
};

// A recipe kept in the database under a name.
struct saved_recipe {
    const char *name, *text, *author, *reason; // reason may be NULL
    int64_t at;
};
enum { RECIPE_NAME = 64 }; // bytes, at most

#endif
