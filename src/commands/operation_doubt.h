// operation_doubt: `redrive operation N decide CHUNK published|again`, and what it is decided from.
#ifndef REDRIVE_COMMANDS_OPERATION_DOUBT_H
#define REDRIVE_COMMANDS_OPERATION_DOUBT_H

#include "base/strbuf.h"
#include "commands/cli/command.h"

// Appends the operation's chunks in doubt, each with its evidence and the two commands that decide it;
// nothing where there are none.
bool operation_doubt_describe(struct store *store, int64_t operation, struct strbuf *out,
                              struct err *err) MUST_CHECK;

// args: N decide CHUNK published|again. Returns the exit status.
int operation_doubt_decide(struct call *call, int64_t operation, struct err *err);

#endif
