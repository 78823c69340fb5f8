// changing: the road that every action on chosen events takes: choose, confirm, freeze, carry out, report.
#ifndef REDRIVE_COMMANDS_CHANGING_H
#define REDRIVE_COMMANDS_CHANGING_H

#include "commands/cli/command.h"
#include "core/operation.h"

// Chooses events by the options of the call and carries the action out on them. ACTION_CORRECT takes the
// recipe of --recipe. Returns the exit status.
int changing_run(struct call *call, enum operation_action action, struct err *err);

#endif
