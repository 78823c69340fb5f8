// rollup: the maintained counts of groups (store/rollup), for commands that would else read every event.
#ifndef REDRIVE_COMMANDS_ROLLUP_H
#define REDRIVE_COMMANDS_ROLLUP_H

#include "commands/cli/command.h"
#include "core/backlog/backlog.h"

// Is the rollup exact? Says on standard error as of when. One that was not maintained for a while is caught
// up first, where this session may. *is_readable: also event by event; *token: its own now (struct
// rollup_state). NULL: no matter.
bool rollup_find(struct call *call, struct store *store, bool *is_readable, uint64_t *token);
// Reads the rollup into backlog where it is exact (*is_read). Otherwise the caller reads the events.
bool sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read,
               struct err *err) MUST_CHECK;

#endif
