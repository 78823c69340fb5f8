// publishing: the settings of a call as the store, the broker, the plan and the worker want them.
#ifndef REDRIVE_COMMANDS_PUBLISHING_H
#define REDRIVE_COMMANDS_PUBLISHING_H

#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "publish/worker.h"

// Borrow from call, which must outlive them. command_store must have been called before publishing_store: it
// makes the rules.
struct store_settings publishing_store(const struct call *call);
struct broker_settings publishing_broker(struct call *call);
// For those who are about to connect: with secrets that are kept elsewhere read, and checked as far as that
// goes without a connection. Without brokers it is true as well.
bool publishing_broker_ready(struct call *call, struct broker_settings *broker, struct err *err) MUST_CHECK;
struct plan_settings publishing_plan(const struct call *call);
// A worker with all of that, stopped by signals (interrupt_catch). Mode and operation are the caller's.
struct worker_settings publishing_worker(struct call *call);

#endif
