// rollup reader: is the rollup (store/rollup/rollup.h) equal to the table now? For callers that would look at
// every event where it is not.
#ifndef REDRIVE_ROLLUP_READER_H
#define REDRIVE_ROLLUP_READER_H

#include "store/rollup/rollup.h"

// The rollup equalled the table a moment ago; only later arrivals may be missing. A question that cannot be
// answered is no failure: false, look at the events.
bool rollup_is_exact(struct store *store, struct rollup_state *state);
// The same, and each event can be read in it: nothing of a first count is left to be moved.
bool rollup_is_readable(const struct rollup_state *state);
// Could rollup_catch_up find it exact? What takes the table otherwise need not be begun.
bool rollup_may_be_exact(const struct store_settings *settings, struct store *store);
// Would rollup_catch_up bring it up to date, which takes a while?
bool rollup_is_left_behind(const struct store_settings *settings, struct store *store);
// As rollup_is_exact. But where nobody maintained the rollup for a while, and this session may, it catches up
// first, for 20 s at most; on another connection, where this one may not write. Then it is readable, too.
bool rollup_catch_up(const struct store_settings *settings, struct store *store, struct rollup_state *state);

#endif
