// operation_words: the states of operations and of their events as the screen says them.
#ifndef REDRIVE_UI_OPERATION_WORDS_H
#define REDRIVE_UI_OPERATION_WORDS_H

#include "core/operation.h"

// "running", "queued", "approval?"; commands say operation_state_name.
const char *operation_state_word(enum operation_state state);
// What became of an event: "sent", "skipped", "in flight"; done means another word for each action.
const char *item_state_word(enum item_state state, enum operation_action action);

#endif
