// migrate_history: migrate --adopt and --as-copy, how a stopped database goes on.
#ifndef REDRIVE_COMMANDS_MIGRATE_HISTORY_H
#define REDRIVE_COMMANDS_MIGRATE_HISTORY_H

#include "commands/cli/command.h"

// Was one of the two asked for? Their options are checked: ERR_USAGE.
bool migrate_history_is_asked(const struct call *call);
bool migrate_history_check(const struct call *call, struct err *err) MUST_CHECK;
// Counts, and does it with --yes. ERR_DENIED: neither --dry-run nor --yes was given.
bool migrate_history_decide(struct call *call, struct store *store, struct err *err) MUST_CHECK;

#endif
