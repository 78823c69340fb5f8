// waiting: follows an operation to its end and reports how it ended.
//
// Each function prints the result line on standard output and, on standard error, why events were refused and
// which operation has those skipped. Each returns the exit status of the action.
#ifndef REDRIVE_COMMANDS_WAITING_H
#define REDRIVE_COMMANDS_WAITING_H

#include "commands/cli/command.h"
#include "publish/worker.h"

// Its state now, without waiting.
int waiting_tell(struct call *call, struct store *store, int64_t no, struct err *err);
// Says why nothing happens to the operation now (no worker, no sign of it, no approval, what its row says)
// and what to do, where that is not what was told last, which begins as "".
enum { WAITING_TOLD = 300 };
void waiting_say_obstacle(const struct call *call, struct store *store, const struct operation *operation,
                          char told[WAITING_TOLD]);
// Another worker carries it out: polls until it has ended, and says within a second what stops it. A signal
// ends the waiting (130), not the operation.
int waiting_for(struct call *call, struct store *store, int64_t no, struct err *err);
// Carries out settings->operation here, in mode WORKER_OPERATION. After a signal the chunk in flight is
// finished first.
int waiting_with_worker(struct call *call, struct store *store, const struct worker_settings *settings,
                        struct err *err);

#endif
