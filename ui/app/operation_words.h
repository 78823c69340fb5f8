// operation_words: the states of operations and of their events as the screen says them.
#ifndef REDRIVE_UI_OPERATION_WORDS_H
#define REDRIVE_UI_OPERATION_WORDS_H

#include "core/outcomes.h"
#include "ui/canvas/roles.h"

// "running", "queued", "approval?"; commands say operation_state_name.
const char *operation_state_word(enum operation_state state);

// How an operation stands or ended: "running", "running, 96 returned", "DONE, BUT 2,011 OF 2,011 RETURNED".
const char *operation_standing(const struct operation *operation, struct arena *arena);
// In the colour of its worst part.
enum role operation_standing_role(const struct operation *operation);

#endif
