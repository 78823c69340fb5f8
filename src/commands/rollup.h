// sums: the sums of the backlog that somebody keeps (store/rollup/rollup), for commands that would else look
// at every event.
#ifndef REDRIVE_COMMANDS_ROLLUP_H
#define REDRIVE_COMMANDS_ROLLUP_H

#include "commands/cli/command.h"
#include "core/backlog/backlog.h"

// Whether they were seen to be those of the table a moment ago; says on standard error as of when that was.
bool rollup_find(struct call *call, struct store *store);
// Reads them where that is so, and says so in *is_read: false, they cannot be had, look at the events. Where
// nobody kept them for a while, and this session may, it catches up first, for 20 s at most: a third of what
// it costs to fingerprint every event.
bool sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read,
               struct err *err) MUST_CHECK;

#endif
