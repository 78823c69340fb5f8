// waiting: following an operation to its end, and telling how it ended.
//
// Each prints the result line on standard output and, on standard error, why events were refused and who has
// those skipped; each answers with the exit status of the action.
#ifndef REDRIVE_COMMANDS_WAITING_H
#define REDRIVE_COMMANDS_WAITING_H

#include "commands/cli/command.h"
#include "publish/worker.h"

// How it stands now, without waiting.
int waiting_tell(struct call *call, struct store *store, int64_t no, struct err *err);
// Somebody else carries it out: looks until it has ended. A signal ends the looking (130), not the operation.
int waiting_for(struct call *call, struct store *store, int64_t no, struct err *err);
// Carried out here, settings->operation by settings in mode WORKER_OPERATION. A signal settles what is in
// hand first.
int waiting_with_worker(struct call *call, struct store *store, const struct worker_settings *settings,
                        struct err *err);

#endif
