// change_ahead: reads rows for the preview of a group while its counts are brought up to date.
//
// A thread with a connection of its own takes the events that the rollup had before for a guess
// (store/events/preview_ahead.h). Once the caller knows which ones they are, it reads along.
#ifndef REDRIVE_COMMANDS_CHANGE_AHEAD_H
#define REDRIVE_COMMANDS_CHANGE_AHEAD_H

#include "search/choose.h"
#include "store/events/preview_ahead.h"

struct change_ahead;

// What `choice` and the settings borrow must stay until change_ahead_join.
struct change_ahead *change_ahead_start(const struct store_settings *settings, const struct choice *choice);
// The events that were guessed, ascending, and valid as long as `ahead`. Only where the rollup, whose token
// this is now (struct rollup_state), is as it was: then they are the ones that the rollup would give. NULL is
// fine, and gives false.
bool change_ahead_guess(const struct change_ahead *ahead, uint64_t token, const int64_t **ids, size_t *count);
// These events were chosen: reads along over `store`, and returns when nothing is read any more. No events:
// returns as soon as it can. NULL is fine, and gives NULL.
struct preview_ahead *change_ahead_join(struct change_ahead *ahead, struct store *store, const int64_t *ids,
                                        size_t count);
void change_ahead_destroy(struct change_ahead *ahead); // NULL is fine

#endif
