// sums: are the sums of the backlog that somebody keeps (store/rollup/rollup) those of the table? For whoever
// would else look at every event.
#ifndef REDRIVE_ROLLUP_READER_H
#define REDRIVE_ROLLUP_READER_H

#include "store/rollup/rollup.h"

// They were seen to be those of the table a moment ago: all but what arrived since. What stops that from
// being known is no failure: false, look at the events.
bool rollup_is_exact(struct store *store, struct rollup_state *state);
// The same, but where nobody kept them for a while, and this session may, it catches up first on a connection
// of its own, for 20 s at most.
bool rollup_catch_up(const struct store_settings *settings, struct store *store, struct rollup_state *state);

#endif
