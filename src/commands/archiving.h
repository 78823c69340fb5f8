// archiving: the road that retention takes: choose, count, confirm, carry out in batches, report.
#ifndef REDRIVE_COMMANDS_ARCHIVING_H
#define REDRIVE_COMMANDS_ARCHIVING_H

#include "commands/cli/command.h"

// restore --from-archive. Returns the exit status.
int archiving_restore(struct call *call, struct err *err);

#endif
