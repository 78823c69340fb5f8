// publishing: the settings of a call in the form of the store, the broker, the plan and the worker.
#ifndef REDRIVE_COMMANDS_PUBLISHING_H
#define REDRIVE_COMMANDS_PUBLISHING_H

#include "commands/cli/command.h"
#include "publish/worker.h"

// Borrow from call, which must outlive them. command_store must have been called before publishing_store: it
// makes the rules.
struct store_settings publishing_store(const struct call *call);
struct broker_settings publishing_broker(struct call *call);
// Before a connection: reads secrets that are kept elsewhere and checks what can be checked without a
// connection. Without brokers it is true as well.
bool publishing_broker_ready(struct call *call, struct broker_settings *broker, struct err *err) MUST_CHECK;
struct plan_settings publishing_plan(struct call *call);
// A worker with all of that, stopped by signals (interrupt_catch). Mode and operation are the caller's.
struct worker_settings publishing_worker(struct call *call);

#endif
