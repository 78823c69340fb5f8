// policy_rehearse: what a policy would have done in the last seven days. Reads only.
#ifndef REDRIVE_COMMANDS_POLICY_REHEARSE_H
#define REDRIVE_COMMANDS_POLICY_REHEARSE_H

#include "commands/cli/command.h"
#include "core/policy.h"
#include "store/store.h"

// Prints a line for each 24 hours. An event counts when it became due first, unless it was closed before, as
// if no other policy had acted; further attempts are not told ahead.
bool policy_rehearse_print(struct call *call, struct store *store, const struct policy *policy,
                           struct err *err) MUST_CHECK;

#endif
