// moment: an instant as the screen tells it, everywhere in the same way: by its age, or by the clock in the
// operator's zone.
#ifndef REDRIVE_UI_MOMENT_H
#define REDRIVE_UI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

struct moments {
    int64_t now;
    bool by_clock; // else by age
};

// "4m"; by the clock "14:02:11", of another day "11-20 14:02", of another year "2025-11-20".
const char *moment_text(struct moments moments, int64_t at, char out[TEXT_SHORT]);
// The same in a sentence: "4m ago"; "at 14:02:11", "on 2025-11-20".
const char *moment_phrase(struct moments moments, int64_t at, char out[TEXT_SHORT]);
// The width of a column that has room for an age in `age_cells`.
int moment_cells(bool by_clock, int age_cells);

#endif
